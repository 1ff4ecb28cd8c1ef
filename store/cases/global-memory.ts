import { sha256 } from '../base/sha256.ts';
import {
  editText,
  listTexts,
  readText,
  type TextFile,
  type TextRule,
} from '../front-matter/text-file.ts';
import { GLOBAL_MEMORY } from '../layout.ts';
import { whileNoLockIsTaken } from '../sessions/locks.ts';
import { readyToWrite, type Store } from '../store.ts';

/** The files of the global memory, by name. */
export const listGlobalMemory = ({ layout }: Store): TextFile[] => listTexts(layout, layout.memory);

export const readGlobalMemory = ({ layout }: Store, filename: string): TextFile | undefined =>
  readText(layout, layout.memory, filename);

/**
 * Runs a rule on memory/global.md as it is on disk and writes what it answers; no session takes its lock between the two.
 * With `ifMatch`, only when the file is still the one that was read.
 */
export const editGlobalMemory = (
  store: Store,
  rule: TextRule,
  ifMatch?: string,
): Promise<Omit<TextFile, 'content'>> =>
  whileNoLockIsTaken(store, async () => {
    await readyToWrite(store);
    const path = { dir: store.layout.memory, filename: GLOBAL_MEMORY };
    const { content } = await editText(store.layout, path, rule, ifMatch);
    return {
      filename: GLOBAL_MEMORY,
      size: Buffer.byteLength(content),
      sha256: sha256(content),
    };
  });
