import { type Dirent, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { hasCode } from './durable.ts';
import { CASE_FILE } from './layout.ts';

const DEEPEST = 6;

/**
 * The directories of all Work items, relative to the workspace: each that holds a case.md, anywhere under `from`.
 * Nothing below one is another, links are not followed, and names that begin with a dot are no one's.
 */
export const walkItems = function* (root: string, from = 'cases', depth = 0): Generator<string> {
  const entries = readEntries(join(root, from));
  if (entries.some(({ name }) => name === CASE_FILE)) {
    yield from;
    return;
  }
  if (depth >= DEEPEST) return;
  for (const entry of entries) {
    if (entry.isDirectory() && !entry.name.startsWith('.'))
      yield* walkItems(root, posix.join(from, entry.name), depth + 1);
  }
};

const readEntries = (path: string): Dirent[] => {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return [];
    throw error;
  }
};
