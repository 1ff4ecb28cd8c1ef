import type { Service } from '../../service.ts';
import { headCommit } from '../../tools/git/repository.ts';
import { findWorktree } from '../read.ts';

/** The commit that the worktree stands on; undefined without one. Never throws: it only goes with other records. */
export const headOf = async (service: Service, caseId: string): Promise<string | undefined> => {
  try {
    const record = findWorktree(service, caseId);
    return record === undefined ? undefined : await headCommit(service.git, record);
  } catch (error) {
    // What is wrong with a worktree is told by its status; a proof can be attached all the same.
    service.log.debug({ err: error, case_id: caseId }, 'the HEAD of the worktree cannot be read');
    return undefined;
  }
};
