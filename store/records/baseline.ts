import { type Static, Type } from 'typebox';
import { Id, Oid, orNull, Sha256, Time } from './fields.ts';

const OidOrNull = orNull(Oid);
const Texts = Type.Array(Type.String());

/**
 * The state of a worktree at one moment, as git objects. Two equal pictures mean that nothing changed. Excludes ignored files
 * and file times.
 */
export const Pictured = Type.Object({
  head: OidOrNull,
  /** The full ref that HEAD names; null when it is detached. */
  branch: Type.Union([Type.String({ pattern: '^refs/' }), Type.Null()]),
  /** Of the index entries with stages and flags, without cached file times. */
  index: Sha256,
  /** The index file as a blob; null if there is none. */
  index_blob: OidOrNull,
  /** A tree of the working files: as in the index if clean, byte for byte as on disk if changed, untracked or hiding text. */
  files: Oid,
  /** Blobs that may exist only in the index. */
  staged: Type.Array(Oid),
  /** The permissions of changed and untracked files, by latin1 path. */
  permissions: Type.Record(Type.String(), Type.Integer()),
  /** Submodules and nested repositories: only their existence and commit. */
  repositories: Texts,
  /** Operations in progress, such as a merge or rebase. */
  operations: Texts,
  /** Of the repository's settings and ignore rules, which decide what git reports. */
  settings: Sha256,
  tampered: Type.Boolean(),
  /** MERGE_MSG and the like, by name. Not compared, because git overwrites these files itself. */
  git_files: Type.Optional(Type.Record(Type.String(), Oid)),
});
export type Pictured = Static<typeof Pictured>;

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
