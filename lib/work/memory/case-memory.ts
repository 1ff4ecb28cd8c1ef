import { isMarkdownName } from '../../../store/base/names.ts';
import {
  memoryFilesOf as keptFiles,
  memoryRootOf,
  readMemory,
  writeMemory,
} from '../../../store/cases/memory.ts';
import type { TextFile } from '../../../store/front-matter/text-file.ts';
import type { Store } from '../../../store/store.ts';
import { badField, orNotFound } from '../../errors.ts';

export interface MemoryFile {
  filename: string;
  size: number;
  sha256: string;
}

/** The memory files of a Work item, planning files included, by name. */
export const listMemory = (store: Store, caseId: string): MemoryFile[] => {
  const files = orNotFound(keptFiles(store, caseId), 'Work item', caseId);
  return files.map(({ filename, size, sha256 }) => ({ filename, size, sha256 }));
};

export const getMemory = (store: Store, caseId: string, filename: string): TextFile => {
  checkMemoryName(filename);
  return orNotFound(readMemory(store, caseId, filename), 'memory file', filename);
};

/** Writes a whole memory file. With `ifMatch` only when it is still the one that was read, by hand or otherwise. */
export const putMemory = async (
  store: Store,
  caseId: string,
  file: { filename: string; content: string },
  ifMatch?: string,
): Promise<TextFile> => {
  checkMemoryName(file.filename);
  orNotFound(await writeMemory(store, caseId, file, ifMatch), 'Work item', caseId);
  return orNotFound(readMemory(store, caseId, file.filename), 'memory file', file.filename);
};

/** Throws `bad_request` for what is no name of a memory file. */
export const checkMemoryName = (filename: string): void => {
  if (isMarkdownName(filename)) return;
  throw badField(
    'path/filename',
    'has to match [A-Za-z0-9][A-Za-z0-9._-]*.md',
    'A memory file is named like notes.md: letters, digits, dot, dash and underscore, at most 128 characters.',
  );
};

interface MemoryRoot {
  case_id: string;
  path: string;
  exists: boolean;
  global_path: string;
}

/** Where the memory files are that go with a Work item's worktree, whether it has one yet or not. */
export const memoryRoot = (store: Store, caseId: string): MemoryRoot => {
  const root = orNotFound(memoryRootOf(store, caseId), 'Work item', caseId);
  return { case_id: caseId, ...root, global_path: store.layout.memory };
};
