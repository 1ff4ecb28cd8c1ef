import { asSent } from '../base/comments.ts';
import { changedSince } from '../base/errors.ts';
import { lockOn } from '../base/locks.ts';
import { etagOf, meets } from '../base/names.ts';
import { editText, readText, type TextFile, textOf } from '../front-matter/text-file.ts';
import { doOrDefer } from '../reconcile/deferred.ts';
import type { EventBody } from '../records/event.ts';
import { readyToWrite, type Store } from '../store.ts';
import { heldText, intendText, noteText } from './held-sessions.ts';
import { assertRecord, placeOf } from './session-texts.ts';
import { sessionsOf } from './sessions.ts';

const COMMENTS = 'comments.md';

/** comments.md without held edits. A missing file reads as empty, with a hash, so that of two first writes one is refused. */
export const readCommentsFile = (store: Store, dir: string): TextFile =>
  withoutHeldEdits(store, dir, readText(store.layout, dir, COMMENTS));

const withoutHeldEdits = (store: Store, dir: string, found: TextFile | undefined): TextFile =>
  heldText(store, dir, 'comments', found) ?? textOf(COMMENTS, Buffer.alloc(0));

/** Edits comments.md, starting without held edits; with `ifMatch`, only if the file is the one that was read. */
export const editComments = async (
  store: Store,
  dir: string,
  rule: (before: string) => string,
  ifMatch?: string,
): Promise<void> => {
  await readyToWrite(store);
  assertRecord(dir);
  const { content } = await editText(store.layout, placeOf(dir, COMMENTS), (bytes) => {
    const before = withoutHeldEdits(store, dir, bytes && textOf(COMMENTS, bytes));
    if (!meets(ifMatch, etagOf(before.sha256))) throw changedSince(COMMENTS);
    const next = rule(before.content);
    intendText(store, dir, 'comments', next);
    return next;
  });
  noteText(store, dir, 'comments', content.toString());
};

/** Marks the part of comments.md that was sent as sent, unless it is marked already or was edited since. */
export const markSent = async (
  store: Store,
  dir: string,
  sent: string,
  plan: string,
): Promise<void> => {
  const told = { at: store.clock().toISOString(), plan };
  const marked = (text: string) => asSent(text, sent, told);
  if (marked(readCommentsFile(store, dir).content) === undefined) return;
  await editComments(store, dir, (text) => marked(text) ?? text);
};

/**
 * Journals an event for each session whose comments changed, across restarts; none with `silent`. Held edits do not count.
 * If the journal cannot be written, the next comparison retries.
 */
export const journalComments = (store: Store, case_id: string, silent = false): Promise<void> =>
  doOrDefer(store, TOLD_COMMENTS + case_id, {
    what: `journaling comments of ${case_id}`,
    work: () => journalNow(store, case_id, silent),
  });

const journalNow = (store: Store, case_id: string, silent: boolean): Promise<void> =>
  store.locks.take(lockOn.item(case_id), async () => {
    if (store.readOnly) return;
    const id = TOLD_COMMENTS + case_id;
    const before = (store.journal.told.get(id) ?? {}) as Readonly<Record<string, string>>;
    const now = hashesOf(store, case_id);
    const sessions = new Set([...Object.keys(before), ...Object.keys(now)]);
    const changed = [...sessions].filter((session) => before[session] !== now[session]);
    if (changed.length === 0) return;
    const timestamp = store.clock().toISOString();
    const events = changed.map(
      (session_id): EventBody => ({
        event_type: 'session_comments_changed',
        timestamp,
        payload: { case_id, session_id },
      }),
    );
    const state = Object.keys(now).length === 0 ? null : now;
    await store.journal.append({ told: { id, state }, events: silent ? [] : events });
  });

/** Removes the journaled comments of a Work item that is gone. */
export const forgetComments = async ({ journal }: Store, case_id: string): Promise<void> => {
  const id = TOLD_COMMENTS + case_id;
  if (journal.told.has(id)) await journal.append({ told: { id, state: null } });
};

const TOLD_COMMENTS = 'comments ';

const hashesOf = (store: Store, case_id: string): Record<string, string> => {
  const found = (sessionsOf(store, case_id) ?? []).flatMap(({ session, dir }) => {
    const { size, sha256 } = readCommentsFile(store, dir);
    return size === 0 ? [] : [[session.id, sha256] as const];
  });
  return Object.fromEntries(found);
};
