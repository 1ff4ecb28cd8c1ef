import { type Static, Type } from 'typebox';
import { State } from './case.ts';
import { Id, Oid, Time } from './id.ts';
import { orNull } from './or-null.ts';

export const CONFLICT_KINDS = [
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
    path: Type.String(),
    kind: Type.Enum([...CONFLICT_KINDS], {
      description:
        'The base is what the branch is rebased onto. `renamed`: git keeps it under another name, or found it renamed on both sides',
    }),
  },
  { $id: 'ConflictFile' },
);
export type ConflictFile = Static<typeof ConflictFile>;

/** What is being done; null once it has ended. Each but `conflicted` and `interrupted` is left within one call. */
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

/** Where git stopped: HEAD then, the commit that conflicts, and which one it is of how many. */
const Stop = Type.Object({
  head: Oid,
  commit: orNull(Oid),
  number: Type.Integer(),
  count: Type.Integer(),
});

/** The front matter of conflicts/<time>-<id>.md, one rebase; the body tells what happened, a line each. */
export const ConflictMatter = Type.Object({
  id: Id,
  /** The name of the `.dossier/` that it was begun with: only that machine has its worktree. */
  machine: Id,
  outcome: orNull(Type.Enum([...OUTCOMES])),
  step: orNull(Type.Enum([...STEPS])),
  /** Of the worktree's record: another worktree has no part in it. */
  worktree_created_at: Time,
  branch: Type.String(),
  onto: Type.String(),
  onto_commit: Oid,
  /** The branch before, and after. */
  orig_head: Oid,
  head: orNull(Oid),
  /** The exact state before: HEAD, index and files. */
  snapshot: orNull(Kept),
  /** The state in which git stopped: nobody but the operator stages what is in conflict. */
  conflicted: orNull(Kept),
  stopped: orNull(Stop),
  /** Changes that are to come back after the rebase, as a commit on the branch as it was. */
  set_aside: orNull(Kept),
  /** What the branch was on the remote; a null commit: it was not there. */
  remote: orNull(Type.Object({ name: Type.String(), ref: Type.String(), commit: orNull(Oid) })),
  case_state_before: State,
  /** How many files were in conflict, in any commit, and the first of them. */
  file_count: Type.Integer(),
  files: Type.Array(ConflictFile),
  began_at: Time,
  conflicted_at: orNull(Time),
  ended_at: orNull(Time),
  pushed_at: orNull(Time),
  pushed_commit: orNull(Oid),
});
export type ConflictMatter = Static<typeof ConflictMatter>;

/** One rebase as the history serves it. */
export const Conflict = Type.Object(
  {
    id: Id,
    case_id: Id,
    timestamp: Type.String({ format: 'date-time', description: 'When it began' }),
    file_count: Type.Integer({ description: 'Files that were in conflict' }),
    outcome: Type.Union([Type.Null(), Type.Enum([...OUTCOMES])], {
      description:
        'null while it goes on. `clean`: there were no conflicts. `interrupted`: the daemon stopped before anything was changed',
    }),
    step: Type.Union([Type.Null(), Type.Enum([...STEPS])], {
      description:
        'What is under way; `interrupted`: the daemon stopped in the middle, and the operator decides',
    }),
    branch: Type.String(),
    onto: Type.String(),
    onto_commit: Oid,
    orig_head: Oid,
    head: orNull(Oid),
    files: Type.Array(ConflictFile, { description: 'The first 200' }),
    snapshot_ref: orNull(
      Type.String(),
      'Kept how the worktree was before; it is among the recoveries of the worktree',
    ),
    set_aside_ref: orNull(
      Type.String(),
      'Keeps changes that could not be brought back: `git cherry-pick -n -m 1` does',
    ),
    ended_at: orNull(Time),
    seconds: orNull(Type.Number(), 'From the first conflict to the end'),
    pushed_at: orNull(Time),
    elsewhere: Type.Optional(
      Type.Boolean({ description: 'It goes on on another machine; its file came through git' }),
    ),
    log: Type.String({ description: 'What happened, a line each' }),
  },
  { $id: 'Conflict' },
);
export type Conflict = Static<typeof Conflict>;

const Files = Type.Array(ConflictFile);
const Onto = Type.String({ description: 'What the branch is put onto, as it was named' });

/** A rebase that went to its end. */
export const CleanRebase = Type.Object({
  status: Type.Literal('clean'),
  head: Type.String({ description: 'The branch now' }),
  onto: Onto,
  changes: Type.Optional(
    Type.Enum(['brought_back', 'set_aside'], {
      description: 'What became of changes that were kept; `set_aside`: they do not fit any more',
    }),
  ),
  set_aside_ref: Type.Optional(
    Type.String({ description: 'Where they are: `git cherry-pick -n -m 1` brings them back' }),
  ),
  notes: Type.Optional(Type.Array(Type.String())),
});

export type CleanRebase = Static<typeof CleanRebase>;

/** One that stopped at a conflict. */
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
    { description: 'The commit that could not be applied, and which one it is of how many' },
  ),
  notes: Type.Optional(
    Type.Array(Type.String(), {
      description: 'What was not as it should be, such as a remote out of reach',
    }),
  ),
});

export type StoppedRebase = Static<typeof StoppedRebase>;

/** What git came to. */
export const RebaseStep = Type.Union([CleanRebase, StoppedRebase]);
export type RebaseStep = Static<typeof RebaseStep>;

/** How often rebases conflict, and how long that lasts. */
const Figures = Type.Object({
  rebases: Type.Integer(),
  conflicts: Type.Integer({ description: 'Rebases that met a conflict' }),
  frequency: Type.Union([Type.Null(), Type.Number()], { description: 'Their share of all' }),
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
    { description: 'From the first conflict to the end, of those that were resolved' },
  ),
});
export type ConflictFigures = Static<typeof Figures>;

/** What a rebase is to be. */
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
        'Sets changed tracked files aside and brings them back, staged ones as staged; else they are a 409',
    }),
  ),
});
export type RebaseWish = Static<typeof RebaseWish>;

/** Files that are right as git left them. */
export const ResolvedFiles = Type.Object({
  resolved: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      maxItems: 10_000,
      description: 'Paths, as the preview has them, of files that are right as git left them',
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
    description: 'The commit that was there; null: the branch was not there',
  }),
});
export type PushedRebase = Static<typeof PushedRebase>;

export const AbortedRebase = Type.Object({
  status: Type.Literal('aborted'),
  branch: Type.String(),
  head: Type.String(),
  undone_ref: Type.Union([Type.Null(), Type.String()]),
  left: Type.Array(Type.String(), { description: 'What could not be put back' }),
});
export type AbortedRebase = Static<typeof AbortedRebase>;

export const ConflictMetrics = Type.Object({ ...Figures.properties, workspace: Figures });
export type ConflictMetrics = Static<typeof ConflictMetrics>;
