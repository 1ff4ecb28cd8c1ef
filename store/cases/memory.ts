import { join } from 'node:path';
import { sha256 } from '../base/sha256.ts';
import {
  editText,
  listTexts,
  readText,
  type TextFile,
  type TextRule,
  writeText,
} from '../front-matter/text-file.ts';
import { isDirectoryItself } from '../fs/plain-path.ts';
import { GLOBAL_MEMORY, memoryDir } from '../layout.ts';
import { assertItemAt, changeItem } from '../reconcile/change-item.ts';
import { notifyItemChanged, pathOfItem } from '../reconcile/items.ts';
import { withSessionLocksBlocked } from '../sessions/locks.ts';
import { readyToWrite, type Store } from '../store.ts';

/** The memory files of a Work item, planning files included, sorted by name; undefined if there is no such Work item. */
export const memoryFilesOf = (store: Store, caseId: string): TextFile[] | undefined => {
  const dir = pathOfItem(store, caseId, memoryDir);
  return dir === undefined ? undefined : listTexts(store.layout, dir);
};

export const readMemory = (
  store: Store,
  caseId: string,
  filename: string,
): TextFile | undefined => {
  const dir = pathOfItem(store, caseId, memoryDir);
  return dir === undefined ? undefined : readText(store.layout, dir, filename);
};

/** Undefined if there is no such Work item. */
export const writeMemory = (
  store: Store,
  caseId: string,
  file: { filename: string; content: string },
  ifMatch?: string,
): Promise<{ created: boolean } | undefined> =>
  changeItem(store, caseId, async (item) => {
    const path = {
      dir: memoryDir(join(store.layout.root, item.dir)),
      filename: file.filename,
      assertMeant: () => assertItemAt(store, item),
    };
    const written = await writeText(store.layout, path, file.content, ifMatch);
    notifyItemChanged(store, caseId);
    return written;
  });

/** The absolute path of a Work item's memory directory, which is created with its first file. */
export const memoryRootOf = (
  store: Store,
  caseId: string,
): { path: string; exists: boolean } | undefined => {
  const path = pathOfItem(store, caseId, memoryDir);
  return path === undefined ? undefined : { path, exists: isDirectoryItself(path) };
};

/** The files of the global memory, sorted by name. */
export const listGlobalMemory = ({ layout }: Store): TextFile[] => listTexts(layout, layout.memory);

export const readGlobalMemory = ({ layout }: Store, filename: string): TextFile | undefined =>
  readText(layout, layout.memory, filename);

/**
 * Applies a rule to memory/global.md as it is on disk; no session lock is acquired meanwhile. With `ifMatch`, only if the
 * file is the one that was read.
 */
export const editGlobalMemory = (
  store: Store,
  rule: TextRule,
  ifMatch?: string,
): Promise<Omit<TextFile, 'content'>> =>
  withSessionLocksBlocked(store, async () => {
    await readyToWrite(store);
    const path = { dir: store.layout.memory, filename: GLOBAL_MEMORY };
    const { content } = await editText(store.layout, path, rule, ifMatch);
    return {
      filename: GLOBAL_MEMORY,
      size: Buffer.byteLength(content),
      sha256: sha256(content),
    };
  });
