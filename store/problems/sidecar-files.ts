import { join } from 'node:path';
import type { TSchema } from 'typebox';
import { isRecordName } from '../base/names.ts';
import { ownValue } from '../base/own-value.ts';
import { parseTimeline } from '../codehost/timeline.ts';
import { type ReadEntry, readEntry, withProblem } from '../front-matter/entry.ts';
import { listFolder } from '../front-matter/folder.ts';
import { parserOf } from '../front-matter/parse.ts';
import { BodyUpdateMatter } from '../records/body-update.ts';
import { ConflictMatter } from '../records/conflict.ts';
import { IssueCopyMatter } from '../records/link.ts';
import { PlanningMatter } from '../records/planning.ts';
import { PullDraftMatter, PullMatter } from '../records/pull-request.ts';
import { ReviewMatter } from '../records/review.ts';
import { SyncMatter } from '../records/sync.ts';

/** The parser of a file by its name; undefined for files that are no records. */
type Kind = (name: string) => ((text: string) => unknown) | undefined;

const named =
  (kinds: Readonly<Record<string, (text: string) => unknown>>): Kind =>
  (name) =>
    ownValue(kinds, name);

const records = (schema: TSchema): Kind => {
  const parse = parserOf(schema);
  return (name) => (isRecordName(name) ? parse : undefined);
};

/** The sidecar records that are single files. A comparison does not read them. */
const FILES: Readonly<Record<string, (text: string) => unknown>> = {
  'issue.md': parserOf(IssueCopyMatter),
  'planning.md': parserOf(PlanningMatter),
};

/** The folders of sidecar records. */
const FOLDERS: Readonly<Record<string, Kind>> = {
  conflicts: records(ConflictMatter),
  pr: named({
    'pr.md': parserOf(PullMatter),
    'draft.md': parserOf(PullDraftMatter),
    'timeline.ndjson': parseTimeline,
  }),
  'pr/reviews': records(ReviewMatter),
  'pr/updates': records(BodyUpdateMatter),
  syncs: records(SyncMatter),
};

/** Sidecar records as last read, by path within the Work item. Entries have only what tells problems and changes. */
type SidecarFiles = ReadonlyMap<string, ReadEntry<unknown>>;

/** Reads the files that changed since the last reading, with a problem for each unreadable folder. */
export const readSidecarFiles = (path: string, before: SidecarFiles = NONE): SidecarFiles => {
  const found = new Map<string, ReadEntry<unknown>>();
  const look = (file: string, parse: (text: string) => unknown): void => {
    const entry = readEntry<unknown>(join(path, file), { before: before.get(file), parse });
    if (entry !== undefined) found.set(file, entry);
  };
  for (const [file, parse] of Object.entries(FILES)) look(file, parse);
  for (const [folder, kind] of Object.entries(FOLDERS)) {
    const { names, fault } = listFolder(join(path, folder));
    if (fault !== undefined) found.set(folder, withProblem(undefined, fault));
    for (const name of names.toSorted()) {
      const parse = kind(name);
      if (parse !== undefined) look(`${folder}/${name}`, parse);
    }
  }
  return found;
};

const NONE: SidecarFiles = new Map<string, never>();
