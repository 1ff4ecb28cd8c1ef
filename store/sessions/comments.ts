import { asSent } from '../base/comments.ts';
import { changedSince } from '../base/errors.ts';
import { lockOn } from '../base/locks.ts';
import { etagOf } from '../base/names.ts';
import { editText, readText, type TextFile, textOf } from '../front-matter/text-file.ts';
import { orLate } from '../reconcile/deferred.ts';
import type { EventBody } from '../records/event.ts';
import type { Store } from '../store.ts';
import { heldText, intendText, noteText } from './held-sessions.ts';
import { checkThere } from './session-texts.ts';
import { sessionsOf } from './sessions.ts';

const COMMENTS = 'comments.md';

/**
 * comments.md as far as it holds: what was written into it while a program ran that no sandbox held waits. Where there is
 * none it is empty, with a hash as any other: of two that begin it, one is told.
 */
export const readCommentsFile = (store: Store, dir: string): TextFile =>
  held(store, dir, readText(store.layout, dir, COMMENTS));

const held = (store: Store, dir: string, found: TextFile | undefined): TextFile =>
  heldText(store, dir, 'comments', found) ?? textOf(COMMENTS, Buffer.alloc(0));

/** Writes comments.md, from what holds of it; with `ifMatch` only over what was read. */
export const editComments = async (
  store: Store,
  dir: string,
  rule: (before: string) => string,
  ifMatch?: string,
): Promise<void> => {
  checkThere(dir);
  const { content } = await editText(store.layout, { dir, filename: COMMENTS }, (bytes) => {
    const before = held(store, dir, bytes && textOf(COMMENTS, bytes));
    if (ifMatch !== undefined && etagOf(before.sha256) !== ifMatch) throw changedSince(COMMENTS);
    const next = rule(before.content);
    intendText(store, dir, 'comments', next);
    return next;
  });
  noteText(store, dir, 'comments', content.toString());
};

/** Notes below what was sent of it that it was, unless that is noted, or was changed since. */
export const noteSent = async (
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
 * Tells whose comments are other ones than were last told, whoever wrote them, over restarts too. `silent` is for what
 * is no news. What waits for the operator's word is no other text yet. Where the journal cannot be written, it is told at the
 * next comparison.
 */
export const tellComments = (store: Store, case_id: string, silent = false): Promise<void> =>
  orLate(store, TOLD_COMMENTS + case_id, {
    what: `telling what is said of plans of ${case_id}`,
    work: () => tellNow(store, case_id, silent),
  });

const tellNow = (store: Store, case_id: string, silent: boolean): Promise<void> =>
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
        ...{ event_type: 'session_comments_changed', timestamp },
        payload: { case_id, session_id },
      }),
    );
    const state = Object.keys(now).length === 0 ? null : now;
    await store.journal.append({ told: { id, state }, events: silent ? [] : events });
  });

/** Of a Work item that is gone there is nothing more to tell. */
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
