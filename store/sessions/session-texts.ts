import { join, parse } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../base/errors.ts';
import { etagOf, meets } from '../base/names.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { putFile, readText, type TextFile, textOf, writeText } from '../front-matter/text-file.ts';
import { createFile } from '../fs/durable.ts';
import { statsAt } from '../fs/plain-path.ts';
import { diffFile, sessionFile, sinceApprovalFile } from '../layout.ts';
import { readyToWrite, type Store } from '../store.ts';
import { heldText, intendText, noteText } from './held-sessions.ts';

const PLAN = 'plan.md';

/** plan.md without held edits. */
export const readPlan = (store: Store, dir: string): TextFile | undefined =>
  readPlanNow(store, dir).plan;

/** The plan in force. */
export interface CurrentPlan {
  plan: TextFile | undefined;
  /** The bytes of the plan. */
  bytes: Buffer | undefined;
  /** Whether plan.md has a held edit. */
  waits: boolean;
}

export const readPlanNow = (store: Store, dir: string): CurrentPlan => {
  const found = readRegularFile(store.layout.root, join(dir, PLAN));
  const text = found && textOf(PLAN, found);
  const plan = heldText(store, dir, 'plan', text);
  refuseLong(plan);
  const bytes = plan === text ? found : plan && Buffer.from(plan.content);
  return { plan, bytes, waits: plan?.sha256 !== text?.sha256 };
};

/** The longest plan, in characters: an operator cannot review more, and to look for what it hides takes seconds. */
export const LONGEST_PLAN = 1_048_576;

const refuseLong = (plan: TextFile | undefined): void => {
  if (plan !== undefined && plan.content.length > LONGEST_PLAN)
    throw new StoreError(
      'unreadable_record',
      `plan.md has ${plan.content.length} characters, which is too long to review. Shorten it to ${LONGEST_PLAN} characters or fewer`,
    );
};

/** Writes plan.md; with `ifMatch`, only if the plan in force is the one that was read. */
export const writePlan = async (
  store: Store,
  dir: string,
  content: string,
  ifMatch?: string,
): Promise<void> => {
  const { layout } = store;
  await readyToWrite(store);
  assertRecord(dir);
  const found = readText(layout, dir, PLAN);
  const read = heldText(store, dir, 'plan', found);
  // The caller read the plan in force, so a held edit in the file does not conflict.
  const isHeld = read !== found && read !== undefined && ifMatch !== undefined;
  const isRead = isHeld && meets(ifMatch, etagOf(read.sha256));
  const match = isRead && found !== undefined ? etagOf(found.sha256) : ifMatch;
  intendText(store, dir, 'plan', content);
  await writeText(layout, placeOf(dir, PLAN), content, match);
  noteText(store, dir, 'plan', content);
};

/**
 * Throws `file_busy` if the session's record is missing: what is written then would be a directory of its own, on another
 * branch of the workspace, which git does not overwrite when the record comes back.
 */
export const assertRecord = (dir: string): void => {
  if (statsAt(sessionFile(dir)) !== undefined) return;
  throw new StoreError(
    'file_busy',
    'The directory of the session was moved or removed a moment ago. Try again',
  );
};

/** A text beside a session's record, which is not written without that record. */
export const placeOf = (dir: string, filename: string) => ({
  dir,
  filename,
  assertMeant: () => assertRecord(dir),
});

const LOOK_AGAIN_MS = 200;

/** Resolves with the text of plan.md once it is not empty. Rejects when aborted. */
export const awaitPlan = async (
  store: Store,
  where: () => string,
  signal: AbortSignal,
): Promise<string> => {
  for (let before = ''; ; ) {
    const text = readPlan(store, where())?.content ?? '';
    // The same text twice means that the editor has finished writing.
    if (text.trim() !== '' && text === before) return text;
    before = text;
    await delay(LOOK_AGAIN_MS, undefined, { signal });
  }
};

export const readDiff = ({ layout }: Store, dir: string): Buffer | undefined =>
  readRegularFile(layout.root, diffFile(dir));

/** The diff since the approval; undefined if the work began from the base itself. */
export const readSinceApproval = ({ layout }: Store, dir: string): Buffer | undefined =>
  readRegularFile(layout.root, sinceApprovalFile(dir));

/** Writes a file beside session.md, such as diff.patch. */
export const replaceSessionFile = async (
  store: Store,
  dir: string,
  name: string,
  bytes: Buffer,
): Promise<void> => {
  const { layout } = store;
  await readyToWrite(store);
  assertRecord(dir);
  const path = join(dir, name);
  const { assertMeant } = placeOf(dir, name);
  await putFile(layout, path, { before: readRegularFile(layout.root, path), assertMeant }, bytes);
};

/** Creates a file beside session.md and returns its name, with a number if the name is taken. */
export const createSessionFile = async (
  store: Store,
  dir: string,
  name: string,
  bytes: Buffer,
): Promise<string> => {
  await readyToWrite(store);
  assertRecord(dir);
  const { name: stem, ext } = parse(name);
  for (let number = 1; ; number += 1) {
    const wanted = number === 1 ? name : `${stem}-${number}${ext}`;
    if (await createFile(store.layout, join(dir, wanted), bytes, placeOf(dir, wanted)))
      return wanted;
  }
};
