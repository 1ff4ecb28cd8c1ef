import { type Dirent, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { hasCode } from './durable.ts';
import { CASE_FILE } from './layout.ts';

const DEEPEST = 6;

/**
 * The directories of all Work items, relative to the workspace: each that holds a case.md, anywhere under `from`.
 * Nothing below one is another, links are not followed, and names that begin with a dot are no one's. Those that
 * `skip` knows are left out unread.
 */
export const walkItems = function* (
  root: string,
  from = 'cases',
  skip: (dir: string) => boolean = () => false,
): Generator<string> {
  const entries = readEntries(join(root, from));
  if (entries.some(({ name }) => name === CASE_FILE)) {
    yield from;
    return;
  }
  if (from.split('/').length > DEEPEST) return;
  for (const entry of entries) {
    const dir = posix.join(from, entry.name);
    if (entry.isDirectory() && !entry.name.startsWith('.') && !skip(dir))
      yield* walkItems(root, dir, skip);
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
