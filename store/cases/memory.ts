import { join } from 'node:path';
import { listTexts, readText, type TextFile, writeText } from '../front-matter/text-file.ts';
import { isDirectoryItself } from '../fs/plain-path.ts';
import { memoryDir } from '../layout.ts';
import { assertOwn, changingItem } from '../reconcile/changing.ts';
import { announce, pathOfItem } from '../reconcile/items.ts';
import type { Store } from '../store.ts';

/** The memory files of a Work item, planning files included, by name. Undefined when there is no such Work item. */
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

/** Undefined when there is no such Work item. */
export const writeMemory = (
  store: Store,
  caseId: string,
  file: { filename: string; content: string },
  ifMatch?: string,
): Promise<{ created: boolean } | undefined> =>
  changingItem(store, caseId, async (item) => {
    const path = {
      dir: memoryDir(join(store.layout.root, item.dir)),
      filename: file.filename,
      assertMeant: () => assertOwn(store, item),
    };
    const written = await writeText(store.layout, path, file.content, ifMatch);
    announce(store, caseId);
    return written;
  });

/** The absolute path of a Work item's memory directory, which is made when first needed. */
export const memoryRootOf = (
  store: Store,
  caseId: string,
): { path: string; exists: boolean } | undefined => {
  const path = pathOfItem(store, caseId, memoryDir);
  return path === undefined ? undefined : { path, exists: isDirectoryItself(path) };
};
