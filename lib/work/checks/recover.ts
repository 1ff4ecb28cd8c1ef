import { proofsOf } from '../../../store/reconcile/item.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import type { CheckRun } from '../../../store/records/proof.ts';
import { heldLocks } from '../../../store/sessions/locks.ts';
import type { WithStore } from '../../../store/store.ts';
import { tracesOf } from '../../code/worktrees/read.ts';
import type { WithLog } from '../../log.ts';
import { killRun } from '../../tools/process/process-tree.ts';
import { keepEnd } from './run.ts';

/**
 * Ends what checks of a former life of the daemon left running, and says in their records that they were cut off. Their
 * locks, which only this machine has, say whose they are; they are freed with those of other operations.
 */
export const recoverChecks = async (service: WithLog & WithStore): Promise<void> => {
  for (const { case_id } of heldLocks(service.store))
    await recover(service, case_id).catch((error: unknown) =>
      service.log.error({ err: error, case_id }, 'A check that was cut off is not marked so'),
    );
};

const recover = async ({ store }: WithStore, case_id: string): Promise<void> => {
  const item = itemOf(store, case_id);
  if (item === undefined) return;
  for (const { file } of proofsOf(item)) {
    const { id, run, run_marker } = file.matter;
    if (run?.status !== 'running') continue;
    if (run_marker != null) await killRun(run_marker, tracesOf(store, case_id));
    const ended: CheckRun = {
      ...run,
      ...{ status: 'interrupted', ended_at: store.clock().toISOString() },
    };
    await keepEnd(store, { case_id, id }, ended, '');
  }
};
