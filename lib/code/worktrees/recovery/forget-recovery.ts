import { readyToWrite } from '../../../../store/store.ts';
import { inWorktreeTurn, removeRecovered } from '../../../../store/worktrees/worktrees.ts';
import type { ProjectNeeds } from '../../projects/needs.ts';
import { dropRefs } from '../../snapshots/kept-states.ts';
import { findRecovery } from './recoveries.ts';

/** Lets go of what was kept: the ref, and the patch beside the records. Only the operator asks for it; 404 for none. */
export const forgetRecovery = (service: ProjectNeeds, caseId: string, id: string): Promise<void> =>
  inWorktreeTurn(service.store, caseId, async () => {
    const { recovery, place } = await findRecovery(service, caseId, id);
    await readyToWrite(service.store);
    if (recovery.ref !== null) await dropRefs(service.git.at(place), recovery.ref);
    if (recovery.patch !== null) await removeRecovered(service.store, recovery.patch);
  });
