import { lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../../store/base/attempt.ts';
import { isAtOrBelow, isAtOrBelowAny } from '../../store/base/paths.ts';
import { plainText } from '../tools/git/run/plain-file.ts';
import { settingsCopy } from './git-config.ts';
import { empty, isDirectory, type Mount, real } from './mounts.ts';

/**
 * The real paths of the checkouts to cover: not one that the operator shows, nor a directory that programs need as it is, nor
 * one that contains the home directory, in which the rules for homes apply.
 */
export const coveredCheckouts = (
  checkouts: readonly string[],
  { home, named }: { home: string; named: readonly string[] },
): string[] => {
  const found = checkouts.filter(isDirectory).map((path) => realpathSync(path));
  return [...new Set(found)].filter(
    (path) =>
      !SYSTEM.includes(path) &&
      !real([home]).some((place) => isAtOrBelow(place, path)) &&
      !isAtOrBelowAny(path, named),
  );
};

// As with etckeeper: without these no program starts.
const SYSTEM = [
  ...['/', '/bin', '/boot', '/dev', '/etc', '/lib', '/lib64', '/nix', '/opt', '/proc', '/run'],
  ...['/sbin', '/sys', '/tmp', '/usr', '/usr/bin', '/usr/lib', '/usr/local', '/usr/share', '/var'],
];

/** What stays visible of a covered checkout: packages, to which links lead, and which Node looks for in parent directories. */
export const packagesIn = (checkout: string): string[] =>
  ['node_modules', 'vendor', '.venv', 'venv']
    .map((name) => join(checkout, name))
    .filter((path) => orElse(() => lstatSync(path).isDirectory(), false));

/**
 * Covers the stashes, and the refs of Dossier that keep what was removed, of the repositories at some places. A run needs none
 * of them.
 */
export const ownRefMounts = (places: readonly { from: string; to: string }[]): Mount[] =>
  places
    .filter(({ from }) => isDirectory(from) && plainText(join(from, 'HEAD'), 65_536) !== undefined)
    .flatMap(({ from, to: at }) => {
      const [to = at] = real([at]);
      return [
        ...DIRECTORIES.filter((name) => isDirectory(join(from, name))).map((name) =>
          empty(join(to, name)),
        ),
        ...Object.entries(FILES).flatMap(([name, text]) =>
          covering(join(from, name), join(to, name), () => text),
        ),
        ...covering(join(from, 'packed-refs'), join(to, 'packed-refs'), withoutOwnRefs),
      ];
    });

const DIRECTORIES = ['refs/dossier', 'logs/refs/dossier'];

// A symbolic ref that leads nowhere is no ref for git, while an empty file is a broken one.
const FILES = { 'refs/stash': 'ref: refs/dossier/hidden\n', 'logs/refs/stash': '' };

const MOST_BYTES = 268_435_456;

const covering = (from: string, path: string, as: (text: string) => string): Mount[] => {
  const text = plainText(from, MOST_BYTES);
  if (text === undefined) return [];
  const shown = as(text);
  return shown === text ? [] : [{ path, arguments: ['--ro-bind', settingsCopy(shown), path] }];
};

const OWN_REF = /^[0-9a-f]+ refs\/(?:stash|dossier\/.*)\n(?:\^.*\n)?/gm;

const withoutOwnRefs = (packed: string): string => packed.replaceAll(OWN_REF, '');
