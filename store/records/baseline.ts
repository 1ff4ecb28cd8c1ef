import { type Static, Type } from 'typebox';
import { Id, Oid, orNull, Sha256, Time } from './fields.ts';

const OidOrNull = orNull(Oid);
const Texts = Type.Array(Type.String());

/** The state of a worktree at one moment, as git objects. */
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

/** The state at the start of a Plan turn. */
const Before = Type.Object({
  ref: Type.String({ pattern: '^refs/dossier/snapshots/[0-9a-f-]+$' }),
  commit: Oid,
  ...Pictured.properties,
});

/** A Plan turn that is not yet compared. On this machine only, from before its agent starts until its changes are undone. */
export const Baseline = Type.Object({
  case_id: Id,
  /** The id of the session, or of the planning run. */
  session_id: Id,
  planning: Type.Optional(Type.Boolean()),
  /** The id of the worktree record; a worktree created later was not changed by this turn. */
  worktree_created_at: Time,
  /** Whether a change was found and is being undone. */
  violated: Type.Boolean(),
  /** The committer name of the turn in reflogs; present if refs are compared too. */
  signed_as: Type.Optional(Type.String()),
  before: Before,
});
export type Baseline = Static<typeof Baseline>;
