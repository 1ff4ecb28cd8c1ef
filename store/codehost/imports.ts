import { basename, join } from 'node:path';
import { changedSince } from '../base/errors.ts';
import { lockOn } from '../base/locks.ts';
import { etagOf, isRecordName } from '../base/names.ts';
import { withLogLine } from '../front-matter/body.ts';
import { readEntry } from '../front-matter/entry.ts';
import { listFolder, recordNames } from '../front-matter/folder.ts';
import { type FrontMatter, parseFrontMatter } from '../front-matter/front-matter.ts';
import { checkerOf, positionOf } from '../front-matter/parse.ts';
import { type FileProblem, fileProblem, ifReadable, Problem } from '../front-matter/problem.ts';
import { entryProblem } from '../front-matter/problems.ts';
import {
  editRecord,
  explained,
  type ReadRecord,
  type RecordEdit,
  readRecord,
} from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { createFile } from '../fs/durable.ts';
import type { Layout } from '../layout.ts';
import { ImportJobMatter, type ImportResult } from '../records/import-job.ts';
import { readyToWrite, type Store } from '../store.ts';

const check = checkerOf(ImportJobMatter);

export interface StoredImport {
  matter: ImportJobMatter;
  results: ImportResult[];
  etag: string;
}

/** The import jobs that can be read, oldest first; the others are told by the diagnostics. */
export const listImports = ({ layout }: Store): StoredImport[] =>
  recordNames(layout.imports)
    .flatMap((name) => ifReadable(() => readAt(layout, join(layout.imports, name)), []) ?? [])
    .sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1));

const ageOf = ({ matter: { created_at, id } }: StoredImport): string => `${created_at} ${id}`;

/** One import job; undefined when there is none. Throws `unreadable_record`. */
export const readImport = ({ layout }: Store, id: string): StoredImport | undefined =>
  readAt(layout, pathOf(layout, id));

/** Makes the record of a job. */
export const createImport = async (store: Store, matter: ImportJobMatter): Promise<void> => {
  const { layout } = store;
  await readyToWrite(store);
  await createFile(layout, pathOf(layout, matter.id), renderFrontMatter({ ...matter }, ''));
};

export interface ImportChange {
  changes?: { [K in keyof ImportJobMatter]?: ImportJobMatter[K] | undefined };
  /** One more issue that is done. */
  result?: ImportResult;
}

/**
 * Runs a rule on a job as it is on disk and writes what it wants, one at a time. `ifMatch` is the entity tag that the
 * caller read. Undefined when there is no such job; throws `unreadable_record`, `precondition_failed`.
 */
export const changeImport = (
  store: Store,
  id: string,
  rule: (job: StoredImport) => ImportChange | undefined,
  ifMatch?: string,
): Promise<StoredImport | undefined> =>
  store.locks.take(lockOn.importJob(id), async () => {
    const { layout } = store;
    await readyToWrite(store);
    const path = pathOf(layout, id);
    await editRecord(layout, path, ({ sha, source }) => {
      if (ifMatch !== undefined && ifMatch !== etagOf(sha)) throw changedSince('The import job');
      const matter = explained(`imports/${id}.md`, () => checkNamed(path)(source.data, source));
      const change = rule(keptOf({ matter, source, sha }));
      return change && edited(source, change);
    });
    return readImport(store, id);
  });

const edited = (source: FrontMatter, { changes = {}, result }: ImportChange): RecordEdit => ({
  changes,
  ...(result && { body: withLogLine(source, resultLine(result)) }),
});

const pathOf = ({ imports }: Layout, id: string): string => join(imports, `${id}.md`);

const readAt = ({ root }: Layout, path: string): StoredImport | undefined => {
  const record = readRecord(root, path, checkNamed(path));
  return record && keptOf(record);
};

const keptOf = ({ matter, source, sha }: ReadRecord<ImportJobMatter>): StoredImport => ({
  matter,
  results: parseResults(source.body),
  etag: etagOf(sha),
});

const checkNamed =
  (path: string) =>
  (data: unknown, source: FrontMatter): ImportJobMatter => {
    const matter = check(data, source);
    if (basename(path) === `${matter.id}.md`) return matter;
    const words = `This job has the id ${matter.id}, by which its file is named. Rename it, or write the other id`;
    throw new Problem('wrong_id', words, positionOf(source, 'id'));
  };

/** What keeps files of import jobs from being used. */
export const importProblems = ({ imports }: Layout): FileProblem[] => {
  const { names, fault } = listFolder(imports);
  if (fault !== undefined) return [fileProblem('imports', fault)];
  return names.filter(isRecordName).flatMap((name) => {
    const path = join(imports, name);
    const parse = (text: string): ImportJobMatter => {
      const source = parseFrontMatter(text);
      return checkNamed(path)(source.data, source);
    };
    return entryProblem(`imports/${name}`, readEntry(path, { before: undefined, parse }));
  });
};

/** An issue that is done, as a line of its job's record. */
const resultLine = ({ number, outcome, case_id, detail }: ImportResult): string =>
  [`- #${number} ${outcome}`, case_id, detail?.replaceAll(/\s*[\r\n]+\s*/g, ' ')]
    .filter((part) => part !== undefined)
    .join(' ');

const RESULT =
  /^- #(\d{1,15}) (imported|exists|failed)(?: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?(?: (.*))?$/;

/** The issues that a job's record says are done; the last line about one counts. */
const parseResults = (body: string): ImportResult[] => {
  const found = new Map<number, ImportResult>();
  for (const line of body.split(/\r?\n/)) {
    const [, number, outcome, case_id, detail] = RESULT.exec(line) ?? [];
    if (number === undefined) continue;
    found.set(Number(number), {
      number: Number(number),
      outcome: outcome as ImportResult['outcome'],
      ...(case_id !== undefined && { case_id }),
      ...(detail !== undefined && { detail }),
    });
  }
  return [...found.values()];
};
