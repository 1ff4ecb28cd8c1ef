import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../../../../store/base/attempt.ts';
import type { GitPlace, Setting } from './git.ts';
import { isThere } from './plain-file.ts';

/**
 * Overrides `core.ignoreCase` where the file system distinguishes case. A repository that was copied from macOS or Windows
 * sets it, and git then reports no file whose name differs from a tracked one only in case.
 */
export const caseSettings = (place: GitPlace): Setting[] =>
  distinguishesCase(place) ? [['core.ignoreCase', 'false']] : [];

/** Whether the file system of a place distinguishes case; false if that is not certain. */
export const distinguishesCase = (place: GitPlace): boolean => {
  if (typeof place === 'string') return isDistinct(place, '.git', '.GIT') === true;
  const { git_dir, path } = place;
  const inTree = path === undefined ? undefined : isDistinct(path, '.git', '.GIT');
  return inTree ?? isDistinct(git_dir, 'HEAD', 'head') === true;
};

// Undefined if the first name is missing. An agent can create the second, too: only then does a directory list both.
const isDistinct = (directory: string, name: string, other: string): boolean | undefined =>
  orElse(() => {
    if (!isThere(join(directory, name))) return undefined;
    if (!isThere(join(directory, other))) return true;
    const listed = readdirSync(directory);
    return listed.includes(name) && listed.includes(other);
  }, undefined);
