import { join } from 'node:path';
import { lockOn } from '../base/locks.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { statsAt } from '../fs/plain-path.ts';
import { isGateShut, type UnsandboxedRun } from '../held/held.ts';
import { gateOf, noteRun, removeRunNote } from '../held/held-file.ts';
import { sessionFile, sessionsDir } from '../layout.ts';
import { allItems } from '../reconcile/items.ts';
import { sweepWorkspace } from '../reconcile/sweep.ts';
import { isEnded } from '../records/session.ts';
import { clearHeld, foundOf, keepAll, sessionKey } from '../sessions/held-sessions.ts';
import { closeBook } from '../settings/globals.ts';
import type { Store } from '../store.ts';
import { lookAtWaiting } from './pending.ts';

/**
 * A program is about to start that no sandbox holds. From when this returns until it is known to be gone, over restarts
 * too, what files say in the operator's place waits. Throws where that cannot be noted: then nothing may start.
 */
export const unsandboxedStarts = (store: Store, marker: string, dir?: string): void => {
  const { layout, clock } = store;
  const gate = gateOf(store);
  if (gate.runs.has(marker)) return;
  const run = { started_at: clock().toISOString(), ...(dir !== undefined && { dir }) };
  // First what holds: a run that is known, beside nothing that is kept, would have all that stands there wait.
  if (!isGateShut(gate)) {
    clearHeld(store);
    keepAll(store);
  }
  noteRun(layout, marker, run);
  gate.runs.set(marker, run);
  closeBook(store, true);
};

/** Nothing of it is alive. What it wrote last is looked at before anything by file holds again. */
export const unsandboxedEnded = (store: Store, marker: string): Promise<void> =>
  store.locks.take(lockOn.unsandboxed(), async () => {
    const gate = gateOf(store);
    if (!gate.runs.has(marker)) return;
    if (gate.runs.size === 1) await lookAtAll(store);
    gate.runs.delete(marker);
    closeBook(store, isGateShut(gate));
    removeRunNote(store.layout, marker);
    lookAtWaiting(store);
  });

const lookAtAll = async (store: Store): Promise<void> => {
  await sweepWorkspace(store);
  keepForgedSessions(store);
  lookAtWaiting(store);
};

// A session that was made by file, and that the daemon never began, is over until the operator says otherwise.
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
  const found = foundOf(store, case_id, key);
  if (found === undefined || isEnded(found.matter.status)) return;
  if ((found.matter.machine ?? store.machine) !== store.machine) return;
  const matter = { holds: { ...found.matter, status: 'aborted' as const } };
  const [plan, comments] = [{ holds: found.plan }, { holds: found.comments }];
  const kept = { id: found.matter.id, case_id, matter, plan, comments };
  gateOf(store).sessions.set(key, kept);
};

/** The runs that are not known to be gone, those of a former life among them, by their marks. */
export const unsandboxedRuns = (store: Store): [string, UnsandboxedRun][] => [
  ...gateOf(store).runs,
];
