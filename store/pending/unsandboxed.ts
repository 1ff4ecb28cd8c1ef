import { join } from 'node:path';
import { isDone } from '../base/attempt.ts';
import { lockOn } from '../base/locks.ts';
import { trustCommandFor } from '../base/text.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { statsAt } from '../fs/plain-path.ts';
import { isGateShut, type UnsandboxedRun } from '../held/held.ts';
import { gateOf, noteRun, removeRunRecord } from '../held/held-file.ts';
import { sessionFile, sessionsDir } from '../layout.ts';
import { allItems, notifyItemChanged } from '../reconcile/items.ts';
import { sweepWorkspace } from '../reconcile/sweep.ts';
import { isEnded } from '../records/session.ts';
import {
  keepHeldValues,
  readHeldSession,
  sessionKey,
  settleHeld,
} from '../sessions/held-sessions.ts';
import { setTrustClosed } from '../settings/globals.ts';
import type { Store } from '../store.ts';
import { refreshPending } from './pending.ts';

/**
 * Call before a program starts without a sandbox. From then until the program is known to have ended, across restarts,
 * decisions that files claim are held. Throws if that cannot be recorded; then the program must not start.
 */
export const unsandboxedStarts = (store: Store, marker: string, dir?: string): void => {
  const { layout, clock } = store;
  const gate = gateOf(store);
  if (gate.runs.has(marker)) return;
  const run = { started_at: clock().toISOString(), ...(dir !== undefined && { dir }) };
  // Saved first: with a recorded run and no saved values, all present values would be held.
  if (!isGateShut(gate)) {
    settleHeld(store);
    keepHeldValues(store);
  }
  try {
    noteRun(layout, marker, run);
  } catch (error) {
    // The program does not start. With its record left, what the daemon writes now would be held after a restart.
    isDone(() => removeRunRecord(layout, marker));
    throw error;
  }
  gate.runs.set(marker, run);
  setTrustClosed(store, true);
};

/** Call after all processes of the program ended. Its last writes are read before changes by file count again. */
export const unsandboxedEnded = (store: Store, marker: string): Promise<void> =>
  store.locks.take(lockOn.unsandboxed(), async () => {
    const gate = gateOf(store);
    if (!gate.runs.has(marker)) return;
    if (gate.runs.size === 1) await readAll(store);
    gate.runs.delete(marker);
    setTrustClosed(store, isGateShut(gate));
    removeRunRecord(store.layout, marker);
    refreshPending(store);
  });

const readAll = async (store: Store): Promise<void> => {
  await sweepWorkspace(store);
  keepForgedSessions(store);
  refreshPending(store);
};

// A session that appeared counts as aborted until the operator confirms it, and as paused if this machine knows it: it may
// have come back with another branch.
const keepForgedSessions = (store: Store): void => {
  const gate = gateOf(store);
  const since = Math.min(...[...gate.runs.values()].map((run) => Date.parse(run.started_at)));
  for (const { id, dir } of allItems(store)) {
    const folder = sessionsDir(join(store.layout.root, dir));
    for (const name of listDirectory(folder)) {
      const isYoung = (statsAt(sessionFile(join(folder, name)))?.ctimeMs ?? 0) >= since;
      if (isYoung && !gate.sessions.has(sessionKey(name))) keepForged(store, id, sessionKey(name));
    }
  }
};

const keepForged = (store: Store, case_id: string, key: string): void => {
  const found = readHeldSession(store, case_id, key);
  if (found === undefined || isEnded(found.matter.status)) return;
  if ((found.matter.machine ?? store.machine) !== store.machine) return;
  const isKnown = store.journal.runs.get(found.matter.id)?.case_id === case_id;
  const stopped = isKnown
    ? { status: 'paused' as const, error: returned(store) }
    : { status: 'aborted' as const };
  const matter = { holds: { ...found.matter, ...stopped } };
  const [plan, comments] = [{ holds: found.plan }, { holds: found.comments }];
  const kept = { id: found.matter.id, case_id, matter, plan, comments };
  gateOf(store).sessions.set(key, kept);
  if (isKnown) notifyItemChanged(store, case_id);
};

const returned = ({ layout }: Store): string =>
  `The directory of the session came back while a program ran without a sandbox. Confirm its record with \`${trustCommandFor(layout)}\`, or resume it.`;

/** The unsandboxed runs that may still be alive, including those of an earlier daemon, by their markers. */
export const unsandboxedRuns = (store: Store): [string, UnsandboxedRun][] => [
  ...gateOf(store).runs,
];
