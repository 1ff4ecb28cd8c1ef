/** The workspace as it is and as it was after every step: who wrote what, and when. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type ActiveCall, nameOf } from './calls.ts';
import { caseIn, partsOf, proofIn } from './texts.ts';

export interface Hand {
  kind: 'hand';
  name: string;
  /** The call of the file system before which it happened, when the daemon could not know: between two lines of it. */
  between: string | undefined;
}
export interface Daemon {
  kind: 'daemon';
  call: ActiveCall | undefined;
}
export type Author = Hand | Daemon;

/** A file from one step to another. */
export interface Version {
  path: string;
  /** Undefined: there was none. */
  text: string | undefined;
  from: number;
  to: number;
  by: Author;
}

export interface World {
  readonly root: string;
  /** Counts the steps. */
  now: number;
  /** The file at each path now. */
  readonly files: Map<string, string>;
  readonly versions: Version[];
  /** When the last sweep that has ended began: since then nothing that is there is unknown. */
  swept: number;
  /** When the daemon last read each file. */
  readonly reads: Map<string, number>;
  /** What happened, for whoever has to understand a failure. */
  readonly log: string[];
  /** Saves by rename that fell into the moment that no file system call can close. */
  unavoidable: number;
}

export const createWorld = (root: string): World => ({
  root,
  now: 0,
  swept: 0,
  files: new Map(),
  versions: [],
  reads: new Map(),
  log: [],
  unavoidable: 0,
});

export class Violation extends Error {
  override readonly name = 'Violation';
}

export const note = (world: World, text: string): void => {
  world.log.push(`${String(world.now).padStart(5)}  ${text}`);
};

/** Looks at the disk and answers what has changed since the last look, all of it made by this author. */
export const observe = (world: World, by: Author): Version[] => {
  const before = new Map(world.files);
  const found = readAll(world.root);
  const changed: Version[] = [];
  for (const [path, text] of found) {
    if (before.get(path) !== text) changed.push(put(world, path, text, by));
    before.delete(path);
  }
  for (const path of before.keys()) changed.push(put(world, path, undefined, by));
  return changed;
};

const put = (world: World, path: string, text: string | undefined, by: Author): Version => {
  const last = lastOf(world, path);
  if (last !== undefined) last.to = world.now;
  const version = { path, text, from: world.now, to: Number.POSITIVE_INFINITY, by };
  world.versions.push(version);
  if (text === undefined) world.files.delete(path);
  else world.files.set(path, text);
  note(world, `${who(by)} ${text === undefined ? 'removed' : 'wrote'} ${path}${brief(text)}`);
  return version;
};

const who = (by: Author): string => {
  if (by.kind === 'daemon') return by.call === undefined ? 'the daemon' : nameOf(by.call);
  return by.between === undefined ? by.name : `${by.name} [before ${by.between}]`;
};

const brief = (text: string | undefined): string =>
  text === undefined ? '' : `: ${JSON.stringify(text)}`;

const readAll = (root: string): Map<string, string> => {
  const files = new Map<string, string>();
  const walk = (dir: string): void => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) walk(path);
      else files.set(relative(root, path), readFileSync(path, 'utf8'));
    }
  };
  const cases = join(root, 'cases');
  if (lstatSync(cases, { throwIfNoEntry: false }) !== undefined) walk(cases);
  return files;
};

export const lastOf = (world: World, path: string): Version | undefined =>
  world.versions.findLast((version) => version.path === path);

/** The version of a file at a step. */
export const textAt = (world: World, path: string, at: number): string | undefined =>
  world.versions.findLast((version) => version.path === path && version.from <= at)?.text;

/** The versions that were on disk at any step from one to another. */
export const aliveIn = (world: World, from: number, to = world.now): Version[] =>
  world.versions.filter((version) => version.from <= to && version.to > from);

export const CASE = /\/case\.md$/;
export const PROOF = /\/proof\/(?!checklist\.md$)[A-Za-z0-9][A-Za-z0-9._-]*\.md$/;
export const MEMORY = /\/memory\/[^/]*\.md$/;

/** The directory of the Work item that a file belongs to. */
export const dirOf = (path: string): string => path.replace(/\/(case\.md|(proof|memory)\/.*)$/, '');

/** The directories that hold a case.md now, in order. */
export const itemDirs = ({ files }: World): string[] =>
  [...files.keys()]
    .filter((path) => CASE.test(path))
    .map(dirOf)
    .toSorted();

/** The versions of a Work item's case.md that could be read, wherever it was; also those from which its id was removed. */
export const casesOf = (world: World, id: string, from: number, to = world.now) => {
  const homes = homesEver(world, id);
  return aliveIn(world, from, to).flatMap((version) => {
    const told = homes.has(version.path) && version.text ? caseIn(version.text) : undefined;
    return told !== undefined && (told.id ?? id) === id ? [{ version, told }] : [];
  });
};

/** Every path at which a case.md with this id ever was. */
export const homesEver = ({ versions }: World, id: string): Set<string> =>
  new Set(versions.filter(({ path, text }) => CASE.test(path) && idIn(text) === id).map(pathOf));

const pathOf = ({ path }: Version): string => path;
const idIn = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : caseIn(text)?.id;

export const proofsOf = (world: World, id: string, from: number, to = world.now) =>
  aliveIn(world, from, to).flatMap((version) => {
    const told = PROOF.test(version.path) && version.text ? proofIn(version.text) : undefined;
    return told !== undefined && (told.id ?? id) === id ? [{ version, told }] : [];
  });

/** Whether anything in these directories could not be read, or was not there, at any step since. */
export const wasBrokenIn = (world: World, dir: string, from: number): boolean =>
  aliveIn(world, from).some(
    ({ path, text }) => path.startsWith(`${dir}/`) && !isReadable(path, text),
  );

const isReadable = (path: string, text: string | undefined): boolean => {
  if (CASE.test(path)) return text !== undefined && caseIn(text) !== undefined;
  if (PROOF.test(path)) return text === undefined || proofIn(text) !== undefined;
  return path.endsWith('checklist.md') ? text === undefined || partsOf(text) !== undefined : true;
};

/** The case.md files that hold this id now. */
export const homesOf = (world: World, id: string): string[] =>
  itemDirs(world).filter((dir) => caseIn(world.files.get(`${dir}/case.md`) ?? '')?.id === id);
