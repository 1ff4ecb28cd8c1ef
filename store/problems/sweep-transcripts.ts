import { readdirSync, rmSync } from 'node:fs';
import { shortId } from '../base/names.ts';
import { isDirectoryItself } from '../fs/plain-path.ts';
import { GONE_MS } from '../journal/journal-state.ts';
import { transcriptFile } from '../layout.ts';
import type { Store } from '../store.ts';
import { filesOf } from './sidecar-problems.ts';

/** What the journal keeps under this name: since when the session of a transcript is gone. */
const ORPHANS = 'transcripts';
const SUFFIX = '.ndjson';

/**
 * Removes what is kept outside of git of sessions that are gone: for as long as a Work item may come back, they may. To be
 * called once the sessions of all Work items were looked at.
 */
export const sweepTranscripts = async (store: Store): Promise<void> => {
  const { layout, journal, clock } = store;
  if (store.readOnly !== undefined || !isDirectoryItself(layout.transcripts)) return;
  const before = (journal.told.get(ORPHANS) ?? {}) as Record<string, string>;
  const now = clock().toISOString();
  const found = orphans(store);
  // Of what cannot be read nobody knows whose it is.
  if (found === undefined) return;
  const since = Object.fromEntries(found.map((id) => [id, before[id] ?? now]));
  for (const [id, at] of Object.entries(since)) {
    if (Date.parse(now) - Date.parse(at) <= GONE_MS) continue;
    rmSync(transcriptFile(layout, id), { force: true });
    delete since[id];
  }
  if (JSON.stringify(since) !== JSON.stringify(before))
    await journal.append({ told: { id: ORPHANS, state: since } });
};

const orphans = (store: Store): string[] | undefined => {
  const files = [...filesOf(store).values()].flatMap((each) => [...each.keys()]);
  if (files.includes(FAULT)) return undefined;
  const known = new Set(files.map((file) => OF_SESSION.exec(file)?.[1]));
  return readdirSync(store.layout.transcripts)
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -SUFFIX.length))
    .filter((id) => !known.has(shortId(id)))
    .toSorted();
};

// As they are looked at: the folder, where it cannot be read, and the record of each, whose directory ends with its id.
const FAULT = 'sessions';
const OF_SESSION = /(.{8})\/session\.md$/;
