import { readdirSync } from 'node:fs';
import { parse } from 'node:path';
import { shortId } from '../base/names.ts';
import { isDirectoryItself } from '../fs/plain-path.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import { GONE_MS } from '../journal/journal-state.ts';
import { patchesFile, transcriptFile } from '../layout.ts';
import type { Store } from '../store.ts';
import { filesOf } from './sidecar-problems.ts';

/** Journal key: since when the session of each orphaned file is gone. */
const ORPHANS = 'transcripts';

/**
 * Removes transcripts and hashes of patches below .dossier/ whose sessions have been gone for as long as a Work item may come back. Call it after
 * `checkSidecars` has read all sessions.
 */
export const sweepTranscripts = async (store: Store): Promise<void> => {
  const { layout, journal, clock } = store;
  if (store.readOnly !== undefined) return;
  const before = (journal.told.get(ORPHANS) ?? {}) as Record<string, string>;
  const now = clock().toISOString();
  const found = orphans(store);
  // An unreadable folder may contain the session of any of them.
  if (found === undefined) return;
  const since = Object.fromEntries(found.map((id) => [id, before[id] ?? now]));
  for (const [id, at] of Object.entries(since)) {
    if (Date.parse(now) - Date.parse(at) <= GONE_MS) continue;
    for (const fileOf of [transcriptFile, patchesFile]) unlinkIfThere(fileOf(layout, id));
    delete since[id];
  }
  if (JSON.stringify(since) !== JSON.stringify(before))
    await journal.append({ told: { id: ORPHANS, state: since } });
};

const orphans = (store: Store): string[] | undefined => {
  const files = [...filesOf(store).values()].flatMap((each) => [...each.keys()]);
  if (files.includes(FAULT)) return undefined;
  const known = new Set(files.map((file) => OF_SESSION.exec(file)?.[1]));
  const { transcripts, patches } = store.layout;
  const ids = [transcripts, patches].filter(isDirectoryItself).flatMap(idsIn);
  return [...new Set(ids)].filter((id) => !known.has(shortId(id))).toSorted();
};

const idsIn = (dir: string): string[] =>
  readdirSync(dir)
    .filter((name) => FILE.test(name))
    .map((name) => parse(name).name);

const FILE = /\.(?:ndjson|json)$/;

// Keys of `SessionFiles`: the folder if it is unreadable, and each record, whose directory ends with the short id.
const FAULT = 'sessions';
const OF_SESSION = /(.{8})\/session\.md$/;
