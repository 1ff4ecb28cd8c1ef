import { randomUUID } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { readOurs, sealedText } from '../consent/seal.ts';
import { ifReadable } from '../front-matter/problem.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import {
  makeSyncedDirectory,
  NOT_SYNCED,
  syncDirectoryNow,
  writePrivateNow,
} from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import { remembered, type Store } from '../store.ts';
import { createGate, type FileGate, type UnsandboxedRun } from './held.ts';

/** The gate, restored from disk at the start: programs of an earlier daemon may still run. */
export const gateOf = remembered(({ layout }): FileGate => {
  const gate = createGate();
  for (const marker of orElse(() => readdirSync(layout.unsandboxed), [])) {
    // Runs name processes that will be ended, so only records of this machine count.
    const run = ifReadable(() => readRun(layout, marker), undefined);
    if (run !== undefined) gate.runs.set(marker, run);
  }
  const { sessions, planning } = readHeld(layout);
  for (const [id, session] of sessions) gate.sessions.set(id, session);
  for (const [id, part] of planning) gate.planning.set(id, part);
  return gate;
});

// A record that is damaged or from elsewhere is ignored; the values in the files then apply.
const readHeld = (layout: Layout): KeptOnDisk =>
  ifReadable(() => readOurs(layout, layout.held, (value) => value as KeptOnDisk), undefined) ??
  NOTHING_HELD;

const NOTHING_HELD: KeptOnDisk = { sessions: [], planning: [] };

const readRun = (layout: Layout, marker: string): UnsandboxedRun | undefined =>
  readOurs(layout, join(layout.unsandboxed, marker), (value) => value as UnsandboxedRun);

interface KeptOnDisk {
  sessions: [string, NonNullable<ReturnType<FileGate['sessions']['get']>>][];
  planning: [string, NonNullable<ReturnType<FileGate['planning']['get']>>][];
}

/** Saves the values in force; on disk when it returns, before a program starts that could overwrite the files. */
export const saveGate = (store: Store): void => {
  const { layout } = store;
  const { sessions, planning } = gateOf(store);
  const kept: KeptOnDisk = { sessions: [...sessions], planning: [...planning] };
  if (sessions.size + planning.size === 0) removeNow(layout.held);
  else writeNow(layout, layout.held, sealedText(layout, layout.held, kept));
};

/** Records a run before its program starts, so that a restarted daemon knows that it may be alive. */
export const noteRun = (layout: Layout, marker: string, run: UnsandboxedRun): void => {
  makeSyncedDirectory(layout.unsandboxed, 0o700, layout.root);
  const path = join(layout.unsandboxed, marker);
  writeNow(layout, path, sealedText(layout, path, run));
};

/** Removes the record of a run that has ended; on disk when it returns, because a leftover record would block later edits. */
export const removeRunRecord = ({ unsandboxed }: Layout, marker: string): void =>
  removeNow(join(unsandboxed, marker));

// Synchronous, because the program starts in the same tick of the event loop.
const writeNow = ({ tmp }: Layout, path: string, text: string): void => {
  const temporary = join(tmp, randomUUID());
  writePrivateNow(temporary, text);
  renameSync(temporary, path);
  syncNames(dirname(path));
};

const removeNow = (path: string): void => {
  unlinkIfThere(path);
  syncNames(dirname(path));
};

const syncNames = (dir: string): void =>
  orElse(() => syncDirectoryNow(dir), undefined, 'ENOENT', ...NOT_SYNCED);
