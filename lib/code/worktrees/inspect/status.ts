import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { CurrentStatus, WorktreeHealth } from '../../../../store/records/worktree-status.ts';
import { readLock } from '../../../../store/sessions/locks.ts';
import type { WithStore } from '../../../../store/store.ts';
import { inWorktreeTurn, whatIsAt } from '../../../../store/worktrees/worktrees.ts';
import { ServiceError } from '../../../errors.ts';
import { status, type WorktreeStatus } from '../../../tools/git/read/status.ts';
import {
  mayHaveSubmodules,
  type SubmoduleWork,
  submoduleWork,
} from '../../../tools/git/read/submodules.ts';
import { GitError } from '../../../tools/git/run/error.ts';
import type { Git, WithGit } from '../../../tools/git/run/git.ts';
import { isTampered } from '../../../tools/git/write/worktree.ts';
import { checkCase, findWorktree, getWorktree, worktreeOf } from '../read.ts';

/** The worktree's record with what is in it now. 404 without one. */
export const worktreeStatus = (
  service: WithGit & WithStore,
  caseId: string,
): Promise<CurrentStatus> => againOnceGone(service, caseId, () => statusNow(service, caseId));

const statusNow = async (
  { store, git }: WithGit & WithStore,
  caseId: string,
): Promise<CurrentStatus> => {
  const record = getWorktree(store, caseId);
  const state = await stateOf(record);
  const known = { ...worktreeOf(record), status: state };
  if (state !== 'ok') return { ...known, detail: adviceFor(record, state) };
  const now = await status(git.at(record));
  const files = now.files.map(({ repository: _, ...file }) => file);
  return { ...known, head: now.head, files, ...(await inSubmodules(git, record)) };
};

// Where there can be none, nothing more is asked.
const inSubmodules = async (
  git: Git,
  record: WorktreeRecord,
): Promise<{ submodules?: SubmoduleWork[] }> => {
  if (!mayHaveSubmodules(record)) return {};
  const submodules = await submoduleWork(git.at(record), record.base_commit);
  return submodules.length === 0 ? {} : { submodules };
};

/** How the worktree is, and who holds the session lock. Without a worktree only that there is none. */
export const worktreeHealth = (
  service: WithGit & WithStore,
  caseId: string,
): Promise<WorktreeHealth> => againOnceGone(service, caseId, () => healthNow(service, caseId));

const healthNow = async (
  { store, git }: WithGit & WithStore,
  caseId: string,
): Promise<WorktreeHealth> => {
  checkCase(store, caseId);
  const record = findWorktree(store, caseId);
  if (record === undefined) return { exists: false };
  const lock = readLock(store, caseId);
  const known = { ...(await gitHealth(git, record)), ...(lock !== undefined && { lock }) };
  return { exists: known.status !== 'missing', ...known };
};

const gitHealth = async (
  git: Git,
  record: WorktreeRecord,
): Promise<Omit<WorktreeHealth, 'exists'>> => {
  const state = await stateOf(record);
  if (state !== 'ok') {
    return { status: state, detail: adviceFor(record, state), branch: record.branch };
  }
  // In the worktree, HEAD is another one than where the base was named.
  const now = await status(git.at(record), /^(HEAD|@)/.test(record.base) ? undefined : record);
  const { branch, head, rebase_in_progress } = now;
  const distance = await distanceOf(git, record, now);
  const inside = await inSubmodules(git, record);
  const dirty = now.dirty || inside.submodules?.some(({ files }) => files > 0) === true;
  return { status: state, branch, head, dirty, ...distance, rebase_in_progress, ...inside };
};

interface Distance {
  ahead: number | null;
  behind: number | null;
}

// As git said it with the status, where it could: from the upstream, or from the base of a branch that was never pushed.
const distanceOf = async (
  git: Git,
  { base, base_commit, ...place }: WorktreeRecord,
  { upstream, ahead, behind, head }: WorktreeStatus,
): Promise<Distance> => {
  if (upstream !== null) return { ahead, behind };
  if (head === null) return { ahead: null, behind: null };
  // In the worktree, HEAD is another one than where the base was named.
  const from = /^(HEAD|@)/.test(base) ? base_commit : base;
  const range = ['--end-of-options', `${from}...${head}`, '--'];
  const args = ['rev-list', '--left-right', '--count', ...range];
  const said = await git.at(place).find(args, { ok: [0, 128] });
  if (said === undefined) return { ahead: null, behind: null };
  const [left = 0, right = 0] = said.split('\t').map(Number);
  return { ahead: right, behind: left };
};

// Git fails in a worktree that is removed under it: what is so is known once that is done.
const againOnceGone = async <T>(
  { store }: WithStore,
  caseId: string,
  read: () => Promise<T>,
): Promise<T> => {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && !isOfGit(error)) throw error;
    return inWorktreeTurn(store, caseId, read);
  }
};

// What git keeps in files is read without it, too.
const isOfGit = ({ code, cause }: ServiceError): boolean =>
  code === 'git_failed' || cause instanceof GitError;

type WorktreeState = 'ok' | 'missing' | 'tampered';

/**
 * Whether what is recorded is there: `tampered` is another directory than the one that was made, or one that a link
 * leads to, or one whose `.git` file no longer says what git's own record says.
 */
export const stateOf = async (record: WorktreeRecord): Promise<WorktreeState> => {
  const found = whatIsAt(record.path);
  if (found === 'nothing') return 'missing';
  return found === 'else' || (await isTampered(record)) ? 'tampered' : 'ok';
};

/** What the operator is told of a worktree that is not as it was made. It is never put right silently. */
export const adviceFor = (
  { case_id, path, branch }: WorktreeRecord,
  state: Exclude<WorktreeState, 'ok'>,
): string =>
  state === 'missing'
    ? `${path} is gone. Put it back, or send DELETE /api/cases/${case_id}/worktree and make a new one: the branch ${branch} keeps its commits.`
    : `${path} is not the worktree that was made: the directory, its .git file or git's record of it was changed. Look at what is there; mend it (git worktree repair) or move it away, then try again.`;

/** Throws 409 unless the worktree is there as it was made. */
export const checkState = async (record: WorktreeRecord): Promise<void> => {
  const state = await stateOf(record);
  if (state === 'ok') return;
  throw new ServiceError(`worktree_${state}`, adviceFor(record, state));
};
