import { relative } from 'node:path';
import { lockOn } from '../../../store/base/locks.ts';
import { isAtOrBelow } from '../../../store/base/paths.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import type { Adopted, AdoptionWish } from '../../../store/records/adoption.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { adoptedConversations, keepAdopted } from '../../../store/sessions/adopted.ts';
import { readyToWrite, type Store } from '../../../store/store.ts';
import { putInto } from '../../code/snapshots/restore.ts';
import { dropSnapshot, snapshot } from '../../code/snapshots/snapshot.ts';
import { attachWorktree } from '../../code/worktrees/create/attach.ts';
import { createWorktree } from '../../code/worktrees/create/create.ts';
import type { WorktreeNeeds } from '../../code/worktrees/needs.ts';
import { worktreeOf } from '../../code/worktrees/read.ts';
import { syncAll } from '../../code/worktrees/recovery/sync-work.ts';
import { badField, ServiceError } from '../../errors.ts';
import { shorten } from '../../text/wording.ts';
import type { Repository } from '../../tools/git/read/repository.ts';
import { createCase, removeCase } from '../../work/cases/change.ts';
import { asOneLine } from '../../work/cases/text.ts';
import { putMemory } from '../../work/memory/memory.ts';
import { listAdoptable, readSession } from './adoptable.ts';

/** The file of a Work item's memory with what came before. */
const ADOPTED_FILE = 'adopted.md';

const LONGEST_TITLE = 200;
const USUAL_TYPE = 'task';

/**
 * Creates a Work item from a conversation with an agent, a worktree, or a branch. Nothing is moved or changed where it was;
 * without its worktree, no Work item is created.
 */
export const adopt = async (service: WorktreeNeeds, wish: AdoptionWish): Promise<Adopted> => {
  const { session, worktree, branch } = wish;
  if ([session, worktree, branch].filter((one) => one !== undefined).length !== 1)
    throw badField('/session', 'must be the only one', 'Send one of session, worktree and branch.');
  await readyToWrite(service.store);
  if (session !== undefined)
    return service.store.locks.take(lockOn.adoption(`${session.agent} ${session.id}`), () =>
      adoptSession(service, wish, session),
    );
  if (worktree !== undefined) return adoptWorktree(service, wish, worktree);
  return adoptBranch(service, wish, branch ?? '');
};

type Session = NonNullable<AdoptionWish['session']>;

const adoptSession = async (
  service: WorktreeNeeds,
  wish: AdoptionWish,
  { agent, id, summary, copy_changes = true }: Session,
): Promise<Adopted> => {
  const { store } = service;
  const { project } = wish;
  refuseAgain(store, { agent, id });
  const read = await readSession(service, { agent, id, project });
  const { found, transcript, checkout, uncommitted } = read;
  const item = await createCase(service, {
    ...named(wish, found.title),
    ...(project !== undefined && { project }),
  });
  const copies = copy_changes && checkout !== undefined && uncommitted > 0;
  const made = await orRemoved(service, item.id, async () => {
    await putMemory(store, item.id, { filename: ADOPTED_FILE, content: summary });
    return copies ? copyChanges(service, item.id, checkout) : undefined;
  });
  const path = await keepAdopted(store, { case_id: item.id, agent, id }, transcript);
  return {
    case_id: item.id,
    title: item.title,
    worktree: made === undefined ? null : worktreeOf(made),
    copied: copies ? uncommitted : 0,
    transcript: relative(store.layout.root, path),
  };
};

const refuseAgain = (store: Store, { agent, id }: Pick<Session, 'agent' | 'id'>): void => {
  const known = adoptedConversations(store).find(
    (one) => one.agent === agent && one.id === id && itemOf(store, one.case_id) !== undefined,
  );
  if (known === undefined) return;
  const message = `This session became the Work item ${known.case_id}. Continue there, or delete it first.`;
  throw new ServiceError('already_exists', message);
};

const named = ({ title, type = USUAL_TYPE, description }: AdoptionWish, otherwise: string) => ({
  title: title ?? shorten(asOneLine(otherwise), LONGEST_TITLE - 2, ' …'),
  type,
  ...(description !== undefined && { description }),
});

const adoptWorktree = async (
  service: WorktreeNeeds,
  wish: AdoptionWish,
  path: string,
): Promise<Adopted> => {
  const { worktrees, project } = await listAdoptable(service, wish.project);
  const known = worktrees.find((one) => one.path === path);
  const item = await createCase(service, { ...named(wish, known?.subject || path), project });
  const made = await orRemoved(service, item.id, () => attachWorktree(service, item.id, { path }));
  return withWorktree(item, made);
};

const adoptBranch = async (
  service: WorktreeNeeds,
  wish: AdoptionWish,
  branch: string,
): Promise<Adopted> => {
  const { branches, project } = await listAdoptable(service, wish.project);
  const known = branches.find(({ name }) => name === branch);
  if (known === undefined) {
    const message = `There is no unmerged branch ${branch} without a worktree. GET /api/adoptable lists such branches.`;
    throw new ServiceError('not_found', message);
  }
  const item = await createCase(service, { ...named(wish, known.subject || branch), project });
  const made = await orRemoved(service, item.id, () =>
    createWorktree(service, item.id, { branch }),
  );
  return withWorktree(item, made);
};

const withWorktree = (
  { id: case_id, title }: { id: string; title: string },
  made: WorktreeRecord,
): Adopted => ({ case_id, title, worktree: worktreeOf(made), copied: 0, transcript: null });

// A Work item that nobody asked for without its work would only be in the way.
const orRemoved = async <T>(
  service: WorktreeNeeds,
  id: string,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    await removeCase(service, id, { force: false, ifMatch: undefined }).catch((why: unknown) =>
      service.log.warn({ err: why, case_id: id }, 'removing the Work item of a failed adoption'),
    );
    throw error;
  }
};

/**
 * Creates a worktree at the commit of a checkout, with its uncommitted and untracked files, index and modes. The checkout stays
 * as it is.
 */
const copyChanges = async (
  service: WorktreeNeeds,
  caseId: string,
  { root: path, git_dir, common_dir }: Repository,
): Promise<WorktreeRecord> => {
  const { git, store } = service;
  if (isAtOrBelow(store.layout.root, path))
    throw refused(
      `The workspace is in ${path}, so changes there cannot be told apart from the workspace's`,
    );
  const from = { path, git_dir, common_dir };
  const state = await snapshot(git, from);
  try {
    const { head, operations, repositories } = state;
    if (head === null) throw refused(`${path} has no commit`);
    if (operations.length > 0) throw refused(`A merge or rebase is in progress in ${path}`);
    if (repositories.length > 0)
      throw refused(`Changes of submodules and nested repositories (${repositories[0]}) stay`);
    const base = state.branch?.replace(/^refs\/heads\//, '') ?? head;
    const record = await createWorktree(service, caseId, { base });
    await putInto(git, record, { ...state, branch: `refs/heads/${record.branch}` });
    await syncAll(service, record);
    return record;
  } finally {
    await dropSnapshot(git.at(from), state);
  }
};

const refused = (why: string): ServiceError =>
  new ServiceError(
    'invalid_state',
    `${why}. Send {"copy_changes": false} to adopt it without them.`,
  );
