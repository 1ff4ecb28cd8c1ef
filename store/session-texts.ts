import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createFile, replaceFile } from './durable.ts';
import { StoreError } from './errors.ts';
import { diffFile, planFile } from './layout.ts';
import { readRegularFile } from './record-file.ts';
import type { Store } from './store.ts';
import { readText, type TextFile, writeText } from './text-file.ts';

const PLAN = 'plan.md';

export const readPlan = ({ layout }: Store, dir: string): TextFile | undefined =>
  readText(layout, dir, PLAN);

/** Writes plan.md; with `ifMatch` only over the plan that was read. */
export const writePlan = async (
  { layout }: Store,
  dir: string,
  content: string,
  ifMatch?: string,
): Promise<void> => {
  checkThere(dir);
  await writeText(layout, { dir, filename: PLAN }, content, ifMatch);
};

// Nothing is written where nobody would find it.
const checkThere = (dir: string): void => {
  if (lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new StoreError(
    'file_busy',
    'The directory of the session was moved or removed a moment ago; try again',
  );
};

const LOOK_AGAIN_MS = 200;

/** Resolves with plan.md once somebody has written something into it. Rejects when aborted. */
export const awaitPlan = async (
  { layout }: Store,
  where: () => string,
  signal: AbortSignal,
): Promise<string> => {
  for (let before = ''; ; ) {
    const text = readRegularFile(layout.root, planFile(where()))?.toString('utf8') ?? '';
    // Twice the same: an editor that writes in pieces has finished.
    if (text.trim() !== '' && text === before) return text;
    before = text;
    await delay(LOOK_AGAIN_MS, undefined, { signal });
  }
};

export const readDiff = ({ layout }: Store, dir: string): Buffer | undefined =>
  readRegularFile(layout.root, diffFile(dir));

/** A file beside session.md that the daemon makes: diff.patch, or what a Plan turn changed and had undone. */
export const writeSessionFile = async (
  { layout }: Store,
  dir: string,
  name: string,
  bytes: Buffer,
): Promise<void> => {
  checkThere(dir);
  const path = join(dir, name);
  const before = readRegularFile(layout.root, path);
  if (before === undefined) await createFile(layout, path, bytes);
  else await replaceFile(layout, path, before, bytes);
};
