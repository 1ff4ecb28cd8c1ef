import { lockOn } from '../../store/base/locks.ts';
import { apart } from '../../store/base/mutex.ts';
import type { UnsandboxedRun } from '../../store/held/held.ts';
import {
  unsandboxedEnded,
  unsandboxedRuns,
  unsandboxedStarts,
} from '../../store/pending/unsandboxed.ts';
import type { Store, WithStore } from '../../store/store.ts';
import type { WithLog } from '../log.ts';
import { killRun } from '../tools/process/process-tree.ts';
import type { Runs } from '../tools/process/runs.ts';

/**
 * From now on what files say in the operator's place waits while a program lives that no sandbox holds. Costs nothing
 * while there is none. The table tells of each before it starts, and that it is gone once nothing of it is alive.
 */
export const followRuns = ({ store, log }: WithLog & WithStore, runs: Runs): void => {
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
      apart(() => unsandboxedEnded(store, marker)).catch((error: unknown) =>
        log.error({ err: error }, 'What files say goes on waiting for the operator'),
      );
    }
  });
};

/** What a former life of the daemon may have left alive that no sandbox holds. Asked before anything new is started. */
export const formerRuns = (store: Store): [string, UnsandboxedRun][] => unsandboxedRuns(store);

/** Ends it. What it changed by file in the operator's place waits. */
export const endFormerRuns = async (
  { store, log }: WithLog & WithStore,
  former: readonly [string, UnsandboxedRun][],
): Promise<void> => {
  for (const [marker, { dir }] of former) {
    const killed = await killRun(marker, dir === undefined ? {} : { dir });
    if (killed > 0) log.warn({ marker, killed }, 'Programs of a former life were ended');
    await unsandboxedEnded(store, marker);
  }
};

/** Resolves when what ended was looked at. */
export const gateAtRest = (store: Store): Promise<void> =>
  store.locks.whenFree(lockOn.unsandboxed());
