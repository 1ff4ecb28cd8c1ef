/** Something that there is one of at a time, told by its kind and what it is of. */
export interface LockKey {
  readonly kind: string;
  /** Of which Work item, file or host; empty where there is one alone. */
  readonly of: string;
}

interface Kind {
  kind: string;
  /** What has one each; without it there is one alone. */
  per?: string;
  /** What it sees to, in a sentence. */
  is: string;
}

/**
 * All that is locked, in the order in which it is: who holds one may wait for those below it, and for none above. A turn
 * (`store/base/mutex.ts`) is in memory and waited for; what is a file says so.
 */
export const LOCKS = [
  {
    kind: 'daemon',
    is: 'The workspace has one daemon: a file, held for its life; who finds it held is refused.',
  },
  { kind: 'trust', is: 'What waits for the operator is looked at and taken in one step.' },
  { kind: 'attach', is: 'Of two Work items that want the same directory as worktree one gets it.' },
  { kind: 'arrivals', is: "The code host's deliveries are taken in one after the other." },
  {
    kind: 'codehostSettings',
    is: 'Settings of the code host change together with its secret.',
  },
  { kind: 'settings', is: 'workspace.md is changed by one call at a time.' },
  { kind: 'apiKeys', is: 'API keys are made, used and removed one at a time.' },
  { kind: 'issue', per: 'issue', is: 'An issue is imported once.' },
  {
    kind: 'importJob',
    per: 'import job',
    is: "An import job's record is changed by one at a time.",
  },
  {
    kind: 'draft',
    per: 'Work item',
    is: 'The text of a pull request is composed by one at a time.',
  },
  { kind: 'feedback', per: 'Work item', is: 'Reviews are given to one session.' },
  {
    kind: 'pull',
    per: 'Work item',
    is: 'What the host says of a pull request is written in the order in which it was told.',
  },
  {
    kind: 'worktree',
    per: 'Work item',
    is: 'A worktree is made, changed and removed by one at a time.',
  },
  {
    kind: 'files',
    per: 'Work item',
    is: 'No file of a worktree changes while it is noted how they are before a Plan turn.',
  },
  { kind: 'queue', is: 'Sessions are made in the order of the calls: first come, first served.' },
  { kind: 'start', is: 'Sessions start one at a time, so that max_sessions holds.' },
  {
    kind: 'decision',
    per: 'Work item',
    is: 'A decision about a session is seen with all that follows from it, or not at all.',
  },
  {
    kind: 'unsandboxed',
    is: 'What a run without a sandbox left is looked at before files hold again.',
  },
  {
    kind: 'git',
    per: 'repository',
    is: "Commands that write a repository come one by one, so that none meets another's index.lock.",
  },
  { kind: 'secret', per: 'webhook', is: 'A webhook has one secret.' },
  {
    kind: 'sessions',
    per: 'Work item',
    is: 'A sessions/ folder is entered by one process at a time: sessions/folder.lock, for moments.',
  },
  {
    kind: 'sessionLocks',
    is: 'No session begins while the global memory is written.',
  },
  {
    kind: 'sessionLock',
    per: 'Work item',
    is: 'One session works in a worktree: sessions/lock.md, kept over restarts; who finds it held is refused or queued.',
  },
  { kind: 'webhooks', is: 'Registrations for the whole workspace are changed by one at a time.' },
  {
    kind: 'item',
    per: 'Work item',
    is: 'What is read of a Work item is still so when it is written.',
  },
  { kind: 'problems', is: 'What is wrong with files is told in the order in which it was found.' },
  {
    kind: 'comment',
    per: 'issue or pull request',
    is: 'There is one comment of ours for each marker.',
  },
  { kind: 'host', per: 'code host', is: 'A code host gets one write at a time.' },
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
