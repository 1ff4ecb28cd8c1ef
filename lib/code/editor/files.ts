import { etagOf } from '../../../store/base/names.ts';
import { listTreeFolder } from '../../../store/fs/worktree/list.ts';
import { readTreeFile } from '../../../store/fs/worktree/read.ts';
import {
  createTreeFile,
  makeTreeFolder,
  removeFromTree,
  replaceTreeFile,
} from '../../../store/fs/worktree/write.ts';
import { isMadeAgain } from '../../../store/reconcile/new-id.ts';
import type { EditorFile, WrittenFile } from '../../../store/records/editor.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { invalidState, orNotFound, ServiceError } from '../../errors.ts';
import type { WithLive } from '../worktrees/live.ts';
import { moveNoted } from '../worktrees/recovery/changes.ts';
import type { WithSetups } from '../worktrees/setup/setups.ts';
import { contentBytes, readEditorFile, type Sent, writtenRecord } from './content.ts';
import { changingWorktree, openWorktree, treeOf } from './place.ts';
import { tellEdit } from './tell-edit.ts';

export interface ServedFile<T> {
  file: T;
  etag: string;
}

/** A file of the worktree as it is on disk: text, or base64 where it is none. 413 where it is too large to be served. */
export const readFile = async (
  store: Store,
  caseId: string,
  path: string,
): Promise<ServedFile<EditorFile>> => {
  const worktree = await openWorktree(store, caseId);
  const file = orNotFound(await readTreeFile(treeOf(store, worktree), path), 'file', path);
  return { file: readEditorFile(file), etag: etagOf(file.sha256) };
};

/** Makes a file that must not be there yet, with the directories on the way: of two that do it at once one gets 409. */
export const createEditorFile = async (
  service: WithLive & WithSetups & WithStore,
  caseId: string,
  { path, ...sent }: Sent & { path: string },
): Promise<ServedFile<WrittenFile>> => {
  const bytes = contentBytes(sent);
  const file = await changingWorktree(service, caseId, async (tree) => {
    const made = await createTreeFile(tree, path, bytes);
    if (made === undefined) {
      const there = isMadeAgain() ? await readTreeFile(tree, path) : undefined;
      if (there?.bytes.equals(bytes) === true) return there;
      throw exists(path);
    }
    tellEdit(service, caseId, { action: 'created', path });
    return made;
  });
  return { file: writtenRecord(file), etag: etagOf(file.sha256) };
};

/** Writes a file that is there; the former one is kept for some days. With If-Match only if nobody else did meanwhile. */
export const writeFile = async (
  service: WithLive & WithSetups & WithStore,
  caseId: string,
  { path, ifMatch, ...sent }: Sent & { path: string; ifMatch: string | undefined },
): Promise<ServedFile<WrittenFile>> => {
  const bytes = contentBytes(sent);
  const file = await changingWorktree(service, caseId, async (tree) => {
    const written = await replaceTreeFile(tree, path, { bytes, ifMatch });
    if (written === undefined) throw absent(path);
    tellEdit(service, caseId, { action: 'written', path });
    return written;
  });
  return { file: writtenRecord(file), etag: etagOf(file.sha256) };
};

/** Removes a file, which is kept for some days, or an empty directory. */
export const deleteFile = (
  service: WithLive & WithSetups & WithStore,
  caseId: string,
  { path, ifMatch }: { path: string; ifMatch: string | undefined },
): Promise<void> =>
  changingWorktree(service, caseId, async (tree) => {
    const done = await removeFromTree(tree, path, ifMatch);
    if (done === 'absent') throw absent(path);
    if (done === 'not_empty') throw notEmpty(path);
    tellEdit(service, caseId, { action: 'deleted', path });
  });

/** Gives a file or a directory another name; 409 where something has that already. */
export const rename = (
  service: WithLive & WithSetups & WithStore,
  caseId: string,
  { from, to }: { from: string; to: string },
): Promise<{ from: string; path: string }> =>
  changingWorktree(service, caseId, async (tree, record) => {
    const done = await moveNoted(service.store, tree, { record, from, to });
    if (done === 'absent') throw absent(from);
    if (done === 'exists') throw exists(to);
    tellEdit(service, caseId, { action: 'renamed', path: to, from });
    return { from, path: to };
  });

/** Makes a directory, with those on the way to it; 409 where something has that name. */
export const makeEditorDirectory = (
  service: WithLive & WithSetups & WithStore,
  caseId: string,
  path: string,
): Promise<{ path: string }> =>
  changingWorktree(service, caseId, async (tree) => {
    if (!(await makeTreeFolder(tree, path))) {
      if (isMadeAgain() && (await listTreeFolder(tree, path, { limit: 1 })) !== undefined)
        return { path };
      throw exists(path);
    }
    tellEdit(service, caseId, { action: 'directory_created', path });
    return { path };
  });

const absent = (path: string): ServiceError =>
  new ServiceError(
    'not_found',
    `There is no ${path} in the worktree. GET …/editor/directories lists what there is; POST …/editor/files makes a file.`,
  );

export const exists = (path: string): ServiceError =>
  new ServiceError(
    'already_exists',
    `There is something at ${path} already, and it was left as it is. Take another name, or write the file that is there.`,
  );

const notEmpty = (path: string): ServiceError =>
  invalidState(
    `The directory ${path} is not empty. Delete what is in it first: files are kept one by one.`,
  );
