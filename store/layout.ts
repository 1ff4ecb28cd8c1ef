import { join } from 'node:path';

/** Every path of a workspace. Directories of `.dossier/` belong to this machine only. */
export const layoutOf = (root: string, state?: string) => {
  const dossier = join(root, '.dossier');
  return {
    root,
    /** The user's state directory with the operator's decisions; undefined if they are not read. */
    state,
    settings: join(root, 'workspace.md'),
    gitignore: join(root, '.gitignore'),
    cases: join(root, 'cases'),
    memory: join(root, 'memory'),
    snapshots: join(root, 'memory', 'snapshots'),
    webhooks: join(root, 'webhooks'),
    /** Import jobs. */
    imports: join(root, 'imports'),
    dossier,
    /** Settings of this machine only: the paths of projects. */
    local: join(dossier, 'local.md'),
    lock: join(dossier, 'daemon'),
    owner: join(dossier, 'owner.json'),
    /** The log of a daemon that was started without a terminal. */
    log: join(dossier, 'daemon.log'),
    /** The port of the daemon. */
    port: join(dossier, 'port'),
    machine: join(dossier, 'machine'),
    journal: join(dossier, 'journal'),
    secrets: join(dossier, 'secrets'),
    apiKeys: join(dossier, 'api-keys'),
    deliveries: join(dossier, 'deliveries'),
    /** Webhook deliveries from the code host. */
    arrivals: join(dossier, 'arrivals'),
    worktrees: join(dossier, 'worktrees'),
    baselines: join(dossier, 'baselines'),
    /** What others wrote in the prompts of plans, and which blocks of a plan were run, by session. */
    told: join(dossier, 'told'),
    /** The hashes of the patches that this machine wrote, by session. */
    patches: join(dossier, 'patches'),
    /** Repositories of running agent turns, with a record for each. */
    repositories: join(dossier, 'repositories'),
    /** Running language servers. */
    languageServers: join(dossier, 'language-servers'),
    /** Runs without a sandbox: one file each, until all its processes have ended. */
    unsandboxed: join(dossier, 'unsandboxed'),
    /** The values of sessions and planning in force while such a run lasts. */
    held: join(dossier, 'held.json'),
    /** Copies of the agents' state directories, one for each session. */
    states: join(dossier, 'agent-state'),
    /** Agents' caches, by repository. */
    caches: join(dossier, 'caches'),
    /** Stored responses to requests with an Idempotency-Key. */
    answers: join(dossier, 'answers'),
    /** Full transcripts of sessions whose events.ndjson reached its limit. */
    transcripts: join(dossier, 'transcripts'),
    /** Transcripts of conversations that became Work items, as the agent wrote them. */
    adopted: join(dossier, 'adopted'),
    tmp: join(dossier, 'tmp'),
    trash: join(dossier, 'trash'),
    undo: join(dossier, 'undo'),
  };
};
export type Layout = Readonly<ReturnType<typeof layoutOf>>;

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

export const patchesFile = ({ patches }: Layout, sessionId: string): string =>
  join(patches, `${sessionId}.json`);

export const adoptedFile = ({ adopted }: Layout, name: string): string =>
  join(adopted, `${name}.jsonl`);

// Inside the directory of one session.
export const SESSION_FILE = 'session.md';
export const sessionFile = (dir: string): string => join(dir, SESSION_FILE);
export const planFile = (dir: string): string => join(dir, 'plan.md');
/** The operator's comments on the plan. */
export const commentsFile = (dir: string): string => join(dir, 'comments.md');
/** The approved plan, byte for byte; this is what runs. */
export const approvedFile = (dir: string): string => join(dir, 'approved.md');
export const eventsFile = (dir: string): string => join(dir, 'events.ndjson');
export const diffFile = (dir: string): string => join(dir, 'diff.patch');
export const sinceApprovalFile = (dir: string): string => join(dir, 'since-approval.patch');
