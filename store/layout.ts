import { join } from 'node:path';

/** Every path of a workspace. Directories of `.dossier/` belong to this machine only. */
export interface Layout {
  readonly root: string;
  /** The user's state directory with the operator's decisions; undefined if they are not read. */
  readonly state: string | undefined;
  readonly settings: string;
  readonly gitignore: string;
  readonly cases: string;
  readonly memory: string;
  readonly snapshots: string;
  readonly webhooks: string;
  /** Import jobs. */
  readonly imports: string;
  readonly dossier: string;
  /** Settings of this machine only: the paths of projects. */
  readonly local: string;
  readonly lock: string;
  readonly owner: string;
  /** The log of a daemon that was started without a terminal. */
  readonly log: string;
  /** The port of the daemon. */
  readonly port: string;
  readonly machine: string;
  readonly journal: string;
  readonly secrets: string;
  readonly apiKeys: string;
  readonly deliveries: string;
  /** Webhook deliveries from the code host. */
  readonly arrivals: string;
  readonly worktrees: string;
  readonly baselines: string;
  /** What others wrote in the prompts of plans, by session. */
  readonly told: string;
  /** Repositories of running agent turns, with a record for each. */
  readonly repositories: string;
  /** Running language servers. */
  readonly languageServers: string;
  /** Runs without a sandbox: one file each, until all its processes have ended. */
  readonly unsandboxed: string;
  /** The values of sessions and planning in force while such a run lasts. */
  readonly held: string;
  /** Copies of the agents' state directories, one for each session. */
  readonly states: string;
  /** Agents' caches, by repository. */
  readonly caches: string;
  /** Stored responses to requests with an Idempotency-Key. */
  readonly answers: string;
  /** Full transcripts of sessions whose events.ndjson reached its limit. */
  readonly transcripts: string;
  /** Transcripts of conversations that became Work items, as the agent wrote them. */
  readonly adopted: string;
  readonly tmp: string;
  readonly trash: string;
  readonly undo: string;
}

export const layoutOf = (root: string, state?: string): Layout => {
  const dossier = join(root, '.dossier');
  return {
    root,
    state,
    settings: join(root, 'workspace.md'),
    gitignore: join(root, '.gitignore'),
    cases: join(root, 'cases'),
    memory: join(root, 'memory'),
    snapshots: join(root, 'memory', 'snapshots'),
    webhooks: join(root, 'webhooks'),
    imports: join(root, 'imports'),
    dossier,
    local: join(dossier, 'local.md'),
    lock: join(dossier, 'daemon'),
    owner: join(dossier, 'owner.json'),
    log: join(dossier, 'daemon.log'),
    port: join(dossier, 'port'),
    machine: join(dossier, 'machine'),
    journal: join(dossier, 'journal'),
    secrets: join(dossier, 'secrets'),
    apiKeys: join(dossier, 'api-keys'),
    deliveries: join(dossier, 'deliveries'),
    arrivals: join(dossier, 'arrivals'),
    worktrees: join(dossier, 'worktrees'),
    baselines: join(dossier, 'baselines'),
    told: join(dossier, 'told'),
    repositories: join(dossier, 'repositories'),
    languageServers: join(dossier, 'language-servers'),
    unsandboxed: join(dossier, 'unsandboxed'),
    held: join(dossier, 'held.json'),
    states: join(dossier, 'agent-state'),
    caches: join(dossier, 'caches'),
    answers: join(dossier, 'answers'),
    transcripts: join(dossier, 'transcripts'),
    adopted: join(dossier, 'adopted'),
    tmp: join(dossier, 'tmp'),
    trash: join(dossier, 'trash'),
    undo: join(dossier, 'undo'),
  };
};

/** The global memory file that the API writes. */
export const GLOBAL_MEMORY = 'global.md';

// Inside the directory of one Work item.
export const CASE_FILE = 'case.md';
export const caseFile = (dir: string): string => join(dir, CASE_FILE);
export const memoryDir = (dir: string): string => join(dir, 'memory');
export const proofDir = (dir: string): string => join(dir, 'proof');
export const checklistFile = (dir: string): string => join(dir, 'proof', 'checklist.md');
export const sessionsDir = (dir: string): string => join(dir, 'sessions');
export const sessionLockFile = (dir: string): string => join(dir, 'sessions', 'lock.md');
export const webhooksDir = (dir: string): string => join(dir, 'webhooks');
/** The link to an issue, with a log line for every sync. */
export const linkFile = (dir: string): string => join(dir, 'link.md');
/** The issue as last synced: the base of a three-way merge. */
export const issueFile = (dir: string): string => join(dir, 'issue.md');
/** The images of the issue. */
export const imagesDir = (dir: string): string => join(dir, 'images');
/** The full result of each sync. */
export const syncsDir = (dir: string): string => join(dir, 'syncs');
/** Generated planning files, and their approval. */
export const planningFile = (dir: string): string => join(dir, 'planning.md');
export const pullFile = (dir: string): string => join(dir, 'pr', 'pr.md');
export const pullDraftFile = (dir: string): string => join(dir, 'pr', 'draft.md');
export const pullTimelineFile = (dir: string): string => join(dir, 'pr', 'timeline.ndjson');
export const pullUpdatesDir = (dir: string): string => join(dir, 'pr', 'updates');
export const reviewsDir = (dir: string): string => join(dir, 'pr', 'reviews');
export const conflictsDir = (dir: string): string => join(dir, 'conflicts');

/** The full transcript of a session whose events.ndjson reached its limit. */
export const transcriptFile = ({ transcripts }: Layout, sessionId: string): string =>
  join(transcripts, `${sessionId}.ndjson`);

export const adoptedFile = ({ adopted }: Layout, name: string): string =>
  join(adopted, `${name}.jsonl`);

// Inside the directory of one session.
export const sessionFile = (dir: string): string => join(dir, 'session.md');
export const planFile = (dir: string): string => join(dir, 'plan.md');
/** The operator's comments on the plan. */
export const commentsFile = (dir: string): string => join(dir, 'comments.md');
/** The approved plan, byte for byte; this is what runs. */
export const approvedFile = (dir: string): string => join(dir, 'approved.md');
export const eventsFile = (dir: string): string => join(dir, 'events.ndjson');
export const diffFile = (dir: string): string => join(dir, 'diff.patch');
export const sinceApprovalFile = (dir: string): string => join(dir, 'since-approval.patch');
