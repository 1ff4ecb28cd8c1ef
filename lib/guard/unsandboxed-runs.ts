import { lockOn } from '../../store/base/locks.ts';
import { withoutLocks } from '../../store/base/mutex.ts';
import type { UnsandboxedRun } from '../../store/held/held.ts';
import { unsandboxedEnded, unsandboxedStarts } from '../../store/pending/unsandboxed.ts';
import type { Store, WithStore } from '../../store/store.ts';
import type { WithLog } from '../log.ts';
import { killRun } from '../tools/process/process-tree.ts';
import type { Runs } from '../tools/process/runs.ts';

/**
 * Follows the table of runs: while an unsandboxed program runs, decisions that files claim are held until the operator
 * confirms them. The table reports each run before it starts and after all its processes have ended.
 */
export const trackUnsandboxedRuns = ({ store, log }: WithLog & WithStore, runs: Runs): void => {
  const noted = new Set<string>();
  runs.follow(() => {
    const open = new Map(
      [...runs.live].flatMap(({ sandboxed, marker, dir }) => (sandboxed ? [] : [[marker, dir]])),
    );
    for (const [marker, dir] of open) {
      if (!noted.has(marker)) unsandboxedStarts(store, marker, dir);
      noted.add(marker);
    }
    for (const marker of noted) {
      if (open.has(marker)) continue;
      noted.delete(marker);
      withoutLocks(() => unsandboxedEnded(store, marker)).catch((error: unknown) =>
        log.error({ err: error }, 'releasing held changes after an unsandboxed run failed'),
      );
    }
  });
};

/** Kills unsandboxed runs that a former daemon process left. Decisions that they wrote to files are held. */
export const endLeftoverRuns = async (
  { store, log }: WithLog & WithStore,
  former: readonly [string, UnsandboxedRun][],
): Promise<void> => {
  for (const [marker, { dir }] of former) {
    const killed = await killRun(marker, dir === undefined ? {} : { dir });
    if (killed > 0) log.warn({ marker, killed }, 'killed programs of a former daemon');
    await unsandboxedEnded(store, marker);
  }
};

/** Resolves when the changes of all ended runs have been checked. */
export const unsandboxedRunsSettled = (store: Store): Promise<void> =>
  store.locks.whenFree(lockOn.unsandboxed());
