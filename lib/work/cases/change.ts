import { meets } from '../../../store/base/names.ts';
import { newId } from '../../../store/base/new-id.ts';
import {
  type CaseRule,
  deleteCase as dropCase,
  insertCase as keepCase,
  readCreatedCase,
  updateCase,
} from '../../../store/cases/cases.ts';
import type { Case, StateName } from '../../../store/records/case.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { readWorktree } from '../../../store/worktrees/worktrees.ts';
import { checkProject, onlyProjectName } from '../../code/projects/project.ts';
import type { WorktreeNeeds } from '../../code/worktrees/needs.ts';
import { removeForDeletedCase } from '../../code/worktrees/recovery/remove.ts';
import type { WithConfig } from '../../config.ts';
import { notFound, orNotFound, ServiceError } from '../../errors.ts';
import { moveTo } from './moves.ts';
import { getCase, type Ready } from './read.ts';
import { checkTexts } from './text.ts';

/**
 * Changes title, type, description or project. The directory keeps its name, and fields that the caller does not send
 * keep their values.
 */
export const changeCase = async (
  service: WithConfig & WithStore,
  id: string,
  change: { title?: string; type?: string; description?: string; project?: string },
  ifMatch?: string,
): Promise<Ready> => {
  const { project, ...others } = change;
  checkTexts({ title: others.title, description: others.description });
  const rule: CaseRule = (current) => {
    if (project === undefined || project === current.project) return others;
    checkProject(service, project);
    refuseMove(service.store, id);
    return change;
  };
  return updateAndServe(service.store, id, rule, ifMatch);
};

// The work is on a branch of the project's repository.
const refuseMove = (store: Store, id: string): void => {
  const worktree = readWorktree(store, id);
  if (worktree === undefined) return;
  throw new ServiceError(
    'already_exists',
    `The Work item has a worktree of ${worktree.repository}: ${worktree.path}. Remove the worktree, then change the project.`,
  );
};

/** The compatibility path: sets any state, without sessions or the proof gate. */
export const setState = (
  store: Store,
  id: string,
  { state, outcome }: { state: StateName; outcome?: string },
  ifMatch?: string,
): Promise<Ready> =>
  updateAndServe(store, id, (current) => moveTo(current, state, outcome), ifMatch);

// The answer is the record as it was read back under the same lock.
const updateAndServe = async (
  store: Store,
  id: string,
  rule: CaseRule,
  ifMatch?: string,
): Promise<Ready> =>
  orNotFound((await updateCase(store, id, rule, ifMatch))?.served, 'Work item', id);

/** Applies a rule of another room under the lock of the Work item. Throws 404. */
export const update = async (store: Store, id: string, rule: CaseRule): Promise<Case> => {
  const changed = orNotFound(await updateCase(store, id, rule), 'Work item', id);
  return changed.record;
};

interface NewCase {
  title: string;
  type: string;
  description?: string;
  project?: string;
}

/**
 * Creates an OPEN Work item in a directory of its own, with further files if given. All of it is on disk when this
 * resolves.
 */
export const createCase = async (
  service: WithConfig & WithStore,
  { title, type, description = '', project = onlyProjectName(service) }: NewCase,
  files: Record<string, string> = {},
): Promise<Case> => {
  checkTexts({ title, description });
  checkProject(service, project);
  const id = newId();
  const known = await readCreatedCase(service.store, id);
  if (known !== undefined) return known;
  const created_at = service.store.clock().toISOString();
  const matter = {
    id,
    title,
    type,
    state: 'OPEN' as const,
    outcome: null,
    ...(project !== undefined && { project }),
    created_at,
  };
  return keepCase(service.store, { matter, description, files });
};

/** Deletes a Work item and its own worktree. Refuses while a session runs, or when work would be lost. */
export const removeCase = async (
  service: WorktreeNeeds,
  id: string,
  { force, ifMatch }: { force: boolean; ifMatch: string | undefined },
): Promise<undefined> => {
  const { etag } = await getCase(service.store, id);
  // Checked before the worktree is removed, so that a changed Work item keeps everything.
  if (!meets(ifMatch, etag)) throw changedSince();
  await removeForDeletedCase(service, id, force);
  if (!(await dropCase(service.store, id, ifMatch))) throw notFound('Work item', id);
};

const changedSince = (): ServiceError =>
  new ServiceError(
    'precondition_failed',
    'The Work item changed since you read it. Nothing was removed. Read it again, then decide.',
  );
