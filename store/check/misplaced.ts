import { join, posix } from 'node:path';
import { readEntry } from '../front-matter/entry.ts';
import { type FileProblem, fileProblem, Problem } from '../front-matter/problem.ts';
import { CASE_FILE, checklistFile } from '../layout.ts';
import { almostTasksIn } from '../reconcile/read-checklist.ts';
import { UNKNOWN_FILE } from '../reconcile/read-item.ts';
import type { WalkedDirectory } from '../reconcile/walk.ts';

/** Files of a folder of Work items that look like one, or like a part of one. */
export const misplacedIn = ({ dir, kind, names }: WalkedDirectory): FileProblem[] => {
  if (kind !== 'folder') return [];
  const [miscased] = names.filter(isMiscased);
  if (miscased !== undefined) return [fileProblem(`${dir}/${miscased}`, MISCASED)];
  return FOLDER.test(dir)
    ? names.filter(isStray).map((name) => fileProblem(`${dir}/${name}`, strayProblem(name)))
    : [];
};

const isMiscased = (name: string): boolean => name.toLowerCase() === CASE_FILE;

const MISCASED = new Problem(
  'misnamed_file',
  `Dossier reads ${CASE_FILE} only in lower case, so this Work item is left out. Rename the file to ${CASE_FILE}`,
);

// Other folders may be Work items whose case.md is missing.
const FOLDER = /^cases(?:\/\d{4}-\d\d)?$/;

const isStray = (name: string): boolean => /^[^.].*\.md$/i.test(name) && !/^readme\./i.test(name);

const strayProblem = (name: string): Problem =>
  new Problem(
    UNKNOWN_FILE,
    `This file belongs to no Work item: a Work item is a directory. Move it to ${name.slice(0, -'.md'.length)}/${CASE_FILE} to make it one, or remove it`,
  );

/** The directories with sessions, but without a case.md. The walk enters the sessions of no other. */
export const headlessIn = (places: readonly WalkedDirectory[]): Set<string> => {
  const miscased = new Set(places.flatMap((at) => (at.names.some(isMiscased) ? at.dir : [])));
  const headless = places.flatMap(({ dir, names }) =>
    names.includes('session.md') ? posix.dirname(posix.dirname(dir)) : [],
  );
  return new Set(headless.filter((dir) => !miscased.has(dir)));
};

/** The lines of a Work item's checklist that look like items and are none. */
export const almostItems = (root: string, dir: string): FileProblem[] => {
  const path = checklistFile(join(root, dir));
  const found = readEntry(path, { parse: almostTasksIn })?.value ?? [];
  return found.map((problem) => fileProblem(`${dir}/proof/checklist.md`, problem));
};
