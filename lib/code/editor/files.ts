import { etagOf } from '../../../store/base/names.ts';
import { isRepeatedCall } from '../../../store/base/new-id.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import type { Tree } from '../../../store/fs/worktree/folder.ts';
import { listTreeFolder, type TreeEntry } from '../../../store/fs/worktree/list.ts';
import { pathNames } from '../../../store/fs/worktree/path.ts';
import {
  LARGEST_FILE,
  readTreeFile,
  type TreeFile,
  tooLarge,
} from '../../../store/fs/worktree/read.ts';
import {
  createTreeFile,
  makeTreeFolder,
  removeFromTree,
  replaceTreeFile,
} from '../../../store/fs/worktree/write.ts';
import type { EditorEntry, EditorFile, WrittenFile } from '../../../store/records/editor.ts';
import { isEnded } from '../../../store/records/session.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { sessionsOrNone } from '../../../store/sessions/sessions.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { invalidState, ServiceError } from '../../errors.ts';
import { ignoredPaths } from '../../tools/git/read/ignore-rules.ts';
import type { Git, WithGit } from '../../tools/git/run/git.ts';
import type { WithLive, WithSetups } from '../worktrees/needs.ts';
import { treeOf } from '../worktrees/read.ts';
import { moveDurably } from '../worktrees/recovery/changes.ts';
import { contentBytes, readEditorFile, type Sent, writtenRecord } from './content.ts';
import { requireWorktree, withWorktreeChange } from './open-worktree.ts';

export interface ServedFile<T> {
  file: T;
  etag: string;
}

/** Reads a file of the worktree: as text, or as base64 if it is binary. 413 if it is too large. */
export const readFile = async (
  store: Store,
  caseId: string,
  path: string,
): Promise<ServedFile<EditorFile>> => {
  const worktree = await requireWorktree(store, caseId);
  const file = await readTreeFile(treeOf(store, worktree), path);
  if (file === undefined) throw absent(path);
  return { file: readEditorFile(file), etag: etagOf(file.sha256) };
};

/** Creates a file and its parent directories. 409 if it exists; of two concurrent calls one gets 409. */
export const createEditorFile = async (
  service: WithLive & WithSetups & WithStore,
  caseId: string,
  { path, ...sent }: Sent & { path: string },
): Promise<ServedFile<WrittenFile>> => {
  const bytes = contentBytes(sent);
  const file = await withWorktreeChange(service, caseId, async (tree) => {
    const made = await createTreeFile(tree, path, bytes);
    if (made === undefined) return createdBefore(tree, path, bytes);
    recordEdit(service, caseId, { action: 'created', path });
    return made;
  });
  return { file: writtenRecord(file), etag: etagOf(file.sha256) };
};

/** Replaces an existing file; the old version is kept for some days. `ifMatch` makes it conditional. */
export const writeFile = async (
  service: WithLive & WithSetups & WithStore,
  caseId: string,
  { path, ifMatch, ...sent }: Sent & { path: string; ifMatch: string | undefined },
): Promise<ServedFile<WrittenFile>> => {
  const bytes = contentBytes(sent);
  const file = await withWorktreeChange(service, caseId, async (tree) => {
    const written = await replaceTreeFile(tree, path, { bytes, ifMatch });
    if (written === undefined) throw absent(path);
    recordEdit(service, caseId, { action: 'written', path });
    return written;
  });
  return { file: writtenRecord(file), etag: etagOf(file.sha256) };
};

/** Deletes a file, which is kept for some days, or an empty directory. */
export const deleteFile = (
  service: WithLive & WithSetups & WithStore,
  caseId: string,
  { path, ifMatch }: { path: string; ifMatch: string | undefined },
): Promise<void> =>
  withWorktreeChange(service, caseId, async (tree) => {
    const done = await removeFromTree(tree, path, ifMatch);
    if (done === 'absent') throw absent(path);
    if (done === 'not_empty') throw notEmpty(path);
    recordEdit(service, caseId, { action: 'deleted', path });
  });

/** Renames a file or directory. 409 if the target exists. */
export const rename = (
  service: WithLive & WithSetups & WithStore,
  caseId: string,
  { from, to }: { from: string; to: string },
): Promise<{ from: string; path: string }> =>
  withWorktreeChange(service, caseId, async (tree, record) => {
    const done = await moveDurably(service.store, tree, { record, from, to });
    if (done === 'absent') throw absent(from);
    if (done === 'exists') throw exists(to);
    recordEdit(service, caseId, { action: 'renamed', path: to, from });
    return { from, path: to };
  });

