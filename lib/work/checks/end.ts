import { fenceOff } from '../../../store/base/text.ts';
import { visible } from '../../../store/base/visible.ts';
import { updateProof } from '../../../store/cases/proofs.ts';
import { proofsOf } from '../../../store/reconcile/item.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import type { CheckRun, Proof, ProofMatter } from '../../../store/records/proof.ts';
import { listHeldLocks } from '../../../store/sessions/locks.ts';
import { isRunMarker } from '../../../store/sessions/run-marker.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { tracesOf } from '../../code/worktrees/read.ts';
import { invalidState } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import { killRun } from '../../tools/process/process-tree.ts';
import { getProof } from '../proof/attach.ts';
import { stopLive } from '../sessions/live/engine.ts';
import type { SessionNeeds } from '../sessions/live/needs.ts';

/**
 * Ends the processes of checks of the previous daemon and marks the checks as interrupted. Held locks identify them; the
 * locks are released with those of other operations.
 */
export const recoverChecks = async (service: WithLog & WithStore): Promise<void> => {
  for (const { case_id } of listHeldLocks(service.store))
    await recover(service, case_id).catch((error: unknown) =>
      service.log.error({ err: error, case_id }, 'marking an interrupted check failed'),
    );
};

const recover = async ({ store }: WithStore, case_id: string): Promise<void> => {
  const item = itemOf(store, case_id);
  if (item === undefined) return;
  for (const { file } of proofsOf(item)) {
    const { id, run, run_marker } = file.matter;
    if (run?.status !== 'running') continue;
    // A proof that git brought may name processes of another workspace.
    if (run_marker != null && isRunMarker(store.layout, id, run_marker))
      await killRun(run_marker, tracesOf(store, case_id));
    const ended: CheckRun = {
      ...run,
      status: 'interrupted',
      ended_at: store.clock().toISOString(),
    };
    await storeResult(store, { case_id, id }, ended, '');
  }
};

/** Writes the result of a check into its proof, unless that was removed meanwhile. */
export const storeResult = async (
  store: Store,
  { case_id, id }: Pick<Proof, 'case_id' | 'id'>,
  run: CheckRun,
  output: string,
): Promise<void> => {
  const rule = (current: ProofMatter) =>
    current.run?.status === 'running'
      ? { run, run_marker: null, content: visible(evidenceText(run, output)) }
      : undefined;
  await updateProof(store, case_id, id, { rule });
};

/** The text of a check that the operator reads and verifies: its result in one sentence, then the whole output. */
export const evidenceText = (run: CheckRun, output: string): string =>
  [
    sentence(run),
    ...(run.changed_tests.length === 0
      ? []
      : [`Test files that the work changed: ${run.changed_tests.map(quoted).join(', ')}`]),
    ...(run.changed_tree === true ? [CHANGED] : []),
    fenceOff(`$ ${run.command}\n${output}`, 'text'),
  ].join('\n\n');

const quoted = (path: string): string => `\`${path}\``;

const CHANGED =
  'Files of the worktree changed while the check was running, so it does not prove the current files. Run it again.';

const sentence = ({ command, status, exit_code, attempt }: CheckRun): string => {
  const which = `\`${command.split('\n', 1)[0]}\``;
  const exit = exit_code === null ? '' : ` (exit ${exit_code})`;
  return {
    running: `${which} is running.`,
    passed: `${which} passed on run ${attempt}${exit}.`,
    failed: `${which} failed on run ${attempt}${exit}.`,
    aborted: `${which} was aborted. It proves nothing.`,
    interrupted: `${which} was interrupted because the daemon ended. It proves nothing.`,
  }[status];
};

/**
 * Aborts a running check and returns its record. None of its processes is alive then. Throws 422 where it is not
 * running.
 */
export const abortCheck = async (
  service: SessionNeeds,
  caseId: string,
  id: string,
): Promise<Proof> => {
  const { proof } = await getProof(service.store, caseId, id);
  const live = service.engine.live.get(id);
  if (live === undefined) throw invalidState(notRunning(proof));
  await stopLive(live);
  return (await getProof(service.store, caseId, id)).proof;
};

const notRunning = ({ run }: Proof): string => {
  if (run === undefined) return 'This proof was not made by a check, so there is nothing to abort.';
  return run.status === 'running'
    ? 'The check is not running on this machine. Delete its proof if it is no longer needed.'
    : `The check has already ended: it is ${run.status}.`;
};
