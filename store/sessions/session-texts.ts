import { lstatSync } from 'node:fs';
import { join, parse } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createFile, replaceFile } from '../disk/durable.ts';
import { StoreError } from '../errors.ts';
import { diffFile, planFile } from '../layout.ts';
import type { Store } from '../store.ts';
import { readRegularFile } from '../text/record-file.ts';
import { readText, type TextFile, writeText } from '../text/text-file.ts';

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

/** diff.patch, beside session.md. */
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

/** Makes a file beside session.md and answers its name: with a number where another stands already, which is kept. */
export const keepSessionFile = async (
  { layout }: Store,
  dir: string,
  name: string,
  bytes: Buffer,
): Promise<string> => {
  checkThere(dir);
  const { name: stem, ext } = parse(name);
  for (let number = 1; ; number += 1) {
    const wanted = number === 1 ? name : `${stem}-${number}${ext}`;
    if (await createFile(layout, join(dir, wanted), bytes)) return wanted;
  }
};
