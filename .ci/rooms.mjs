// The house: which room imports what. Everything that .ci/rooms.json does not allow is refused, types too, and so are a
// folder that it does not list, a line of it that nobody needs, a room that stands above one that it imports, and files
// that import each other.
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { pathToFileURL } from 'node:url';

/** @typedef {{ may?: string[], node?: string[], npm?: string[] }} Room */

const IMPORT =
  /^\s*(?:import|export)\s[^'"`;]*?from\s+['"]([^'"]+)['"]|^\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]|\bnew URL\(\s*['"](\.[^'"]+)['"]\s*,\s*import\.meta\.url/gm;

/** What a file imports, as it stands there. */
export const importsOf = (text) =>
  [...text.matchAll(IMPORT)].map(([, from, bare, later, url]) => from ?? bare ?? later ?? url);

/** The nearest folder above a file that is listed, or the file itself where it is. */
export const roomOf = (rooms, path) => {
  if (Object.hasOwn(rooms, path)) return path;
  for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder))
    if (Object.hasOwn(rooms, folder)) return folder;
  return undefined;
};

/** What of a file's imports its room does not allow: a sentence for each. `seen` is told what was allowed. */
export const refused = (rooms, path, text, seen = () => {}) => {
  const room = roomOf(rooms, path);
  if (room === undefined) return [`${path} is in no room of .ci/rooms.json`];
  const { may = [], node = [], npm = [] } = rooms[room];
  return importsOf(text).flatMap((wanted) => {
    const [kind, name, allowed] = sortOut(rooms, path, wanted, { may, node, npm });
    if (name === room) return [];
    if (allowed.includes(name)) return seen(room, kind, name) ?? [];
    return [`${path}: ${room} may not import ${name ?? wanted}`];
  });
};

const sortOut = (rooms, path, wanted, { may, node, npm }) => {
  if (wanted.startsWith('node:')) return ['node', wanted.slice('node:'.length), node];
  if (!wanted.startsWith('.')) return ['npm', /^(@[^/]+\/)?[^/]+/.exec(wanted)[0], npm];
  return ['may', roomOf(rooms, posix.join(posix.dirname(path), wanted)), may];
};

/** What is wrong with the table itself: a room that is listed before one that it imports. */
export const outOfLine = (rooms) => {
  const names = Object.keys(rooms);
  return names.flatMap((name, at) =>
    (rooms[name].may ?? [])
      .filter((other) => !names.slice(0, at).includes(other))
      .map((other) => `.ci/rooms.json: ${name} stands before ${other}, which it may import`),
  );
};

/** Files that import each other, types included, however many are in between: each circle once. */
export const circles = (files) => {
  const done = new Set();
  const walk = (path, above) => {
    const at = above.indexOf(path);
    if (at >= 0) return [`${[...above.slice(at), path].join(' -> ')}: a circle`];
    if (done.has(path) || files[path] === undefined) return [];
    const found = importsOf(files[path])
      .filter((wanted) => wanted.startsWith('.'))
      .flatMap((wanted) => walk(posix.join(posix.dirname(path), wanted), [...above, path]));
    done.add(path);
    return found;
  };
  return Object.keys(files).flatMap((path) => walk(path, []));
};

const needless = (rooms, used) =>
  Object.entries(rooms).flatMap(([room, lists]) =>
    Object.entries(lists).flatMap(([kind, names]) =>
      names
        .filter((name) => !used.has(`${room} ${kind} ${name}`))
        .map((name) => `.ci/rooms.json: ${room} does not need ${name}`),
    ),
  );

/** All that is wrong with these files, by their paths. */
export const check = (rooms, files) => {
  const used = new Set();
  const seen = (...what) => void used.add(what.join(' '));
  const found = Object.entries(files).flatMap(([path, text]) => refused(rooms, path, text, seen));
  return [...found, ...outOfLine(rooms), ...needless(rooms, used), ...circles(files)];
};

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { execFileSync } = await import('node:child_process');
  const listed = execFileSync('git', [
    'ls-files',
    '-co',
    '--exclude-standard',
    'base',
    'lib',
    'store',
    'routes',
  ]);
  const paths = listed
    .toString()
    .split('\n')
    .filter((path) => /\.m?tsx?$/.test(path));
  const files = Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'utf8')]));
  const wrong = check(JSON.parse(readFileSync('.ci/rooms.json', 'utf8')), files);
  for (const line of wrong) console.error(line);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
