/** Names one lock. */
export interface LockKey {
  readonly kind: string;
  /** The id of the Work item, webhook, repository or host; empty if the process has one lock of this kind. */
  readonly of: string;
}

interface Kind {
  kind: string;
  /** The thing that has a lock each; absent if the process has one lock of this kind. */
  per?: string;
  /** What the lock guarantees, as one sentence. */
  purpose: string;
}

/**
 * Every lock, in acquisition order: a holder may wait only for locks further down. Locks are in memory
 * (`store/base/mutex.ts`); those that are files say so.
 */
export const LOCKS = [
  {
    kind: 'daemon',
    purpose:
      'One daemon serves a workspace. A file, held until the daemon exits; a second daemon is refused.',
  },
  { kind: 'trust', purpose: 'Pending approvals are checked and applied in one step.' },
  {
    kind: 'adoption',
    per: 'conversation with an agent',
    purpose: 'A conversation becomes one Work item.',
  },
  { kind: 'attach', purpose: 'Only one Work item attaches a given directory as its worktree.' },
  { kind: 'arrivals', purpose: 'Deliveries from the code host are processed one at a time.' },
  { kind: 'codehostSettings', purpose: 'Code host settings and their secret change together.' },
  { kind: 'settings', purpose: 'One call changes workspace.md at a time.' },
  { kind: 'apiKeys', purpose: 'API keys are created, used and deleted one at a time.' },
  { kind: 'issue', per: 'issue', purpose: 'An issue is imported once.' },
  {
    kind: 'importJob',
    per: 'import job',
    purpose: "One call updates an import job's record at a time.",
  },
  {
    kind: 'draft',
    per: 'Work item',
    purpose: 'One call composes the text of a pull request at a time.',
  },
  { kind: 'feedback', per: 'Work item', purpose: 'A review is passed to one session.' },
  {
    kind: 'pull',
    per: 'Work item',
    purpose: 'Pull request data is stored in the order in which the host returned it.',
  },
  {
    kind: 'worktree',
    per: 'Work item',
    purpose: 'One call creates, changes or removes a worktree at a time.',
  },
  {
    kind: 'files',
    per: 'Work item',
    purpose: 'No file of a worktree changes while the baseline of a Plan turn is recorded.',
  },
  { kind: 'queue', purpose: 'Sessions are created in the order of the calls.' },
  { kind: 'start', purpose: 'Sessions start one at a time, which enforces max_sessions.' },
  {
    kind: 'decision',
    per: 'Work item',
    purpose: 'A decision about a session and its consequences become visible together.',
  },
  {
    kind: 'unsandboxed',
    purpose: 'Changes made by a run without a sandbox are checked before files take effect again.',
  },
  {
    kind: 'git',
    per: 'repository',
    purpose:
      'Git commands that write to a repository run one at a time, so that index.lock never conflicts.',
  },
  { kind: 'secret', per: 'webhook', purpose: 'A webhook has one secret.' },
  {
    kind: 'sessions',
    per: 'Work item',
    purpose:
      'One process enters a sessions/ folder at a time. A file, sessions/folder.lock, held for moments.',
  },
  { kind: 'sessionLocks', purpose: 'No session starts while the global memory is written.' },
  {
    kind: 'sessionLock',
    per: 'Work item',
    purpose:
      'One session works in a worktree. A file, sessions/lock.md, kept over restarts; another session is refused or queued.',
  },
  { kind: 'webhooks', purpose: 'One call changes workspace-wide webhooks at a time.' },
  {
    kind: 'item',
    per: 'Work item',
    purpose: 'A Work item does not change between a read and the write based on it.',
  },
  {
    kind: 'problems',
    purpose: 'Problems of files are reported in the order in which they were found.',
  },
  {
    kind: 'comment',
    per: 'issue or pull request',
    purpose: 'Each marker has one comment of Dossier.',
  },
  { kind: 'host', per: 'code host', purpose: 'A code host receives one write at a time.' },
] as const satisfies readonly Kind[];

type Listed = (typeof LOCKS)[number];

/** Names a lock: `lockOn.pull(caseId)`. */
export const lockOn = Object.fromEntries(
  LOCKS.map(({ kind }) => [kind, (of = ''): LockKey => ({ kind, of })]),
) as {
  readonly [K in Listed as K['kind']]: K extends { per: string }
    ? (of: string) => LockKey
    : () => LockKey;
};
