import { lstatSync } from 'node:fs';
import { join, parse } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../base/errors.ts';
import { etagOf } from '../base/names.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { putFile, readText, type TextFile, textOf, writeText } from '../front-matter/text-file.ts';
import { createFile } from '../fs/durable.ts';
import { diffFile, sinceApprovalFile } from '../layout.ts';
import type { Store } from '../store.ts';
import { heldText, intendText, noteText } from './held-sessions.ts';

const PLAN = 'plan.md';

/** plan.md as far as it holds: what was written into it while a program ran that no sandbox held waits. */
export const readPlan = (store: Store, dir: string): TextFile | undefined =>
  lookAtPlan(store, dir).plan;

/** The plan that holds. */
export interface PlanNow {
  plan: TextFile | undefined;
  /** The same, byte for byte. */
  bytes: Buffer | undefined;
  /** plan.md says something else. */
  waits: boolean;
}

export const lookAtPlan = (store: Store, dir: string): PlanNow => {
  const found = readRegularFile(store.layout.root, join(dir, PLAN));
  const text = found && textOf(PLAN, found);
  const plan = heldText(store, dir, 'plan', text);
  const bytes = plan === text ? found : plan && Buffer.from(plan.content);
  return { plan, bytes, waits: plan?.sha256 !== text?.sha256 };
};

/** Writes plan.md; with `ifMatch` only over the plan that was read. */
export const writePlan = async (
  store: Store,
  dir: string,
  content: string,
  ifMatch?: string,
): Promise<void> => {
  const { layout } = store;
  checkThere(dir);
  const found = readText(layout, dir, PLAN);
  const read = heldText(store, dir, 'plan', found);
  // Who read what holds need not know what waits.
  const isRead = read !== found && read !== undefined && etagOf(read.sha256) === ifMatch;
  const match = isRead && found !== undefined ? etagOf(found.sha256) : ifMatch;
  intendText(store, dir, 'plan', content);
  await writeText(layout, { dir, filename: PLAN }, content, match);
  noteText(store, dir, 'plan', content);
};

/** Nothing is written where nobody would find it. */
export const checkThere = (dir: string): void => {
  if (lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new StoreError(
    'file_busy',
    'The directory of the session was moved or removed a moment ago; try again',
  );
};

const LOOK_AGAIN_MS = 200;

/** Resolves with plan.md once somebody has written something into it. Rejects when aborted. */
export const awaitPlan = async (
  store: Store,
  where: () => string,
  signal: AbortSignal,
): Promise<string> => {
  for (let before = ''; ; ) {
    const text = readPlan(store, where())?.content ?? '';
    // Twice the same: an editor that writes in pieces has finished.
    if (text.trim() !== '' && text === before) return text;
    before = text;
    await delay(LOOK_AGAIN_MS, undefined, { signal });
  }
};

export const readDiff = ({ layout }: Store, dir: string): Buffer | undefined =>
  readRegularFile(layout.root, diffFile(dir));

/** What changed since the plan was approved; undefined where the work began from the base itself. */
export const readSinceApproval = ({ layout }: Store, dir: string): Buffer | undefined =>
  readRegularFile(layout.root, sinceApprovalFile(dir));

/** diff.patch and the like, beside session.md. */
export const writeSessionFile = async (
  { layout }: Store,
  dir: string,
  name: string,
  bytes: Buffer,
): Promise<void> => {
  checkThere(dir);
  const path = join(dir, name);
  await putFile(layout, path, { before: readRegularFile(layout.root, path) }, bytes);
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
