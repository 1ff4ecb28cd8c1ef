import type { Journal } from '../journal/journal.ts';
import type { JournalEntry } from '../journal/journal-state.ts';
import type { Session } from '../records/session.ts';

/**
 * How far the runbook is with an approved plan. It is in the journal, because the session's stream is a file of the
 * workspace: a block that git or an editor calls completed there would be skipped.
 */
export interface Blocks {
  /** The ids of blocks that have ended well, or that the operator skips. */
  done: readonly string[];
  /** The block whose end is not known. */
  begun?: string | undefined;
}

interface Saved extends Blocks {
  plan: string | null;
}

/** Undefined before the first block of this plan, for another provider, and where the journal was deleted. */
export const findBlocks = (
  { told }: Pick<Journal, 'told'>,
  { id, approved_sha256 }: Session,
): Blocks | undefined => {
  const saved = told.get(blocksName(id)) as Saved | undefined;
  return saved?.plan === approved_sha256 ? saved : undefined;
};

/** On disk when the promise resolves. */
export const saveBlocks = async (
  journal: Pick<Journal, 'append'>,
  { id, approved_sha256: plan }: Session,
  done: readonly string[],
  begun?: string,
): Promise<void> => {
  const state: Saved = { plan, done, begun };
  await journal.append({ told: { id: blocksName(id), state } });
};

/** The part of a journal entry that removes them with an ended session. */
export const withoutBlocks = (
  { told }: Pick<Journal, 'told'>,
  sessionId: string,
): Pick<JournalEntry, 'told'> => {
  const id = blocksName(sessionId);
  return told.has(id) ? { told: { id, state: null } } : {};
};

const blocksName = (sessionId: string): string => `blocks ${sessionId}`;
