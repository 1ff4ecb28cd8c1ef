import { type Static, Type } from 'typebox';
import { State } from './case.ts';
import { Id, Oid, orNull, Time } from './fields.ts';

const CONFLICT_KINDS = [
  'both_modified',
  'both_added',
  'deleted_in_base',
  'deleted_in_branch',
  'renamed',
  'binary',
  'mode',
  'submodule',
] as const;
export type Kind = (typeof CONFLICT_KINDS)[number];

export const ConflictFile = Type.Object(
  {
    path: Type.String({
      description: 'If it is not UTF-8, it is quoted as git does it: `"caf\\351"`',
    }),
    kind: Type.Enum([...CONFLICT_KINDS], {
      description:
        'The base is the target of the rebase. `renamed`: git keeps the file under another name, or both sides renamed it',
    }),
  },
  { $id: 'ConflictFile' },
);
export type ConflictFile = Static<typeof ConflictFile>;

/** The current step; null once the rebase has ended. Only `conflicted` and `interrupted` outlast a request. */
export const STEPS = [
  'starting',
  'rebasing',
  'conflicted',
  'applying',
  'aborting',
  'interrupted',
] as const;
export const OUTCOMES = ['clean', 'resolved', 'aborted', 'failed', 'interrupted'] as const;

const Kept = Type.Object({ ref: Type.String({ pattern: '^refs/dossier/' }), commit: Oid });

/** Where git stopped: HEAD, the conflicting commit, and its position in the list. */
const Stop = Type.Object({
  head: Oid,
  commit: orNull(Oid),
  number: Type.Integer(),
  count: Type.Integer(),
});

/** The front matter of conflicts/<time>-<id>.md, one rebase; the body is its log. */
export const ConflictMatter = Type.Object({
  id: Id,
  /** The id of the machine that started it, which alone has the worktree. */
  machine: Id,
  outcome: orNull(Type.Enum([...OUTCOMES])),
  step: orNull(Type.Enum([...STEPS])),
  /** The id of the worktree record; a worktree created later is not affected. */
  worktree_created_at: Time,
  branch: Type.String(),
  onto: Type.String(),
  onto_commit: Oid,
  /** The tip of the branch before and after. */
  orig_head: Oid,
  head: orNull(Oid),
  /** A snapshot of the state before: HEAD, index and files. */
  snapshot: orNull(Kept),
  /** A snapshot of the state at which git stopped. Only the operator stages conflicted files. */
  conflicted: orNull(Kept),
  stopped: orNull(Stop),
  /** Uncommitted changes to restore after the rebase, as a commit on the old branch. */
  set_aside: orNull(Kept),
  /** The branch on the remote before; a null commit if it did not exist. */
  remote: orNull(Type.Object({ name: Type.String(), ref: Type.String(), commit: orNull(Oid) })),
  case_state_before: State,
  /** The number of conflicted files in all commits, and the first of them. */
  file_count: Type.Integer(),
  files: Type.Array(ConflictFile),
  began_at: Time,
  conflicted_at: orNull(Time),
  ended_at: orNull(Time),
  pushed_at: orNull(Time),
  pushed_commit: orNull(Oid),
  /** Shows that this machine wrote the record. git may bring another, and refs are moved and deleted by it. */
  seal: Type.Optional(Type.Unknown()),
});
export type ConflictMatter = Static<typeof ConflictMatter>;

/** One rebase in the history. */
export const Conflict = Type.Object(
  {
    id: Id,
    case_id: Id,
    timestamp: Type.String({ format: 'date-time', description: 'When it started' }),
    file_count: Type.Integer({ description: 'Files that were in conflict' }),
    outcome: Type.Union([Type.Null(), Type.Enum([...OUTCOMES])], {
      description:
        'Null while it runs. `clean`: there were no conflicts. `interrupted`: the daemon stopped before anything was changed',
    }),
    step: Type.Union([Type.Null(), Type.Enum([...STEPS])], {
      description:
        'The current step. `interrupted`: the daemon stopped in the middle, and the operator decides',
    }),
    branch: Type.String(),
    onto: Type.String(),
    onto_commit: Oid,
    orig_head: Oid,
    head: orNull(Oid),
    files: Type.Array(ConflictFile, { description: 'The first 200' }),
    snapshot_ref: orNull(
      Type.String(),
      'The ref of the state before the rebase; also listed in the recoveries of the worktree',
    ),
    set_aside_ref: orNull(
      Type.String(),
      'The ref of changes that could not be restored. Apply them with `git cherry-pick -n -m 1`',
    ),
    ended_at: orNull(Time),
    seconds: orNull(Type.Number(), 'From the first conflict to the end'),
    pushed_at: orNull(Time),
    elsewhere: Type.Optional(
      Type.Boolean({
        description:
          'Whether this machine did not write its file as it is: git brought it, or it was edited',
      }),
    ),
    log: Type.String({ description: 'The log, one line per step' }),
  },
  { $id: 'Conflict' },
);
export type Conflict = Static<typeof Conflict>;

