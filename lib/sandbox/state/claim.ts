import { join } from 'node:path';
import { bytesOf, createAt, isThere } from './files.ts';
import type { Claims, Mine, StateRules } from './place.ts';

interface Place {
  root: string;
  rules: StateRules;
  mine: Mine;
}

/** Why the directory that a conversation lies in is not this project's; one that is not there yet may become so. */
export const notClaimed = async (
  { root, rules: { claims }, mine }: Place,
  path: string,
): Promise<string | undefined> => {
  if (claims === undefined) return undefined;
  const directory = directoryOf(path, claims);
  const name = directory.slice(claims.within.length + 1);
  if (!(await isThere(join(root, directory))))
    return isNamedAfter(name, claims.name(mine.cwd)) ? undefined : 'its directory has another name';
  const marker = await bytesOf(join(root, directory, claims.marker), LONGEST).catch(() => '');
  return marker.toString().trim() === mine.cwd ? undefined : "its directory is another project's";
};

/** Makes that directory this project's where it is not there yet: no other project takes it then. */
export const claim = async (
  { root, rules: { claims }, mine }: Place,
  path: string,
): Promise<void> => {
  if (claims === undefined) return;
  const directory = directoryOf(path, claims);
  if (await isThere(join(root, directory))) return;
  await createAt(root, join(directory, claims.marker), Buffer.from(mine.cwd));
};

const LONGEST = 65_536;

const directoryOf = (path: string, { within }: Claims): string =>
  path
    .split('/')
    .slice(0, within.split('/').length + 1)
    .join('/');

const isNamedAfter = (name: string, project: string): boolean =>
  name === project ||
  (name.startsWith(`${project}-`) && /^\d+$/.test(name.slice(project.length + 1)));
