import { baselineOwners, readBaseline } from '../../../store/sessions/baselines.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { tracesOf } from '../../code/worktrees/read.ts';
import type { WithLog } from '../../log.ts';
import { killRun } from '../../tools/process/process-tree.ts';
import { undoInterrupted } from '../sessions/turns/baseline.ts';
import { turnOfPlanning } from './turn.ts';

/**
 * What a former life of the daemon left of an agent that planned: its processes are ended, and the worktree is compared
 * with how it was. Its lock is freed with those of other operations.
 */
export const recoverPlanning = async (service: GitNeeds & WithLog): Promise<void> => {
  for (const caseId of baselineOwners(service.store.layout)) {
    await recover(service, caseId).catch((error: unknown) =>
      service.log.error({ err: error, case_id: caseId }, 'An agent that planned left something'),
    );
  }
};

const recover = async (service: GitNeeds & WithLog, case_id: string): Promise<void> => {
  const baseline = readBaseline(service.store.layout, case_id);
  if (baseline?.planning !== true) return;
  const { session_id: id } = baseline;
  await killRun(id, tracesOf(service.store, case_id));
  const violation = await undoInterrupted(
    service,
    turnOfPlanning(service.log, { case_id, id, provider: '' }),
  );
  if (violation !== undefined) service.log.warn({ case_id }, violation);
};
