import { type Static, Type } from 'typebox';
import { State } from './case.ts';
import { Id, Time } from './id.ts';
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

const Oid = Type.String({ pattern: '^([0-9a-f]{40}|[0-9a-f]{64})$' });
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
