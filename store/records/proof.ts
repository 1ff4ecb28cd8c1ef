import { type Static, Type } from 'typebox';
import { Commands } from './commands.ts';
import { Id, Sha256, Time, Word } from './id.ts';
import { orNull } from './or-null.ts';

/** A file in `proof/`; Markdown there is a record. */
const FileName = Type.String({
  pattern:
    '^(?!.*\\.[mM][dD]$)[^./\\\\\\u0000-\\u001f\\u007f][^/\\\\\\u0000-\\u001f\\u007f]{0,199}$',
});

/** A run of a check, whose output is the content of its proof. */
export const CheckRun = Type.Object({
  command: Type.String({ minLength: 1, maxLength: 2000 }),
  status: Type.Enum(['running', 'passed', 'failed', 'aborted', 'interrupted'], {
    description: '`interrupted`: the daemon ended while it ran',
  }),
  exit_code: orNull(Type.Integer(), 'null while it runs, and where it was ended'),
  attempt: Type.Integer({
    minimum: 1,
    description:
      'Which run of this command on this tree it is: a second one that passes may be flaky',
  }),
  sandbox: Type.Enum(['bubblewrap', 'seatbelt', 'none'], { description: 'What it ran in' }),
  started_at: Time,
  ended_at: orNull(Time),
  changed_tests: Type.Array(Type.String(), {
    description: 'The test files that differ from the base of the worktree: the first 100',
  }),
  changed_tree: Type.Optional(
    Type.Boolean({ description: 'True where files of the worktree changed while it ran' }),
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
  /** What was verified, content and file: when it changes, the verification no longer holds. */
  verified_sha256: Type.Optional(Sha256),
  /** The name of a file beside it, and the hash of what that holds. */
  file: Type.Optional(Type.Union([Type.Null(), FileName])),
  file_sha256: Type.Optional(Sha256),
  /** That holds the work it proves. */
  commit: Type.Optional(Type.Union([Type.Null(), Type.String()])),
  /** Of the worktree's diff against its base, where not all of the work was committed. */
  diff_sha256: Type.Optional(Type.Union([Type.Null(), Sha256])),
  /** The tree of the files that it proves, as git names it. */
  tree: Type.Optional(Type.Union([Type.Null(), Tree])),
  /** The check that made it. */
  run: Type.Optional(Type.Union([Type.Null(), CheckRun])),
  /** In the environment of its processes while it runs. */
  run_marker: Type.Optional(Type.Union([Type.Null(), Id])),
  /** Whose work it proves. */
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
    file: orNull(
      Type.String(),
      'The file in `proof/` that it is about; null where the content is all of it',
    ),
    file_sha256: Type.Union([Type.Null(), Sha256]),
    verified: Type.Boolean(),
    verified_at: Type.Union([Type.Null(), Time]),
    verified_by: orNull(
      Type.String(),
      '`operator`, `operator (key NAME)` where an API key was shown, or `operator (by hand)` in the file',
    ),
    verified_elsewhere: Type.Optional(
      Type.Boolean({
        description:
          'True for a verification that its file alone has: it counts, and was not made by way of this daemon. Verifying again makes it so',
      }),
    ),
    session_id: orNull(Id, 'The session whose work it proves'),
    commit: orNull(
      Type.String(),
      'That holds the work which it proves; null while nothing was committed',
    ),
    diff_sha256: orNull(
      Sha256,
      "Of the worktree's diff against its base, where not all of the work was committed: the bytes of the session's diff",
    ),
    tree: Type.Optional(
      Type.String({
        description:
          'The git tree of all files of the worktree that it proves, committed or not. Another tree makes it stale',
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
      description: 'The check that it asks for: a verified run of this command that passed',
    }),
  ),
  /** Of a task line: it is ticked. */
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

/** A line of the checklist that is not asked for, by its id. */
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
    task: Type.Boolean({ description: 'It is a task line of the text, which can be ticked' }),
    done: Type.Boolean({ description: 'It is a task line of the text, and is ticked' }),
    satisfied: Type.Boolean({
      description:
        'It is ticked or waived, or a verified proof of this type is attached; where it names a `command`, one of a run of it that passed',
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
        type: orNull(Word, 'null: any type'),
        description: Type.String(),
      }),
    ),
    stale: Type.Array(Id, {
      description: 'Proofs of other work than what the worktree holds now; they still count',
    }),
    failed_commands: Type.Optional(Commands),
  },
  { $id: 'ProofGate' },
);
export type Gate = Static<typeof Gate>;
