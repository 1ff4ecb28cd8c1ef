import { sha256 } from '../base/sha256.ts';
import { storable } from '../front-matter/text.ts';
import { remembered, type Store } from '../store.ts';
import { createSessionFile } from './session-texts.ts';
import { type StoredSession, sessionDirOf, sessionSummary } from './sessions.ts';

/** By session, the hashes of bodies of session.md that this process wrote or kept. */
const known = remembered(() => new Map<string, readonly string[]>());

/**
 * Keeps the body of session.md under a name of its own if the operator wrote it, because `summary` is about to replace it.
 * Returns that name. After a restart, a body that begins like a summary counts as one.
 */
export const keepEditedSummary = async (
  store: Store,
  kept: StoredSession,
  summary: string,
): Promise<string | undefined> => {
  const { id } = kept.session;
  const body = sessionSummary(store, kept).trim();
  const hashes = known(store).get(id);
  const isOurs = hashes === undefined ? BEGIN.test(body) : hashes.includes(sha256(body));
  known(store).set(id, [sha256(body), sha256(storable(summary).trim())]);
  if (body === '' || isOurs) return undefined;
  const dir = sessionDirOf(store, kept);
  return createSessionFile(store, dir, 'edited-summary.md', Buffer.from(`${body}\n`));
};

const BEGIN = /^## (?:How it ended|Questions)\n/;
