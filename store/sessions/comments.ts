import { asSent } from '../base/comments.ts';
import { changedSince } from '../base/errors.ts';
import { etagOf } from '../base/names.ts';
import { editText, readText, type TextFile, textOf } from '../front-matter/text-file.ts';
import type { Store } from '../store.ts';
import { heldText, intendText, noteText } from './held-session.ts';
import { checkThere } from './session-texts.ts';

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
