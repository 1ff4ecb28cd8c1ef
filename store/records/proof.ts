import { type Static, Type } from 'typebox';
import { Commands } from './commands.ts';
import { Id, orNull, Sha256, Time, textOf, Word } from './fields.ts';

/** A file in `proof/`; Markdown there is a record. */
const FileName = textOf('proofFile');

/** A run of a check, whose output is the content of its proof. */
export const CheckRun = Type.Object({
  command: Type.String({ minLength: 1, maxLength: 2000 }),
  status: Type.Enum(['running', 'passed', 'failed', 'aborted', 'interrupted'], {
    description:
      'As the file says, which an edit or another machine may have written. `interrupted`: the daemon ended during the run',
  }),
  exit_code: orNull(Type.Integer(), 'Null while it runs, or if it was killed'),
  attempt: Type.Integer({
    minimum: 1,
    description:
      'The number of this run of the command on the same tree. If a later run passes, the check may be flaky',
  }),
  sandbox: Type.Enum(['bubblewrap', 'seatbelt', 'none'], { description: 'The sandbox of the run' }),
  started_at: Time,
  ended_at: orNull(Time),
  changed_tests: Type.Array(Type.String(), {
    description: 'Test files that differ from the base of the worktree: the first 100',
  }),
  changed_tree: Type.Optional(
    Type.Boolean({ description: 'True if files of the worktree changed during the run' }),
  ),
});
export type CheckRun = Static<typeof CheckRun>;

const Tree = Type.String({ pattern: '^[0-9a-f]{40,64}$' });

/** The front matter of proof/<type>-<id>.md; the body is the content. */
export const ProofMatter = Type.Object({
  id: Id,
  type: Word,
  verified: Type.Boolean(),
  verified_at: Type.Optional(Type.Union([Type.Null(), Time])),
  verified_by: Type.Optional(Type.Union([Type.Null(), Type.String()])),
  /** The hash of the verified content and file. When they change, the verification is withdrawn. */
  verified_sha256: Type.Optional(Sha256),
  /** The name of an attached file, and its hash. */
  file: Type.Optional(Type.Union([Type.Null(), FileName])),
  file_sha256: Type.Optional(Type.Union([Type.Null(), Sha256])),
  /** The commit with the work that it proves. */
  commit: Type.Optional(Type.Union([Type.Null(), Type.String()])),
  /** The hash of the worktree's diff against its base, if not all work was committed. */
  diff_sha256: Type.Optional(Type.Union([Type.Null(), Sha256])),
  /** The git tree of the files that it proves. */
  tree: Type.Optional(Type.Union([Type.Null(), Tree])),
  /** The check that created it. */
  run: Type.Optional(Type.Union([Type.Null(), CheckRun])),
  /** The marker in the environment of its processes. */
  run_marker: Type.Optional(Type.Union([Type.Null(), Id])),
  /** The session whose work it proves. */
  session_id: Type.Optional(Type.Union([Type.Null(), Id])),
  created_at: Time,
});
export type ProofMatter = Static<typeof ProofMatter>;

export const Proof = Type.Object(
  {
    id: Id,
    case_id: Id,
    type: Word,
    content: Type.String({ description: 'Free text' }),
    file: orNull(Type.String(), 'The attached file in `proof/`; null if there is none'),
    file_sha256: Type.Union([Type.Null(), Sha256]),
    verified: Type.Boolean(),
    verified_at: Type.Union([Type.Null(), Time]),
    verified_by: orNull(
      Type.String(),
      '`operator`, `operator (key NAME)` for a call with an API key, or `operator (by hand)` for an edit of the file',
    ),
    verified_elsewhere: Type.Optional(
      Type.Boolean({
        description:
          'True if the verification was written to the file, not made through this daemon. It counts; verify again to confirm it',
      }),
    ),
    session_id: orNull(Id, 'The session whose work it proves'),
    commit: orNull(
      Type.String(),
      'The commit with the work that it proves; null if nothing was committed',
    ),
    diff_sha256: orNull(
      Sha256,
      "The hash of the bytes of the session's diff, if some of the work was not committed",
    ),
    tree: Type.Optional(
      Type.String({
        description:
          'The git tree of all files of the worktree, committed or not. A submodule with uncommitted changes has a hash of them in place of its commit. A different tree makes the proof stale',
      }),
    ),
    run: Type.Optional(CheckRun),
    created_at: Time,
  },
  { $id: 'Proof' },
);
export type Proof = Static<typeof Proof>;

/** One line of proof/checklist.md: of its front matter's `items`, or a task line of its text. */
export const ChecklistEntry = Type.Object({
  id: Id,
  description: Type.String({ minLength: 1, maxLength: 1000 }),
  type: Word,
  required: Type.Boolean(),
  command: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      description: 'The required check: a verified, passed run of this command',
    }),
  ),
  /** Whether a task line is ticked. */
  done: Type.Optional(Type.Boolean()),
  waived: Type.Optional(
    Type.Object({
      by: Type.String({ minLength: 1, maxLength: 200 }),
      reason: Type.String({ minLength: 1, maxLength: 1000 }),
      at: Type.Optional(Time),
    }),
  ),
});
export type ChecklistEntry = Static<typeof ChecklistEntry>;

/** A waived line of the checklist, by id. */
export const Waiver = Type.Object({
  item: Id,
  by: Type.String({ minLength: 1, maxLength: 200 }),
  reason: Type.String({ minLength: 1, maxLength: 1000 }),
  at: Type.Optional(Time),
});
export type Waiver = Static<typeof Waiver>;
export const ChecklistMatter = Type.Object({
  items: Type.Array(ChecklistEntry),
  waived: Type.Optional(Type.Array(Waiver)),
});

export const ChecklistItem = Type.Object(
  {
    ...ChecklistEntry.properties,
    task: Type.Boolean({
      description: 'Whether it is a task line of the text, which can be ticked',
    }),
    done: Type.Boolean({ description: 'Whether it is a ticked task line' }),
    satisfied: Type.Boolean({
      description:
        'Whether it is ticked or waived, or a verified proof of this type is attached; with `command`, a proof of a passed run of it',
    }),
  },
  { $id: 'ChecklistItem' },
);
export type ChecklistItem = Static<typeof ChecklistItem>;

export const Gate = Type.Object(
  {
    satisfied: Type.Boolean(),
    missing: Type.Array(
      Type.Object({
        checklist_id: Type.Union([Type.Null(), Id]),
        type: orNull(Word, 'Null for any type'),
        description: Type.String(),
      }),
    ),
    stale: Type.Array(Id, {
      description: 'Proofs of other work than that now in the worktree; they still count',
    }),
    failed_commands: Type.Optional(Commands),
  },
  { $id: 'ProofGate' },
);
export type Gate = Static<typeof Gate>;
