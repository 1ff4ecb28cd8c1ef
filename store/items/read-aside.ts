import { join } from 'node:path';
import { listFolder } from '../disk/folder.ts';
import { parseIssueCopy, parseSync } from '../links/read-links.ts';
import { isRecordName } from '../names.ts';
import {
  parseBodyUpdate,
  parsePull,
  parsePullDraft,
  parseReview,
  parseTimeline,
} from '../pulls/read-pulls.ts';
import { parseConflict } from '../read-conflicts.ts';
import { parsePlanning } from '../read-planning.ts';
import { type Entry, readEntry } from '../text/entry.ts';
import type { Problem } from '../text/problem.ts';

/** What a file has to be; undefined for one that is none of ours. */
type Kind = (name: string) => ((text: string) => unknown) | undefined;

const named =
  (kinds: Readonly<Record<string, (text: string) => unknown>>): Kind =>
  (name) =>
    Object.hasOwn(kinds, name) ? kinds[name] : undefined;

const records =
  (parse: (text: string) => unknown): Kind =>
  (name) =>
    isRecordName(name) ? parse : undefined;

/** The record files of a Work item that are read when somebody asks for them: no comparison needs them. */
const FILES: Readonly<Record<string, (text: string) => unknown>> = {
  'issue.md': parseIssueCopy,
  'planning.md': parsePlanning,
};

/** The folders of such files. */
const FOLDERS: Readonly<Record<string, Kind>> = {
  conflicts: records(parseConflict),
  pr: named({
    'pr.md': parsePull,
    'draft.md': parsePullDraft,
    'timeline.ndjson': parseTimeline,
  }),
  'pr/reviews': records(parseReview),
  'pr/updates': records(parseBodyUpdate),
  syncs: records(parseSync),
};

/** These files as they were read, by path within the Work item: nothing but what is wrong, and what tells a change. */
export type Aside = ReadonlyMap<string, Entry<unknown>>;

/** Reads what changed since it was last read, and what keeps a folder from being read. */
export const readAside = (path: string, before: Aside = NONE): Aside => {
  const found = new Map<string, Entry<unknown>>();
  const look = (file: string, parse: (text: string) => unknown): void => {
    const entry = readEntry<unknown>(join(path, file), { before: before.get(file), parse });
    if (entry !== undefined) found.set(file, entry);
  };
  for (const [file, parse] of Object.entries(FILES)) look(file, parse);
  for (const [folder, kind] of Object.entries(FOLDERS)) {
    const { names, fault } = listFolder(join(path, folder));
    if (fault !== undefined) found.set(folder, faulty(fault));
    for (const name of names.toSorted()) {
      const parse = kind(name);
      if (parse !== undefined) look(`${folder}/${name}`, parse);
    }
  }
  return found;
};

const NONE: Aside = new Map<string, never>();

/** An entry that holds nothing but a fault, which is looked for anew each time. */
export const faulty = (problem: Problem): Entry<unknown> => ({
  signature: '',
  sha: '',
  written_at: 0,
  value: undefined,
  problem,
});
