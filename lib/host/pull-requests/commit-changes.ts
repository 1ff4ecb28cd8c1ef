import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { readDiff } from '../../../store/sessions/session-texts.ts';
import { type StoredSession, sessionsOf, whereIs } from '../../../store/sessions/sessions.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { ServiceError } from '../../errors.ts';
import type { WorktreeStatus } from '../../tools/git/read/status.ts';
import { type CommittedAll, commitAll, isCommittable } from '../../tools/git/write/commit-files.ts';
import { asOneLine } from '../../work/cases/text.ts';
import { diffOf } from '../../work/sessions/turns/wrap-up.ts';

/** What becomes of changes that are not committed; without a word only those of a completed session are committed. */
export type WithChanges = 'commit' | 'leave';

interface Wanted {
  status: WorktreeStatus;
  changes: WithChanges | undefined;
  /** The first line of the commit's message, whoever wrote it. */
  title: string;
}

/**
 * What a completed session left uncommitted, as `worktrees.commit: never` has it, becomes a commit in the operator's name.
 * Exactly that needs no further word; what anybody changed since is 409 `uncommitted_changes`.
 */
export const commitChanges = async (
  service: GitNeeds,
  worktree: WorktreeRecord,
  { status, changes, title }: Wanted,
): Promise<CommittedAll | undefined> => {
  const files = status.files.filter(isCommittable).map(({ path }) => path);
  if (files.length === 0 || changes === 'leave') return undefined;
  const session = await sessionBehind(service, worktree);
  if (session === undefined && changes !== 'commit') throw notOfSession(worktree, files);
  const { case_id } = worktree;
  const lines = [`Work item: ${case_id}`, ...(session === undefined ? [] : [ofSession(session)])];
  return commitAll(service.git, worktree, `${subjectOf(title)}\n\n${lines.join('\n')}`);
};

const MOST_CHARACTERS = 300;

// The host's word for a title: more lines would be a message of its own, and no NUL gets through to git.
const subjectOf = (title: string): string =>
  [...asOneLine(title)].slice(0, MOST_CHARACTERS).join('');

const ofSession = ({ session: { id, plan_sha256 } }: StoredSession): string =>
  `Session: ${id}\nApproved plan: ${plan_sha256 ?? 'unknown'}`;

/** The newest session that completed its work, if the worktree holds what it left, to the byte. */
const sessionBehind = async (
  service: GitNeeds,
  { case_id }: WorktreeRecord,
): Promise<StoredSession | undefined> => {
  const { store } = service;
  const newest = (sessionsOf(store, case_id) ?? []).findLast(
    ({ session: { status, mode } }) => status === 'completed' && mode === 'work',
  );
  const left = newest && readDiff(store, whereIs(store, newest));
  if (newest === undefined || left === undefined) return undefined;
  return left.equals((await diffOf(service, newest)).patch) ? newest : undefined;
};

const notOfSession = ({ path }: WorktreeRecord, files: readonly string[]): ServiceError =>
  new ServiceError(
    'uncommitted_changes',
    `${files.slice(0, 5).join(', ')} ${files.length === 1 ? 'is' : 'are'} changed and not committed, and not as the last completed session left the worktree. Look at it in ${path}; then send {"changes": "commit"} to have all of it committed, or {"changes": "leave"} to go without it.`,
    { members: { files: files.slice(0, 100) } },
  );
