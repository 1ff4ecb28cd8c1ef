import { deleteCase as dropCase } from '../../../store/cases.ts';
import { removeForDeletedCase } from '../../code/worktrees/keep/remove.ts';
import type { WorktreeNeeds } from '../../code/worktrees/needs.ts';
import { notFound, ServiceError } from '../../errors.ts';
import { getCase } from './read.ts';

/** Removes a Work item for good, with its own worktree. Refuses while a session runs, or when work would be lost. */
export const removeCase = async (
  service: WorktreeNeeds,
  id: string,
  { force, ifMatch }: { force: boolean; ifMatch: string | undefined },
): Promise<undefined> => {
  const { etag } = await getCase(service.store, id);
  // Asked before the worktree goes: what was changed meanwhile keeps everything.
  if (ifMatch !== undefined && ifMatch !== etag) throw changedSince();
  await removeForDeletedCase(service, id, force);
  if (!(await dropCase(service.store, id, ifMatch))) throw notFound('Work item', id);
};

const changedSince = (): ServiceError =>
  new ServiceError(
    'precondition_failed',
    'The Work item changed since you read it. Read it again and decide anew; nothing was removed.',
  );
