import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { CurrentStatus, WorktreeHealth } from '../../../../store/records/worktree-status.ts';
import { readLock } from '../../../../store/sessions/locks.ts';
import type { WithStore } from '../../../../store/store.ts';
import { pathKind, readWorktree, withWorktreeLock } from '../../../../store/worktrees/worktrees.ts';
import { ServiceError } from '../../../errors.ts';
import { commitNamed, distance, isOfHead } from '../../../tools/git/read/base.ts';
import { status, type WorktreeStatus } from '../../../tools/git/read/status.ts';
import {
  findSubmoduleWork,
  mayHaveSubmodules,
  type SubmoduleWork,
} from '../../../tools/git/read/submodules.ts';
import { GitError } from '../../../tools/git/run/error.ts';
import type { Git, WithGit } from '../../../tools/git/run/git.ts';
import { isTampered } from '../../../tools/git/write/worktree.ts';
import { checkCase, getWorktree, worktreeOf } from '../read.ts';

/** The worktree's record with its current status. 404 without a worktree. */
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

// Without submodules no git process is started.
const inSubmodules = async (
  git: Git,
  record: WorktreeRecord,
): Promise<{ submodules?: SubmoduleWork[] }> => {
  if (!(await mayHaveSubmodules(record))) return {};
  const submodules = await findSubmoduleWork(git.at(record), record.base_commit);
  return submodules.length === 0 ? {} : { submodules };
};

/** The state of the worktree and the holder of the session lock; only `exists: false` without a worktree. */
export const worktreeHealth = (
  service: WithGit & WithStore,
  caseId: string,
): Promise<WorktreeHealth> => againOnceGone(service, caseId, () => healthNow(service, caseId));

const healthNow = async (
  { store, git }: WithGit & WithStore,
  caseId: string,
): Promise<WorktreeHealth> => {
  checkCase(store, caseId);
  const record = readWorktree(store, caseId);
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
  const now = await status(git.at(record));
  const { branch, head, rebase_in_progress } = now;
  const distance = await distanceOf(git, record, now);
  const inside = await inSubmodules(git, record);
  const dirty = now.dirty || inside.submodules?.some(({ files }) => files > 0) === true;
  const seen = { branch, head, dirty, uncommitted: now.files.length };
  return { status: state, ...seen, ...distance, rebase_in_progress, ...inside };
};

interface Distance {
  ahead: number | null;
  behind: number | null;
}

const UNKNOWN: Distance = { ahead: null, behind: null };

/** How many commits of the base the branch of a worktree does not have; null if unknown, as without its directory. */
export const newInBase = async (git: Git, record: WorktreeRecord): Promise<number | null> => {
  if ((await stateOf(record)) !== 'ok') return null;
  const head = await commitNamed(git.at(record), 'HEAD');
  return head === undefined ? null : (await distanceFromBase(git, record, head)).behind;
};

// From the upstream, as `git status` reports it; from the base if the branch was never pushed.
const distanceOf = async (
  git: Git,
  record: WorktreeRecord,
  { upstream, ahead, behind, head }: WorktreeStatus,
): Promise<Distance & { new_in_base: number | null }> => {
  const fromBase = head === null ? UNKNOWN : await distanceFromBase(git, record, head);
  const distance = upstream === null ? fromBase : { ahead, behind };
  return { ...distance, new_in_base: fromBase.behind };
};

const distanceFromBase = async (
  git: Git,
  { base, base_commit, ...place }: WorktreeRecord,
  head: string,
): Promise<Distance> => {
  // A base such as `HEAD` means another commit in the worktree than where it was resolved.
  const from = isOfHead(base) ? base_commit : await commitNamed(git.at(place), base);
  return (from && (await distance(git.at(place), head, from))) || UNKNOWN;
};

// git fails if the worktree is removed meanwhile: read again under the lock of the worktree.
const againOnceGone = async <T>(
  { store }: WithStore,
  caseId: string,
  read: () => Promise<T>,
): Promise<T> => {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && !isOfGit(error)) throw error;
    return withWorktreeLock(store, caseId, read);
  }
};

// Files of git are also read without git, so the cause may be any GitError.
const isOfGit = ({ code, cause }: ServiceError): boolean =>
  code === 'git_failed' || cause instanceof GitError;

type WorktreeState = 'ok' | 'missing' | 'tampered';

/**
 * Compares the worktree with its record. `tampered`: the directory was replaced, is behind a link, or its `.git` file
 * disagrees with git's record.
 */
export const stateOf = async (record: WorktreeRecord): Promise<WorktreeState> => {
  const found = pathKind(record.path);
  if (found === 'nothing') return 'missing';
  return found === 'else' || (await isTampered(record)) ? 'tampered' : 'ok';
};

/** The message for a worktree that is missing or tampered. The daemon never repairs one silently. */
export const adviceFor = (
  { case_id, path, branch }: WorktreeRecord,
  state: Exclude<WorktreeState, 'ok'>,
): string =>
  state === 'missing'
    ? `The worktree ${path} is missing. Put it back; or remove its record (dossier worktrees rm ${case_id.slice(0, 8)} --force, or DELETE /api/cases/${case_id}/worktree?force=true), then start again: the branch ${branch} keeps its commits.`
    : `${path} is not the worktree that the daemon created: the directory, its .git file or git's record of it was changed. Repair it (git worktree repair) or move it away, then try again.`;

/** Throws 409 `worktree_missing` or `worktree_tampered`. */
export const checkState = async (record: WorktreeRecord): Promise<void> => {
  const state = await stateOf(record);
  if (state === 'ok') return;
  throw new ServiceError(`worktree_${state}`, adviceFor(record, state));
};
