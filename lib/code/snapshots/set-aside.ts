import { status } from '../../tools/git/read/status.ts';
import type { Git, GitWorktree, RunGit } from '../../tools/git/run/git.ts';
import { onIndexCopy } from '../../tools/git/run/index-file.ts';
import { refOwner } from './owner.ts';

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
  git.turn(worktree.common_dir, async (run) => {
    const staged = await text(run, worktree, ['write-tree']);
    const files = await onIndexCopy({ run }, worktree, async (onCopy) => {
      await onCopy(['add', '--update', '--sparse', '--', '.']);
      return (await onCopy(['write-tree'])).toString('latin1').trim();
    });
    const index = await commitTree(run, worktree, { tree: staged, parents: ['HEAD'] });
    const commit = await commitTree(run, worktree, { tree: files, parents: ['HEAD', index] });
    const ref = `refs/dossier/set-aside/${refOwner(worktree)}${id}`;
    await run(worktree, ['update-ref', ref, commit]);
    await run(worktree, ['reset', '--quiet', '--hard']);
    return { ref, commit };
  });

/**
 * Brings changes back that were set aside, staged ones as staged, onto HEAD as it is now. False, and nothing is touched,
 * when they do not fit, or when there are other changes by now. The ref goes once they are back.
 */
export const bringBack = (git: Git, worktree: GitWorktree, kept: SetAside): Promise<boolean> =>
  git.turn(worktree.common_dir, async (run) => {
    const { files: changed } = await status({ run }, worktree);
    if (changed.some(({ code, repository }) => code !== '??' && !repository)) return false;
    const index = await merged(run, worktree, `${kept.commit}^2`);
    const files = await merged(run, worktree, kept.commit);
    if (index === undefined || files === undefined) return false;
    const fits = await run(worktree, ['read-tree', '-m', '-u', 'HEAD', files], { ok: [0, 128] });
    if (fits.code !== 0) return false;
    await run(worktree, ['read-tree', index]);
    await run(worktree, ['update-index', '-q', '--refresh'], { ok: [0, 1] });
    await run(worktree, ['update-ref', '-d', kept.ref]);
    return true;
  });

// A three-way merge needs a commit whose parent is where the changes were made: one with the files of HEAD.
const merged = async (
  run: RunGit,
  worktree: GitWorktree,
  changes: string,
): Promise<string | undefined> => {
  const here = await commitTree(run, worktree, { tree: 'HEAD^{tree}', parents: [`${changes}^1`] });
  const args = ['merge-tree', '--write-tree', '--no-messages', here, changes];
  const { code, stdout } = await run(worktree, args, { ok: [0, 1] });
  return code === 0 ? stdout.toString('latin1').trim() : undefined;
};

const NAMES = {
  GIT_AUTHOR_NAME: 'Dossier',
  GIT_AUTHOR_EMAIL: 'dossier@localhost',
  GIT_COMMITTER_NAME: 'Dossier',
  GIT_COMMITTER_EMAIL: 'dossier@localhost',
};

const commitTree = (
  run: RunGit,
  worktree: GitWorktree,
  { tree, parents }: { tree: string; parents: readonly string[] },
): Promise<string> => {
  const from = parents.flatMap((parent) => ['-p', parent]);
  return text(run, worktree, ['commit-tree', ...from, '-m', 'dossier: set aside', tree]);
};

const text = async (
  run: RunGit,
  worktree: GitWorktree,
  args: readonly string[],
): Promise<string> => {
  const { stdout } = await run(worktree, args, { read: true, env: NAMES });
  return stdout.toString('latin1').trim();
};
