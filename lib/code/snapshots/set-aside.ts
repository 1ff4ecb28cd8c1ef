import { status } from '../../tools/git/read/status.ts';
import { DAEMON } from '../../tools/git/run/author.ts';
import type { Git, GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { onIndexCopy } from '../../tools/git/run/index-file.ts';
import { refOwner } from './kept-refs.ts';

/** Uncommitted changes as a commit: git's own `cherry-pick --no-commit` brings it back, and so does `bringBack`. */
interface SetAside {
  ref: string;
  commit: string;
}

/**
 * Keeps the changes of tracked files, and what is staged apart from what is not, under a ref, and takes them out of the
 * worktree. Untracked files stay where they are.
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
 * Brings changes back that were set aside, staged ones as staged, onto HEAD as it is now. False, and nothing is touched,
 * when they do not fit, or when there are other changes by now. The ref goes once they are back.
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

// A three-way merge needs a commit whose parent is where the changes were made: one with the files of HEAD.
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
