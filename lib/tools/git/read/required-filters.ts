import { fstatSync, openSync, readSync } from 'node:fs';
import { orElse } from '../../../../store/base/attempt.ts';
import { whileOpen } from '../../../../store/base/open-file.ts';
import { isTrue, listSettings, type ScopedEntry, settingsText, valueIn } from '../run/config.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { MOST_LISTED, nulls, onDisk } from '../run/index-copy.ts';
import { PLAINLY } from '../run/plain-file.ts';

/**
 * Those of these files (latin1 paths) that git stores through a filter of the repository that the daemon does not run, such
 * as git-crypt: a commit of the daemon would have their plain content.
 */
export const unfilteredFiles = async (
  git: GitAt<GitWorktree>,
  paths: readonly string[],
): Promise<ReadonlySet<string>> => {
  const text = settingsText(git.place);
  const isPlain = text !== undefined && !MAY_NAME_FILTERS.test(text);
  if (isPlain || paths.length === 0) return new Set();
  const filters = filtersNotRun(await listSettings(git, 'latin1'));
  if (filters.size === 0) return new Set();
  const named = await attributeOf(git, 'filter', paths);
  return new Set(
    [...named].flatMap(([path, filter]) =>
      filters.has(filter) && hasPlainContent(onDisk(git.place, path)) ? [path] : [],
    ),
  );
};

// git allows no escapes in section names.
const MAY_NAME_FILTERS = /\[\s*(?:include|filter)/i;

/** The value that git has for an attribute of each of these files, by its latin1 path. */
export const attributeOf = async (
  git: GitAt<GitWorktree>,
  attribute: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const stdout = await git.read(['check-attr', '--stdin', '-z', attribute], {
    input: nulls(paths),
    max_bytes: MOST_LISTED,
  });
  const fields = stdout.toString('latin1').split('\0');
  // Path, attribute, value; then an empty field.
  return new Map(
    fields.flatMap((value, at): [string, string][] =>
      at % 3 === 2 ? [[fields[at - 2] ?? '', value]] : [],
    ),
  );
};

/** The filters in the settings that change or may refuse what git stores, and that the daemon's git does not run. */
export const filtersNotRun = (entries: readonly ScopedEntry[]): ReadonlySet<string> => {
  const own = entries.filter(({ local }) => !local);
  const names = entries.flatMap(({ key, local }) => (local ? (FILTER.exec(key)?.[1] ?? []) : []));
  return new Set(
    names.filter((name) => {
      const key = (what: string): string => `filter.${name}.${what}`;
      // git runs `clean` only without `process`. As in `overrides`: the operator's own command applies.
      const command = key(
        entries.some((entry) => entry.key === key('process')) ? 'process' : 'clean',
      );
      if (valueIn(own, command)) return false;
      return (
        isTrue(valueIn(entries, key('required'))) ||
        !UNCHANGED.test(valueIn(entries, command) ?? '')
      );
    }),
  );
};

// `cat` is the usual command of a filter that only changes what is checked out.
const UNCHANGED = /^\s*(?:cat\s*)?$/;

const FILTER = /^filter\.(.+)\.(?:clean|process|required)$/s;

// Filters convert regular files alone. What git-lfs and git-crypt store is in the worktree as it is, and stays so.
const hasPlainContent = (path: Buffer): boolean =>
  orElse(
    () =>
      whileOpen(openSync(path, PLAINLY), (file) => {
        const found = fstatSync(file);
        if (!found.isFile()) return false;
        const start = Buffer.alloc(START_BYTES);
        const text = start.toString('latin1', 0, readSync(file, start));
        const isPointer = text.startsWith(LFS_POINTER) && found.size <= LFS_POINTER_BYTES;
        return !isPointer && !text.startsWith(GIT_CRYPT);
      }),
    false,
    'ENOENT',
    'ENOTDIR',
    'ELOOP',
    'ENXIO',
  );

const START_BYTES = 64;
const GIT_CRYPT = '\0GITCRYPT\0';
const LFS_POINTER = 'version https://git-lfs.github.com/spec/v1\n';
// git-lfs takes no longer file for a pointer.
const LFS_POINTER_BYTES = 1024;
