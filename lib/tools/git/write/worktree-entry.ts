import { readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { isDone, orElse } from '../../../../store/base/attempt.ts';
import type { GitWorktree } from '../run/git.ts';

type Removed = Pick<GitWorktree, 'path' | 'common_dir'> & Partial<GitWorktree>;

/**
 * Removes git's records of a worktree whose directory is missing or incomplete, and syncs. A partial record, as a power cut
 * leaves it, keeps git from listing worktrees, and `git worktree remove` refuses to remove it.
 */
export const removeEntries = async ({ path, common_dir, git_dir }: Removed): Promise<void> => {
  const home = join(common_dir, 'worktrees');
  // A concurrent git, such as gc, may write in the directory while it is deleted.
  for (const name of orElse(() => readdirSync(home), [], 'ENOENT'))
    if (join(home, name) === git_dir || isEntryOf(home, name, path))
      await rm(join(home, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  await syncIfThere(home);
  // git also removes the directory with the last record.
  if (isDone(() => rmdirSync(home), 'ENOTEMPTY', 'EEXIST', 'ENOENT')) await syncIfThere(common_dir);
};

// git names a record after the directory, with a number if the name is taken; its `gitdir` file has the path.
const isEntryOf = (home: string, name: string, path: string): boolean => {
  const own = basename(path);
  if (!name.startsWith(own) || !/^\d*$/.test(name.slice(own.length))) return false;
  const said = orElse(() => readFileSync(join(home, name, 'gitdir'), 'utf8'), '', 'ENOENT');
  const text = said.replaceAll('\0', '').trimEnd();
  const wanted = join(path, '.git');
  // A power cut leaves an empty, truncated or zeroed file. Newer gits may write a path relative to the record.
  return wanted.startsWith(text) || resolve(home, name, text) === wanted;
};

const syncIfThere = async (path: string): Promise<void> => {
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
};
