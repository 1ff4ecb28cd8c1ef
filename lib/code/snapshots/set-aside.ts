import { ServiceError } from '../../errors.ts';
import { filesInTheWay, WRITTEN, writtenIn } from '../../tools/git/read/in-the-way.ts';
import { stagedIndex } from '../../tools/git/read/index-stages.ts';
import { RAW } from '../../tools/git/read/raw-diff.ts';
import { commitOf } from '../../tools/git/read/repository.ts';
import { status } from '../../tools/git/read/status.ts';
import type { Git, GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { nulls, onIndexCopy } from '../../tools/git/run/index-copy.ts';
import { pathText } from '../../tools/git/run/path-text.ts';
import { DAEMON } from '../../tools/git/write/commit.ts';
import { refOwner } from './kept-refs.ts';
import { dropSnapshot, type WorktreeSnapshot } from './snapshot.ts';

/** Uncommitted changes as a commit. `bringBack` and `git stash apply` apply them again. */
type SetAside = Pick<WorktreeSnapshot, 'ref' | 'commit'>;

/**
 * Saves the changes of tracked files under a ref, staged and unstaged separately, and removes them from the worktree.
 * Untracked files stay. Throws 409 `uncommitted_changes`, with nothing changed, if one is in the place of a tracked file.
 */
export const setAside = (git: Git, worktree: GitWorktree, id: string): Promise<SetAside> =>
  git.turn(worktree, async (now) => {
    const staged = await now.text(['write-tree']);
    const files = await filesTree(now);
    await refuseReplaced(now, files);
    const index = await commitTree(now, { tree: staged, parents: ['HEAD'] });
    const commit = await commitTree(now, { tree: files, parents: ['HEAD', index] });
    const ref = `refs/dossier/set-aside/${refOwner(worktree)}${id}`;
    await now.run(['update-ref', ref, commit]);
    if ((await filesTree(now)) !== files) {
      await dropSnapshot(now, { ref });
      throw new ServiceError('uncommitted_changes', CHANGED);
    }
    await now.run(['reset', '--quiet', '--hard']);
    return { ref, commit };
  });

const CHANGED =
  'Files of the worktree changed while they were being set aside, so nothing was changed. Try again when no program writes in it.';

/**
 * Throws 409 `uncommitted_changes` if a file that git does not track, ignored or not, is in the place of a file or directory
 * of HEAD: it is in no tree, and to set changes aside puts the former file there.
 */
export const refuseReplaced = async (git: GitAt<GitWorktree>, tree?: string): Promise<void> => {
  const files = tree ?? (await filesTree(git));
  const written = writtenIn(await git.names(['diff-tree', ...WRITTEN, files, 'HEAD', '--']));
  const lost = (await filesInTheWay(git, written)).map(pathText);
  if (lost.length === 0) return;
  const [is, it] = lost.length === 1 ? ['is', 'it'] : ['are', 'them'];
  throw new ServiceError(
    'uncommitted_changes',
    `${lost.slice(0, 5).join(', ')} ${is} untracked in the place of a file or directory of the last commit, so a rebase would lose ${it}. Move ${it} out of the worktree, then try again.`,
    { members: { files: lost } },
  );
};

/**
 * Applies changes that were set aside to the current HEAD, staged ones as staged, and deletes their ref. Returns false
 * if they conflict: they are then in the files with conflict markers, and the ref is kept. Throws 409
 * `uncommitted_changes`, with nothing changed, if other changes or untracked files are in the way.
 */
export const bringBack = (git: Git, worktree: GitWorktree, kept: SetAside): Promise<boolean> =>
  git.turn(worktree, async (now) => {
    const tree = await merged(now, kept.commit);
    const changed = await changedFiles(now);
    if (changed.length > 0) {
      // The ref is deleted last: without it, an earlier call was complete.
      if ((await commitOf(now, kept.ref)) === undefined) return true;
      if (tree !== (await filesTree(now))) throw inTheWay(changed);
    } else if (!(await applied(now, kept, tree))) return false;
    await stageAsBefore(now, kept);
    return true;
  });

/** Ends a conflict of `bringBack` once its files are resolved: what was staged is staged, and the ref is deleted. */
export const settle = (git: Git, worktree: GitWorktree, kept: SetAside): Promise<void> =>
  git.turn(worktree, (now) => stageAsBefore(now, kept));

const changedFiles = async (git: GitAt<GitWorktree>): Promise<string[]> => {
  const { files } = await status(git);
  return files
    .filter(({ code, repository }) => code !== '??' && !repository)
    .map(({ path }) => path);
};

const inTheWay = (paths: readonly string[]): ServiceError =>
  new ServiceError(
    'uncommitted_changes',
    `${paths.slice(0, 5).join(', ')} changed since the rebase, so the changes that were set aside cannot be restored. Commit or undo the new changes, then apply again.`,
    { members: { files: paths.slice(0, 100) } },
  );

// `git stash apply` writes the index last: unmerged entries prove that all files are written.
const applied = async (
  git: GitAt<GitWorktree>,
  { commit }: SetAside,
  tree: string | undefined,
): Promise<boolean> => {
  await refuseObstacles(git, commit);
  const args =
    tree === undefined
      ? ['stash', 'apply', '--quiet', commit]
      : ['read-tree', '-m', '-u', 'HEAD', tree];
  const { code, stderr } = await git.run(args, { ok: [0, 1, 128] });
  if (code === 0) return true;
  if ((await git.names(['ls-files', '--unmerged', '-z'])).length > 0) return false;
  throw notRestored(stderr.trim().slice(0, 500));
};

// git refuses to overwrite an untracked file, and overwrites an ignored one that was created since.
const refuseObstacles = async (git: GitAt<GitWorktree>, commit: string): Promise<void> => {
  const args = ['diff-tree', ...RAW, '--diff-filter=d', `${commit}^1`, commit, '--'];
  const found = await filesInTheWay(git, writtenIn(await git.names(args)));
  if (found.length === 0) return;
  throw notRestored(`${found.slice(0, 5).map(pathText).join(', ')} would be overwritten.`);
};

const notRestored = (why: string): ServiceError =>
  new ServiceError(
    'uncommitted_changes',
    `The changes that were set aside cannot be restored: ${why} Move these files away, then apply again.`,
  );

// Staged changes that conflict cannot be staged as they were, so their files are staged as they are on disk.
const stageAsBefore = async (git: GitAt<GitWorktree>, kept: SetAside): Promise<void> => {
  const index = await merged(git, `${kept.commit}^2`);
  await git.run(['read-tree', index ?? 'HEAD']);
  if (index === undefined) {
    const range = [`${kept.commit}^1`, `${kept.commit}^2`];
    const names = await git.names(['diff-tree', '-r', '-z', '--name-only', ...range, '--']);
    const input = nulls(names);
    await git.run(['update-index', '--add', '--remove', '-z', '--stdin'], { input });
  }
  await git.run(['update-index', '-q', '--refresh'], { ok: [0, 1] });
  await dropSnapshot(git, kept);
};

// `merge-tree` needs a merge base: a commit with the files of HEAD on top of the commit that the changes are based on.
const merged = async (git: GitAt<GitWorktree>, changes: string): Promise<string | undefined> => {
  const here = await commitTree(git, { tree: 'HEAD^{tree}', parents: [`${changes}^1`] });
  const args = ['merge-tree', '--write-tree', '--no-messages', here, changes];
  const { code, stdout } = await git.run(args, { ok: [0, 1] });
  return code === 0 ? stdout.toString('latin1').trim() : undefined;
};

// The tracked files as they are on disk.
const filesTree = async (git: GitAt<GitWorktree>): Promise<string> => {
  const { said } = await stagedIndex(git);
  return onIndexCopy(git, said.stages, async (copy) => {
    await copy.run(['add', '--update', '--sparse', '--', '.']);
    return copy.text(['write-tree']);
  });
};

const commitTree = (
  git: GitAt<GitWorktree>,
  { tree, parents }: { tree: string; parents: readonly string[] },
): Promise<string> => {
  const from = parents.flatMap((parent) => ['-p', parent]);
  const args = ['commit-tree', ...from, '-m', 'dossier: set aside', tree];
  return git.text(args, { env: DAEMON });
};
