import { type Dirent, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { hasCode } from '../fs/durable.ts';
import { standing } from '../fs/plain-path.ts';
import { CASE_FILE } from '../layout.ts';

const DEEPEST = 6;

/** A directory of the walk: a Work item (it has a case.md), a folder of Work items, or one without read permission. */
export interface WalkedDirectory {
  dir: string;
  kind: 'item' | 'folder' | 'closed';
  /** What is in it. */
  names: readonly string[];
}

/**
 * All Work items and folders under `from`, as paths relative to the workspace. Directories below a Work item, links and
 * names that begin with a dot are left out, and so is what `skip` accepts.
 */
export const walk = function* (
  root: string,
  from = 'cases',
  skip: (dir: string) => boolean = () => false,
): Generator<WalkedDirectory> {
  if (standing(root, join(root, from)) !== 'gone') yield* walkBelow(root, from, skip);
};

const walkBelow = function* (
  root: string,
  from: string,
  skip: (dir: string) => boolean,
): Generator<WalkedDirectory> {
  const entries = readEntries(join(root, from));
  if (entries === 'closed') yield { dir: from, kind: 'closed', names: [] };
  if (typeof entries === 'string') return;
  const names = entries.map(({ name }) => name);
  const kind = names.includes(CASE_FILE) ? 'item' : 'folder';
  yield { dir: from, kind, names };
  if (kind === 'item' || from.split('/').length > DEEPEST) return;
  for (const entry of entries) {
    const dir = posix.join(from, entry.name);
    if (entry.isDirectory() && !entry.name.startsWith('.') && !skip(dir))
      yield* walkBelow(root, dir, skip);
  }
};

const readEntries = (path: string): Dirent[] | 'gone' | 'closed' => {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM')) return 'closed';
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return 'gone';
    throw error;
  }
};