const Files = Type.Array(ConflictFile);
const Onto = Type.String({ description: 'The target of the rebase, as requested' });

/** A completed rebase. */
export const CleanRebase = Type.Object({
  status: Type.Literal('clean'),
  head: Type.String({ description: 'The new tip of the branch' }),
  onto: Onto,
  changes: Type.Optional(
    Type.Literal('brought_back', { description: 'Uncommitted changes are restored' }),
  ),
  notes: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Warnings, such as of files that only merge commits changed, which a rebase leaves out',
    }),
  ),
});

export type CleanRebase = Static<typeof CleanRebase>;

/** A rebase that stopped at a conflict. */
export const StoppedRebase = Type.Object({
  status: Type.Literal('conflicted'),
  files: Files,
  onto: Onto,
  commit: Type.Object(
    {
      commit: Type.Union([Type.Null(), Type.String()]),
      number: Type.Integer(),
      count: Type.Integer(),
    },
    {
      description:
        'The commit that could not be applied, and its position in the list. Of uncommitted changes it is the commit that keeps them',
    },
  ),
  changes: Type.Optional(
    Type.Literal('conflicted', {
      description: 'The commits are rebased; the uncommitted changes conflict',
    }),
  ),
  notes: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Warnings, such as an unreachable remote',
    }),
  ),
});

export type StoppedRebase = Static<typeof StoppedRebase>;

/** The result of a rebase. */
export const RebaseStep = Type.Union([CleanRebase, StoppedRebase]);
export type RebaseStep = Static<typeof RebaseStep>;

/** How often rebases conflict, and for how long. */
const Figures = Type.Object({
  rebases: Type.Integer(),
  conflicts: Type.Integer({ description: 'Rebases with a conflict' }),
  frequency: Type.Union([Type.Null(), Type.Number()], {
    description: 'The share of rebases with a conflict',
  }),
  files: Type.Integer({ description: 'Files that were in conflict' }),
  outcomes: Type.Object(
    Object.fromEntries([...OUTCOMES, 'open'].map((name) => [name, Type.Integer()])) as Record<
      (typeof OUTCOMES)[number] | 'open',
      ReturnType<typeof Type.Integer>
    >,
  ),
  seconds_to_resolution: Type.Object(
    {
      median: Type.Union([Type.Null(), Type.Number()]),
      p95: Type.Union([Type.Null(), Type.Number()]),
    },
    { description: 'From the first conflict to the end, for resolved conflicts' },
  ),
});
export type ConflictFigures = Static<typeof Figures>;

/** The request body of a rebase. */
export const RebaseWish = Type.Object({
  onto: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: "A branch, tag or commit; default: the worktree's base",
    }),
  ),
  keep_changes: Type.Optional(
    Type.Boolean({
      description:
        'Stashes changed tracked files and restores them, staged ones as staged; if they conflict, the rebase stops as at a commit. Otherwise they cause a 409',
    }),
  ),
});
export type RebaseWish = Static<typeof RebaseWish>;

/** Files that are resolved as git left them. */
export const ResolvedFiles = Type.Object({
  resolved: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      maxItems: 10_000,
      description: 'Paths, as in the preview, of files that are resolved as git left them',
    }),
  ),
});
export type ResolvedFiles = Static<typeof ResolvedFiles>;

export const ConflictPreview = Type.Object({ files: Files, diff: Type.String() });
export type ConflictPreview = Static<typeof ConflictPreview>;

export const PushedRebase = Type.Object({
  status: Type.Literal('pushed'),
  remote: Type.String(),
  ref: Type.String(),
  head: Type.String(),
  replaced: Type.Union([Type.Null(), Type.String()], {
    description: 'The commit on the remote before; null if the branch did not exist',
  }),
});
export type PushedRebase = Static<typeof PushedRebase>;

export const AbortedRebase = Type.Object({
  status: Type.Literal('aborted'),
  branch: Type.String(),
  head: Type.String(),
  undone_ref: Type.Union([Type.Null(), Type.String()]),
  left: Type.Array(Type.String(), { description: 'What could not be restored' }),
});
export type AbortedRebase = Static<typeof AbortedRebase>;

export const ConflictMetrics = Type.Object({ ...Figures.properties, workspace: Figures });
export type ConflictMetrics = Static<typeof ConflictMetrics>;
