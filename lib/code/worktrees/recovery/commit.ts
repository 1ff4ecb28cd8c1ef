import { messageOf } from '../../../../store/base/attempt.ts';
import { shellQuoted } from '../../../../store/base/text.ts';
import type { LeftOut, WorkCommit } from '../../../../store/records/work-commit.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { commitOf } from '../../../tools/git/read/repository.ts';
import { unfilteredFiles } from '../../../tools/git/read/required-filters.ts';
import { type FileStatus, readStatus } from '../../../tools/git/read/status.ts';
import type { Git, GitAt } from '../../../tools/git/run/git.ts';
import { pathText, utf8Path } from '../../../tools/git/run/path-text.ts';
import { operationInProgress } from '../../../tools/git/write/commit.ts';
import {
  chooseFiles,
  commitFiles,
  type FilesCommit,
  filesToCommit,
} from '../../../tools/git/write/commit-files.ts';
import { readRefLog } from '../../../tools/git/write/ref-log.ts';
import { changedSince, changedSinceStart } from '../../snapshots/work-start.ts';

interface CommitOptions {
  message: string;
  /** Commit only what changed since work began (`keepWorkStart`). */
  isSince: boolean;
}

/**
 * Commits the changes of a worktree on its branch, without untracked files that are excluded by name or size, and without
 * files that need a filter of the repository. Undefined if there is nothing to commit. Never rejects: a failure is in the
 * result, with a command to commit by hand.
 */
export const commitWorktree = async (
  git: Git,
  worktree: WorktreeRecord,
  { message, isSince }: CommitOptions,
): Promise<WorkCommit | undefined> => {
  try {
    return await git.turn(worktree, async (now) => {
      const wanted = await wantedOf(now, isSince);
      const { paths, left_out } = wanted;
      if (paths.length === 0 && left_out.length === 0) return undefined;
      if (paths.length === 0) return notCommitted({ ...wanted, head: null });
      const reason = await whyUncommitted(now, wanted);
      if (reason !== undefined) return { ...notCommitted(wanted), reason };
      return await committed(now, wanted, { message, isSince });
    });
  } catch (error) {
    return { id: null, files: 0, left_out: [], reason: messageOf(error) };
  }
};

/** What would be committed now, and is not. Undefined if there is nothing, or git cannot tell. */
export const uncommittedWork = async (
  git: Git,
  worktree: WorktreeRecord,
  { isSince }: Pick<CommitOptions, 'isSince'>,
): Promise<WorkCommit | undefined> => {
  try {
    return await git.turn(worktree, async (now) => {
      const wanted = await wantedOf(now, isSince);
      return wanted.paths.length === 0 ? undefined : notCommitted(wanted);
    });
  } catch {
    // It only supplements the record of a session, whose diff reports the error.
    return undefined;
  }
};

const MOST_NAMED = 100;

const notCommitted = ({ paths, left_out, head }: WantedFiles): WorkCommit => ({
  id: null,
  files: paths.length,
  left_out: left_out.slice(0, MOST_NAMED),
  ...(head && { head }),
});

const committed = async (
  now: GitAt<WorktreeRecord>,
  wanted: WantedFiles,
  { message, isSince }: CommitOptions,
): Promise<WorkCommit> => {
  try {
    const { id, refused } = await commitFiles(now, { ...wanted, message });
    const named = refused.map((path) => ({ path: pathText(path), why: 'name' as const }));
    const left_out = [...wanted.left_out, ...named].slice(0, MOST_NAMED);
    return { id, files: wanted.paths.length - refused.length, left_out };
  } catch (error) {
    const { unstaged } = await wantedOf(now, isSince).catch(() => wanted);
    const command = commandFor(now.place.path, unstaged);
    return { ...notCommitted(wanted), reason: messageOf(error), command };
  }
};

// Usually all files are staged by now, unless that failed. Too many names are no command for people.
const commandFor = (directory: string, unstaged: readonly string[]): string => {
  const git = `git -C ${shellQuoted(directory)}`;
  const names = unstaged.flatMap((path) => utf8Path(path) ?? []).map(shellQuoted);
  const words = names.join(' ');
  // Such names are patterns to git.
  const isPattern = unstaged.some((path) => /[*?[\\]|^:/.test(path));
  const add = isPattern ? `${git} --literal-pathspecs add` : `${git} add`;
  if (names.length < unstaged.length || words.length > MOST_CHARACTERS)
    return `${git} commit --all`;
  return words === '' ? `${git} commit` : `${add} --all -- ${words} && ${git} commit`;
};

const MOST_CHARACTERS = 1000;

const whyUncommitted = async (
  now: GitAt<WorktreeRecord>,
  { branch, head }: Pick<WantedFiles, 'branch' | 'head'>,
): Promise<string | undefined> => {
  const reason = operationInProgress(now.place) ?? elsewhere(branch, now.place);
  return reason ?? (head === null ? branchGone(now) : undefined);
};

const elsewhere = (at: string | null, { branch }: WorktreeRecord): string | undefined =>
  at === branch ? undefined : `HEAD is on ${at ?? 'no branch'}, not on ${branch}`;

// A commit here would have no parents.
const branchGone = async (now: GitAt<WorktreeRecord>): Promise<string> => {
  const { path, branch } = now.place;
  const command = `git -C ${shellQuoted(path)} reset --soft ${await lastHead(now)}`;
  return `the branch ${branch} was deleted; \`${command}\` creates it again at its last commit`;
};

// git keeps the log of HEAD when it deletes the branch.
const lastHead = async (now: GitAt<WorktreeRecord>): Promise<string> => {
  const { git_dir, base_commit } = now.place;
  const log = await readRefLog({ git_dir, common_dir: git_dir }, 'HEAD');
  const last = log.findLast(({ to }) => to !== null)?.to ?? base_commit;
  return (await commitOf(now, last)) ?? base_commit;
};

interface WantedFiles extends Omit<FilesCommit, 'message'> {
  branch: string | null;
  /** Null if the branch was deleted. */
  head: string | null;
  left_out: LeftOut[];
}

const wantedOf = async (now: GitAt<WorktreeRecord>, isSince: boolean): Promise<WantedFiles> => {
  const { branch, head, files } = await readStatus(now);
  const since = files.length === 0 ? undefined : await sinceOf(now, { isSince, head });
  const isOlder = ({ path }: FileStatus): boolean => since?.has(path) === false;
  const wanted = files.filter((file) => !isOlder(file));
  const unfiltered = await unfilteredFiles(
    now,
    wanted.map(({ path }) => path),
  );
  const changes = { worktree: now.place, unfiltered, copied: now.place.setup?.copied };
  const { paths, left_out } = await chooseFiles(changes, wanted);
  return { branch, head, left_out, ...filesToCommit(files, paths) };
};

// Without HEAD git reports all files as new.
const sinceOf = async (
  now: GitAt<WorktreeRecord>,
  { isSince, head }: { isSince: boolean; head: string | null },
): Promise<Set<string> | undefined> => {
  if (isSince) return changedSinceStart(now);
  return head === null ? changedSince(now, await lastHead(now)) : undefined;
};
