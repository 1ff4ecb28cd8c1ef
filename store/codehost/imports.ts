import { basename, join } from 'node:path';
import { changedSince } from '../base/errors.ts';
import { lockOn } from '../base/locks.ts';
import { etagOf, isRecordName, meets } from '../base/names.ts';
import { withLogLine } from '../front-matter/body.ts';
import { readEntry } from '../front-matter/entry.ts';
import { listFolder, recordNames } from '../front-matter/folder.ts';
import { type FrontMatter, parseFrontMatter } from '../front-matter/front-matter.ts';
import { checkerOf, positionOf } from '../front-matter/parse.ts';
import { type FileProblem, fileProblem, ifReadable, Problem } from '../front-matter/problem.ts';
import { entryProblem } from '../front-matter/problems.ts';
import {
  editRecord,
  type ReadRecord,
  type RecordEdit,
  readRecord,
  withReadableErrors,
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

/** The readable import jobs, oldest first. Diagnostics report the others. */
export const listImports = ({ layout }: Store): StoredImport[] =>
  recordNames(layout.imports)
    .flatMap((name) => ifReadable(() => readAt(layout, join(layout.imports, name)), []) ?? [])
    .sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1));

const ageOf = ({ matter: { created_at, id } }: StoredImport): string => `${created_at} ${id}`;

/** One import job; undefined if there is none. Throws `unreadable_record`. */
export const readImport = ({ layout }: Store, id: string): StoredImport | undefined =>
  readAt(layout, pathOf(layout, id));

/** Creates the record of a job. */
export const createImport = async (store: Store, matter: ImportJobMatter): Promise<void> => {
  const { layout } = store;
  await readyToWrite(store);
  await createFile(layout, pathOf(layout, matter.id), renderFrontMatter({ ...matter }, ''));
};

export interface ImportChange {
  changes?: { [K in keyof ImportJobMatter]?: ImportJobMatter[K] | undefined };
  /** The result of one more issue. */
  result?: ImportResult;
}

/**
 * Applies a rule to a job as it is on disk, under its lock. `ifMatch` is the entity tag that the caller read. Undefined if
 * there is no such job; throws `unreadable_record` and `precondition_failed`.
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
      if (!meets(ifMatch, etagOf(sha))) throw changedSince('The import job');
      const matter = withReadableErrors(`imports/${id}.md`, () =>
        checkNamed(path)(source.data, source),
      );
      const change = rule(storedImport({ matter, source, sha }));
      return change && editOf(source, change);
    });
    return readImport(store, id);
  });

const editOf = (source: FrontMatter, { changes = {}, result }: ImportChange): RecordEdit => ({
  changes,
  ...(result && { body: withLogLine(source, resultLine(result)) }),
});

const pathOf = ({ imports }: Layout, id: string): string => join(imports, `${id}.md`);

const readAt = ({ root }: Layout, path: string): StoredImport | undefined => {
  const record = readRecord(root, path, checkNamed(path));
  return record && storedImport(record);
};

const storedImport = ({ matter, source, sha }: ReadRecord<ImportJobMatter>): StoredImport => ({
  matter,
  results: parseResults(source.body),
  etag: etagOf(sha),
});

const checkNamed =
  (path: string) =>
  (data: unknown, source: FrontMatter): ImportJobMatter => {
    const matter = check(data, source);
    if (basename(path) === `${matter.id}.md`) return matter;
    const words = `This job has the id ${matter.id}, but another file name. Rename the file to ${matter.id}.md, or correct the id`;
    throw new Problem('wrong_id', words, positionOf(source, 'id'));
  };

/** The problems of import job records. */
export const importProblems = ({ imports }: Layout): FileProblem[] => {
  const { names, fault } = listFolder(imports);
  if (fault !== undefined) return [fileProblem('imports', fault)];
  return names.filter(isRecordName).flatMap((name) => {
    const path = join(imports, name);
    const parse = (text: string): ImportJobMatter => {
      const source = parseFrontMatter(text);
      return checkNamed(path)(source.data, source);
    };
    return entryProblem(`imports/${name}`, readEntry(path, { parse }));
  });
};

/** The line of a job's record for one issue. */
const resultLine = ({ number, outcome, case_id, detail }: ImportResult): string =>
  [`- #${number} ${outcome}`, case_id, detail?.replaceAll(/\s*[\r\n]+\s*/g, ' ')]
    .filter((part) => part !== undefined)
    .join(' ');

const RESULT =
  /^- #(\d{1,15}) (imported|exists|failed)(?: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?(?: (.*))?$/;

/** The results in a job's record; the last line of an issue counts. */
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
