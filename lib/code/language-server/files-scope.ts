import type { Tree } from '../../../store/fs/worktree/folder.ts';
import type { WithStore } from '../../../store/store.ts';
import type { WithConfig } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import { requireWorktree } from '../editor/open-worktree.ts';
import { treeOfProject } from '../editor/project-files.ts';
import { treeOf } from '../worktrees/read.ts';

/** The files of a Work item or of a project; exactly one is set. */
export interface FilesScope {
  case_id?: string | undefined;
  project_id?: string | undefined;
}

/** The file tree of a Work item's worktree or a project's checkout. 404 if there is none, 400 unless exactly one is set. */
export const treeIn = async (
  service: WithConfig & WithGit & WithStore,
  scope: FilesScope,
): Promise<Tree> => {
  const { case_id, project_id } = scope;
  if ((case_id === undefined) === (project_id === undefined))
    throw new ServiceError(
      'bad_request',
      'Set exactly one: case_id for the worktree of a Work item, or project_id for a project.',
    );
  if (case_id !== undefined)
    return treeOf(service.store, await requireWorktree(service.store, case_id));
  return treeOfProject(service, project_id ?? 'default');
};
