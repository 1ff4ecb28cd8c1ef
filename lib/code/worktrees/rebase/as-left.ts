import { storeFiles } from '../../../tools/git/read/blobs.ts';
import type { GitAt, GitWorktree } from '../../../tools/git/run/git.ts';
import type { WorktreeSnapshot } from '../../snapshots/snapshot.ts';
import type { Unmerged } from './unmerged.ts';

/** Those of these files that are as they were in a snapshot: content, mode, link, or not there at all. */
export const asTheyWere = async (
  git: GitAt<GitWorktree>,
  { commit }: Pick<WorktreeSnapshot, 'commit'>,
  files: readonly Unmerged[],
): Promise<Unmerged[]> => {
  if (files.length === 0) return [];
  const args = ['ls-tree', '-r', '-z', '--full-tree', `${commit}:files`];
  const lines = await git.names(args);
  const then = new Map(
    lines.map((line) => {
      const [, mode = '', oid = '', path = ''] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(line) ?? [];
      return [path, `${mode} ${oid}`];
    }),
  );
  const paths = files.map(({ path }) => path);
  const stored = await storeFiles(git, paths);
  const now = new Map(stored.map(({ path, mode, oid }) => [path, `${mode} ${oid}`]));
  return files.filter(({ path }) => now.get(path) === then.get(path));
};
