// Who may import whom. .ci/rooms.json has the layers of the house from the top down, with the rooms (folders or files) of each. A room may
// import the layers below its own, in `only` a part of them, and nothing beside or above it. `doors` lists each package and
// each module of Node that reaches out of the process, with the rooms that may import it. Types count, circles of files are refused, and so are entries
// that nothing needs.
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { pathToFileURL } from 'node:url';

/** @typedef {{ layers: string[][], only: Record<string, string[]>, everywhere: string[], doors: Record<string, string[]> }} House */

const IMPORT =
  /^\s*(?:import|export)\s[^'"`;]*?from\s+['"]([^'"]+)['"]|^\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]|\bnew URL\(\s*['"](\.[^'"]+)['"]\s*,\s*import\.meta\.url/gm;

/** The import specifiers of a file. */
export const importsOf = (text) =>
  [...text.matchAll(IMPORT)].map(([, from, bare, dynamic, url]) => from ?? bare ?? dynamic ?? url);

const isIn = (path, folder) => path === folder || path.startsWith(`${folder}/`);

/** The room of a path: the longest entry of the layers that contains it. */
export const roomOf = ({ layers }, path) =>
  layers
    .flat()
    .filter((room) => isIn(path, room))
    .toSorted((a, b) => b.length - a.length)[0];

const layerOf = ({ layers }, room) => layers.findIndex((rooms) => rooms.includes(room));

/** One sentence for each import of a file that the house does not allow. `used` collects what was allowed. */
export const refused = (house, path, text, used = new Set()) => {
  const room = roomOf(house, path);
  if (room === undefined) return [`${path} is in no room of .ci/rooms.json`];
  return importsOf(text)
    .filter((wanted) => !isAllowed(house, { path, room, wanted, used }))
    .map((wanted) => `${path}: ${room} may not import ${wanted}`);
};

const isAllowed = (house, { path, room, wanted, used }) => {
  if (!wanted.startsWith('.')) return isDoor(house, { room, wanted, used });
  const target = posix.join(posix.dirname(path), wanted);
  // Its own version, from where the bundle is.
  if (posix.basename(target) === 'package.json') return true;
  const other = roomOf(house, target);
  if (other === room) return true;
  if (layerOf(house, other) <= layerOf(house, room)) return false;
  const allowed = house.only[room]?.find((folder) => isIn(target, folder));
  if (allowed !== undefined) used.add(`only ${room} ${allowed}`);
  return house.only[room] === undefined || allowed !== undefined;
};

const isDoor = ({ doors, everywhere }, { room, wanted, used }) => {
  if (everywhere.includes(wanted)) return true;
  const name = wanted.startsWith('node:') ? wanted : /^(@[^/]+\/)?[^/]+/.exec(wanted)[0];
  const door = doors[name]?.find((folder) => isIn(room, folder));
  if (door !== undefined) used.add(`doors ${name} ${door}`);
  return door !== undefined;
};

/** Files that import each other, types included, at any distance: each circle once. */
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

const unused = (house, used, files) => [
  ...['only', 'doors'].flatMap((part) =>
    Object.entries(house[part]).flatMap(([name, folders]) =>
      folders
        .filter((folder) => !used.has(`${part} ${name} ${folder}`))
        .map((folder) => `.ci/rooms.json: ${part}: ${name} does not need ${folder}`),
    ),
  ),
  ...house.layers
    .flat()
    .filter((room) => !Object.keys(files).some((path) => roomOf(house, path) === room))
    .map((room) => `.ci/rooms.json: ${room} has no files`),
];

/** Everything that is wrong with these files, by their paths. */
export const check = (house, files) => {
  const used = new Set();
  const found = Object.entries(files).flatMap(([path, text]) => refused(house, path, text, used));
  return [...found, ...unused(house, used, files), ...circles(files)];
};

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { execFileSync } = await import('node:child_process');
  const tracked = ['ls-files', '-co', '--exclude-standard', 'lib', 'store', 'routes'];
  const paths = execFileSync('git', tracked)
    .toString()
    .split('\n')
    .filter((path) => /\.m?tsx?$/.test(path));
  const files = Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'utf8')]));
  const wrong = check(JSON.parse(readFileSync('.ci/rooms.json', 'utf8')), files);
  for (const line of wrong) console.error(line);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
