import { type Static, Type } from 'typebox';
import { Id, Sha256, Time, Word } from './id.ts';
import { orNull } from './or-null.ts';

/** A file in `proof/`; Markdown there is a record. */
const FileName = Type.String({
  pattern:
    '^(?!.*\\.[mM][dD]$)[^./\\\\\\u0000-\\u001f\\u007f][^/\\\\\\u0000-\\u001f\\u007f]{0,199}$',
});

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
  /** Of a task line: it is ticked. */
  done: Type.Optional(Type.Boolean()),
});
export type ChecklistEntry = Static<typeof ChecklistEntry>;
export const ChecklistMatter = Type.Object({ items: Type.Array(ChecklistEntry) });

export const ChecklistItem = Type.Object(
  {
    ...ChecklistEntry.properties,
    task: Type.Boolean({ description: 'It is a task line of the text, which can be ticked' }),
    done: Type.Boolean({ description: 'It is a task line of the text, and is ticked' }),
    satisfied: Type.Boolean({
      description: 'It is ticked, or a verified proof of this type is attached',
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
  },
  { $id: 'ProofGate' },
);
export type Gate = Static<typeof Gate>;
