import { baselineOwners, readBaseline } from '../../../store/sessions/baselines.ts';
import type { Service } from '../../service.ts';
import { undoInterrupted } from '../sessions/baseline.ts';
import { tracesOf } from '../sessions/traces.ts';
import { sweep } from '../../tools/process/process-tree.ts';
import { turnOfPlanning } from './turn.ts';

/**
 * What a former life of the daemon left of an agent that planned: its processes are ended, and the worktree is compared
 * with how it was. Its lock is freed with those of other operations.
 */
export const recoverPlanning = async (service: Service): Promise<void> => {
  for (const caseId of baselineOwners(service.store.layout)) {
    await recover(service, caseId).catch((error: unknown) =>
      service.log.error({ err: error, case_id: caseId }, 'An agent that planned left something'),
    );
  }
};

const recover = async (service: Service, case_id: string): Promise<void> => {
  const baseline = readBaseline(service.store.layout, case_id);
  if (baseline?.planning !== true) return;
  const { session_id: id } = baseline;
  await sweep(id, tracesOf(service, case_id));
  const violation = await undoInterrupted(
    service,
    turnOfPlanning(service, { case_id, id, provider: '' }),
  );
  if (violation !== undefined) service.log.warn({ case_id }, violation);
};
