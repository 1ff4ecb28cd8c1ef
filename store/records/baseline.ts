import { type Static, Type } from 'typebox';
import { Id, Oid, Sha256, Time } from './id.ts';
import { orNull } from './or-null.ts';

const OidOrNull = orNull(Oid);
const Texts = Type.Array(Type.String());

/** What a worktree was at one moment, as git keeps it. */
export const Pictured = Type.Object({
  head: OidOrNull,
  branch: Type.Union([Type.String({ pattern: '^refs/' }), Type.Null()]),
  index: Sha256,
  index_blob: OidOrNull,
  files: Oid,
  staged: Type.Array(Oid),
  permissions: Type.Record(Type.String(), Type.Integer()),
  repositories: Texts,
  operations: Texts,
  settings: Sha256,
  tampered: Type.Boolean(),
  /** MERGE_MSG and the like, by name. */
  git_files: Type.Optional(Type.Record(Type.String(), Oid)),
});

/** What it was when a Plan turn began. */
const Before = Type.Object({
  ref: Type.String({ pattern: '^refs/dossier/snapshots/[0-9a-f-]+$' }),
  commit: Oid,
  ...Pictured.properties,
});

/** A Plan turn that is not compared yet: of this machine only, there from before its agent starts until it is undone. */
export const Baseline = Type.Object({
  case_id: Id,
  /** Of a run of planning its own id. */
  session_id: Id,
  planning: Type.Optional(Type.Boolean()),
  /** Of the worktree's record: another worktree was not changed by this turn. */
  worktree_created_at: Time,
  /** A change was found and is being undone. */
  violated: Type.Boolean(),
  /** As whom git noted what the turn did to refs; there when those are compared, too. */
  signed_as: Type.Optional(Type.String()),
  before: Before,
});
export type Baseline = Static<typeof Baseline>;
