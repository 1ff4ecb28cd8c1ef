import { status } from '../../tools/git/read/status.ts';
import type { Git, GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { onIndexCopy } from '../../tools/git/run/index-copy.ts';
import { DAEMON } from '../../tools/git/write/commit.ts';
import { refOwner } from './kept-refs.ts';

/** Uncommitted changes as a commit. `bringBack` and `git cherry-pick --no-commit` apply them again. */
interface SetAside {
  ref: string;
  commit: string;
}

/**
 * Saves the changes of tracked files under a ref, staged and unstaged separately, and removes them from the worktree.
 * Untracked files stay.
 */
export const setAside = (git: Git, worktree: GitWorktree, id: string): Promise<SetAside> =>
  git.turn(worktree, async (now) => {
    const staged = await now.text(['write-tree']);
    const files = await onIndexCopy(now, async (copy) => {
      await copy.run(['add', '--update', '--sparse', '--', '.']);
      return copy.text(['write-tree']);
    });
    const index = await commitTree(now, { tree: staged, parents: ['HEAD'] });
    const commit = await commitTree(now, { tree: files, parents: ['HEAD', index] });
    const ref = `refs/dossier/set-aside/${refOwner(worktree)}${id}`;
    await now.run(['update-ref', ref, commit]);
    await now.run(['reset', '--quiet', '--hard']);
    return { ref, commit };
  });

/**
 * Applies changes that were set aside to the current HEAD, staged ones as staged, and deletes their ref. Returns false
 * and changes nothing if they conflict, or if there are other uncommitted changes.
 */
export const bringBack = (git: Git, worktree: GitWorktree, kept: SetAside): Promise<boolean> =>
  git.turn(worktree, async (now) => {
    const { files: changed } = await status(now);
    if (changed.some(({ code, repository }) => code !== '??' && !repository)) return false;
    const index = await merged(now, `${kept.commit}^2`);
    const files = await merged(now, kept.commit);
    if (index === undefined || files === undefined) return false;
    const fits = await now.run(['read-tree', '-m', '-u', 'HEAD', files], { ok: [0, 128] });
    if (fits.code !== 0) return false;
    await now.run(['read-tree', index]);
    await now.run(['update-index', '-q', '--refresh'], { ok: [0, 1] });
    await now.run(['update-ref', '-d', kept.ref]);
    return true;
  });

// `merge-tree` needs a merge base: a commit with the files of HEAD on top of the commit that the changes are based on.
const merged = async (git: GitAt<GitWorktree>, changes: string): Promise<string | undefined> => {
  const here = await commitTree(git, { tree: 'HEAD^{tree}', parents: [`${changes}^1`] });
  const args = ['merge-tree', '--write-tree', '--no-messages', here, changes];
  const { code, stdout } = await git.run(args, { ok: [0, 1] });
  return code === 0 ? stdout.toString('latin1').trim() : undefined;
};

const commitTree = (
  git: GitAt<GitWorktree>,
  { tree, parents }: { tree: string; parents: readonly string[] },
): Promise<string> => {
  const from = parents.flatMap((parent) => ['-p', parent]);
  const args = ['commit-tree', ...from, '-m', 'dossier: set aside', tree];
  return git.text(args, { env: DAEMON });
};
