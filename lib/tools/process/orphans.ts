import { setTimeout as delay } from 'node:timers/promises';
import { isUnknownOrigin } from './caller.ts';
import { processesOf, type Traces } from './process-tree.ts';
import { descendants, hasExited, mayActAsUs, nameOf, readProcesses } from './processes.ts';
import { OWN_LIMIT, runLimit } from './run-limit.ts';
import type { ProcessRun, Runs } from './runs.ts';

/**
 * Removes a run whose program has ended from the table: at once if it has no process left, else when its last process has
 * ended, after reporting them. A process with the lock limit of an unknown run counts as part of this one.
 */
export const removeOnceExited = async (
  runs: Runs,
  run: ProcessRun,
  traces: Traces,
): Promise<void> => {
  const sure = await processesOf(run.marker, traces);
  const left = sure.length > 0 ? sure : await possibleOrphans(runs, run);
  if (left.length === 0) {
    runs.leave(run);
    return;
  }
  runs.tellLeft({ run, sure: sure.length > 0, processes: left.map(nameOf) });
  void (async () => {
    do await delay(LOOK_AGAIN_MS, undefined, { ref: false });
    while ((await remaining(runs, run, traces)) > 0);
    runs.leave(run);
  })();
};

const LOOK_AGAIN_MS = 1000;

const remaining = async (runs: Runs, run: ProcessRun, traces: Traces): Promise<number> =>
  (await processesOf(run.marker, traces)).length + (await possibleOrphans(runs, run)).length;

// A process that lowered its limit further has one of no known run. Excludes processes whose ancestors are older than the
// run and not its reaper, and processes without the operator's rights: both exist while another daemon has runs.
const possibleOrphans = async (runs: Runs, run: ProcessRun): Promise<number[]> => {
  if (run.sandboxed || !run.loopback) return [];
  const rows = await readProcesses();
  const known = new Set([...runs.live].map(({ marker }) => runLimit(marker)));
  const ours = descendants(rows, [process.pid]);
  const found = rows
    .filter((row) => row.limit < OWN_LIMIT && row.started >= run.ticks)
    .filter((row) => !known.has(row.limit) && !ours.has(row.pid) && row.mark === undefined)
    .filter((row) => !hasExited(row) && mayActAsUs(row.pid));
  const reaper = found.length > 0 ? await runs.reaper() : undefined;
  const daemons = [{ pid: process.pid, reaper: reaper ?? 0, since: run.ticks }];
  return found
    .filter((row) => reaper === undefined || isUnknownOrigin(row, rows, { daemons }))
    .map(({ pid }) => pid);
};
