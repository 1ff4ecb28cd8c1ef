import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { foldPath } from '../archive/archive-files.ts';
import { groupBy } from '../base/group-by.ts';
import { isMarkdownName } from '../base/names.ts';
import { type ReadEntry, refuseOther } from '../front-matter/entry.ts';
import { listFolder } from '../front-matter/folder.ts';
import {
  type FileProblem,
  fileProblem,
  fileProblems,
  Problem,
  toProblem,
} from '../front-matter/problem.ts';
import { decodeText } from '../front-matter/text.ts';
import { statsAt } from '../fs/plain-path.ts';

/**
 * Fixes a finding without losing data. Returns what was done, to print after the file name; undefined if the file changed
 * meanwhile.
 */
export type Mend = () => Promise<string | undefined>;

/** `error`: Dossier cannot use the file. `warning`: it can, but the operator should know. */
export interface Finding extends FileProblem {
  severity: 'error' | 'warning';
  mend?: Mend | undefined;
}

const finding =
  (severity: Finding['severity']) =>
  (problem: FileProblem, mend?: Mend): Finding => ({
    ...problem,
    severity,
    ...(mend && { mend }),
  });

export const error = finding('error');
export const warning = finding('warning');

export const errors = (problems: readonly FileProblem[]): Finding[] =>
  problems.map((problem) => error(problem));

export const errorAt = (file: string, problem: Problem | undefined): Finding[] =>
  problem === undefined ? [] : errors(fileProblems(file, problem));

/** The errors of a file that was read. */
export const entryErrors = (
  file: string,
  entry: Pick<ReadEntry<unknown>, 'problem'> | undefined,
): Finding[] => errorAt(file, entry?.problem);

const MAX_BYTES = 2_097_152;

/**
 * The errors of the free texts of a folder (memory, snapshots), which have no schema, and a warning for each second file of
 * a name that differs only in letter case or Unicode form.
 */
export const textFindings = (root: string, folder: string): Finding[] => {
  const { names, fault } = listFolder(join(root, folder));
  if (fault !== undefined) return errorAt(folder, fault);
  const texts = names.filter(isMarkdownName).toSorted();
  return [
    ...texts.flatMap((name) => checkText(root, `${folder}/${name}`)),
    ...twinsIn(texts).map((twin) => warning(fileProblem(`${folder}/${twin.name}`, twinOf(twin)))),
  ];
};

interface Twin {
  name: string;
  first: string;
}

const twinsIn = (names: readonly string[]): Twin[] =>
  [...groupBy(names, foldPath).values()].flatMap(([first = '', ...others]) =>
    others.map((name) => ({ name, first })),
  );

const twinOf = ({ first }: Twin): Problem =>
  new Problem(
    'same_name',
    `Where letter case or Unicode form is ignored, as on macOS and Windows, this is the same file as ${first}, and no export with both can be imported. Rename one`,
  );

/** The errors of one text, which need not exist. */
export const checkText = (root: string, file: string): Finding[] =>
  errorAt(
    file,
    faultOf(join(root, file), (path) => decodeText(readFileSync(path))),
  );

/** Checks only that this is a regular file, if it exists. */
export const checkPlain = (root: string, file: string): Finding[] =>
  errorAt(file, faultOf(join(root, file)));

const faultOf = (path: string, read?: (path: string) => unknown): Problem | undefined => {
  try {
    const stats = statsAt(path);
    if (stats === undefined) return undefined;
    refuseOther(stats);
    if (read !== undefined && stats.size > MAX_BYTES)
      throw new Problem('too_large', `The file has ${stats.size} bytes. Shorten it to 1 MB`);
    read?.(path);
    return undefined;
  } catch (error) {
    return toProblem(error);
  }
};
