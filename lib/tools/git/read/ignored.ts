import type { GitAt, GitWorktree } from '../run/git.ts';

/** Those of these paths that git ignores; undefined where it cannot say, as of what is in a submodule. */
export const ignoredPaths = async (
  git: GitAt<GitWorktree>,
  paths: readonly string[],
): Promise<ReadonlySet<string> | undefined> => {
  if (paths.length === 0) return new Set();
  // Relative to here even where one begins as git's own words for places do.
  const input = paths.map((path) => `./${path}\0`).join('');
  const { code, stdout } = await git.run(['check-ignore', '-z', '--stdin'], {
    read: true,
    input,
    // The command takes paths, not patterns, and knows no such switch.
    env: { GIT_LITERAL_PATHSPECS: '0' },
    ok: [0, 1, 128],
  });
  if (code === 128) return undefined;
  const found = stdout.toString('utf8').split('\0').slice(0, -1);
  return new Set(found.map((path) => path.replace(/^\.\//, '')));
};