/** Creates a directory and its parents. 409 if the path exists. */
export const makeEditorDirectory = (
  service: WithLive & WithSetups & WithStore,
  caseId: string,
  path: string,
): Promise<{ path: string }> =>
  withWorktreeChange(service, caseId, async (tree) => {
    if (!(await makeTreeFolder(tree, path))) {
      if (isRepeatedCall() && (await listTreeFolder(tree, path, { limit: 1 })) !== undefined)
        return { path };
      throw exists(path);
    }
    recordEdit(service, caseId, { action: 'directory_created', path });
    return { path };
  });

/** The file that the first of repeated calls created. 409 if another call did. */
export const createdBefore = async (tree: Tree, path: string, bytes: Buffer): Promise<TreeFile> => {
  const there = isRepeatedCall() ? await readTreeFile(tree, path) : undefined;
  if (there?.bytes.equals(bytes) === true) return there;
  throw exists(path);
};

const absent = (path: string): ServiceError =>
  new ServiceError(
    'not_found',
    `${path} does not exist in the worktree. GET …/editor/directories lists its files; POST …/editor/files creates one.`,
  );

const absentFromBase = (path: string): ServiceError =>
  new ServiceError(
    'not_found',
    `The base commit has no file ${path}. Read it from disk, without which=base.`,
  );

const exists = (path: string): ServiceError =>
  new ServiceError(
    'already_exists',
    `${path} already exists and was not changed. Use another name, or write the existing file.`,
  );

const notEmpty = (path: string): ServiceError =>
  invalidState(`The directory ${path} is not empty. Delete its files first.`);

/** An edit of a file by the operator. */
interface Edit {
  action: 'created' | 'written' | 'deleted' | 'renamed' | 'directory_created';
  path: string;
  /** The former path of a renamed file. */
  from?: string;
}

/** Adds the edit to the transcript of the session that runs in the worktree, so that it is not attributed to the agent. */
const recordEdit = ({ store, engine }: WithLive & WithStore, caseId: string, edit: Edit): void => {
  // The file is written: a disk fault at a session does not change that.
  const open = sessionsOrNone(store, caseId).find(
    ({ session }) =>
      session.elsewhere !== true && session.status !== 'queued' && !isEnded(session.status),
  );
  if (open === undefined) return;
  const transcript = engine.transcript(open);
  if (!transcript.complete) transcript.append('operator_edit', { ...edit });
};

interface ListQuery {
  path: string;
  limit: number;
  after?: string | undefined;
}

/** Lists one page of a directory of the worktree by name, and marks ignored files. */
export const listEditorDirectory = async (
  { store, git }: WithGit & WithStore,
  caseId: string,
  { path, ...page }: ListQuery,
): Promise<{ entries: EditorEntry[]; more: boolean }> => {
  const worktree = await requireWorktree(store, caseId);
  const found = await listTreeFolder(treeOf(store, worktree), path, page);
  if (found === undefined) throw absent(path);
  return { ...found, entries: await marked(git, worktree, found.entries) };
};

const marked = async (
  git: Git,
  worktree: WorktreeRecord,
  entries: readonly TreeEntry[],
): Promise<EditorEntry[]> => {
  const asked = entries.filter(({ kind }) => kind !== 'other').map(({ path }) => path);
  const ignored = await ignoredPaths(git.at(worktree), asked);
  return entries.map((entry) => ({ ...entry, ignored: ignored?.has(entry.path) ?? null }));
};

/** Reads a file of the worktree's base commit, without git filters. 404 if the commit does not have it. */
export const readBaseFile = async (
  { store, git }: WithGit & WithStore,
  caseId: string,
  path: string,
): Promise<ServedFile<EditorFile>> => {
  pathNames(path);
  const worktree = await requireWorktree(store, caseId);
  const at = git.at(worktree);
  const args = ['ls-tree', '-z', '--long', '--full-tree', worktree.base_commit, '--', path];
  const [, oid, size] = FILE.exec((await at.names(args))[0] ?? '') ?? [];
  if (oid === undefined) throw absentFromBase(path);
  if (Number(size) > LARGEST_FILE) throw tooLarge(path, Number(size));
  const bytes = await at.read(['cat-file', 'blob', oid], { max_bytes: LARGEST_FILE + 1 });
  const hash = sha256(bytes);
  return { file: readEditorFile({ path, bytes, sha256: hash }), etag: etagOf(hash) };
};

// Regular files only: a link may point outside.
const FILE = /^100\d{3} blob ([0-9a-f]{40,64}) +(\d+)\t/;
