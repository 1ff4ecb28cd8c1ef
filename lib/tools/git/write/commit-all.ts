import { headCommit } from '../read/repository.ts';
import { type FileStatus, parseStatus, STATUS } from '../read/status.ts';
import { DAEMON } from '../run/author.ts';
import type { Git, GitWorktree } from '../run/git.ts';
import { FROM_INPUT, nulls } from '../run/index-file.ts';
import { hasIdentity } from './commit.ts';

export interface CommittedAll {
  commit: string;
  /** How many files it has to do with. */
  files: number;
}

/**
 * Commits all that a worktree holds, staged or not, untracked files too, in the operator's name. Ignored files stay out,
 * and so do repositories that git does not know. No hook runs, nothing is signed. Undefined when there is nothing to commit.
 */
export const commitAll = (
  git: Git,
  worktree: GitWorktree,
  message: string,
): Promise<CommittedAll | undefined> =>
  git.turn(worktree, async (now) => {
    const stdout = await now.read([...STATUS, '--no-renames']);
    const ours = parseStatus(stdout, 'latin1').files.filter(isCommittable);
    if (ours.length === 0) return undefined;
    const env = (await hasIdentity(now)) ? {} : { env: DAEMON };
    const input = nulls(ours.map(({ path }) => path));
    await now.run(['add', '--all', '--sparse', ...FROM_INPUT], { input });
    const args = ['commit', '--quiet', '--cleanup=whitespace', `--message=${message}`];
    await now.run(args, env);
    return { commit: (await headCommit(now)) ?? '', files: ours.length };
  });

/** Whether a changed file can be committed here: a repository that git does not know cannot. */
export const isCommittable = ({ code, repository }: FileStatus): boolean =>
  code !== '??' || !repository;
