import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

interface House {
  layers: string[][];
  only: Record<string, string[]>;
  everywhere: string[];
  doors: Record<string, string[]>;
}

interface Checks {
  roomOf(house: House, path: string): string | undefined;
  refused(house: House, path: string, text: string): string[];
  check(house: House, files: Record<string, string>): string[];
  circles(files: Record<string, string>): string[];
}

const { refused, check, circles } = (await import(
  pathToFileURL(resolve('.ci/rooms.mjs')).href
)) as Checks;
const house: House = JSON.parse(readFileSync('.ci/rooms.json', 'utf8'));
const fileIn = (room: string): string => (/\.m?ts$/.test(room) ? room : `${room}/planted.ts`);
const rooms = house.layers.flatMap((names, layer) =>
  names.map((room) => ({ room, layer, path: fileIn(room) })),
);
type Room = (typeof rooms)[number];
const up = (path: string): string => '../'.repeat(path.split('/').length - 1);
const isIn = (room: string, folders: string[] = ['']): boolean =>
  folders.some((folder) => room === folder || folder === '' || room.startsWith(`${folder}/`));
const formsOf = (from: string): string[] => [
  `import { x } from '${from}';`,
  `import type { X } from '${from}';`,
  `import {\n  type X,\n} from '${from}';`,
  `export * from '${from}';`,
  `import '${from}';`,
  `const late = await import('${from}');`,
];

const assertImport = ({ path }: Room, name: string, isAllowed: boolean): void =>
  assert.equal(refused(house, path, `import x from '${name}';`).length, isAllowed ? 0 : 1, name);

const assertRoom = ({ room, path, layer }: Room, other: Room): void => {
  const isAllowed = other.layer > layer && isIn(other.room, house.only[room]);
  for (const text of formsOf(`${up(path)}${other.path}`))
    assert.equal(refused(house, path, text).length, isAllowed ? 0 : 1, text);
};

describe('the rooms of the house', () => {
  it('are what the tree has', () => {
    execFileSync(process.execPath, ['.ci/rooms.mjs'], { stdio: 'pipe' });
  });

  for (const planted of rooms)
    it(`refuse in ${planted.room} what is planted there`, () => {
      for (const other of rooms.filter(({ room }) => room !== planted.room))
        assertRoom(planted, other);
      for (const [name, allowed] of Object.entries(house.doors))
        assertImport(planted, name, isIn(planted.room, allowed));
      for (const name of ['left-pad', '@left/pad/sub', 'node:cluster'])
        assertImport(planted, name, false);
    });

  it('have no circle of files, types included', () => {
    const files = {
      'a/one.ts': `import { two } from './two.ts';`,
      'a/two.ts': `import type { Three } from '../b/three.ts';`,
      'b/three.ts': `export type { One } from '../a/one.ts';`,
      'b/four.ts': `import { one } from '../a/one.ts';`,
    };
    assert.deepEqual(circles(files), ['a/one.ts -> a/two.ts -> b/three.ts -> a/one.ts: a circle']);
    assert.deepEqual(circles({ ...files, 'b/three.ts': '' }), []);
    const found = check({ layers: [['a'], ['b']], only: {}, everywhere: [], doors: {} }, files);
    assert.ok(found.some((line) => line.endsWith('a circle')));
  });

  it('refuse a folder that is not listed, and an entry that nothing needs', () => {
    assert.match(refused(house, 'attic/box.ts', '')[0] ?? '', /no room/);
    const small = {
      layers: [['a'], ['b']],
      only: { a: ['b'] },
      everywhere: [],
      doors: { x: ['a'] },
    };
    assert.deepEqual(check(small, { 'a/b.ts': '' }), [
      '.ci/rooms.json: only: a does not need b',
      '.ci/rooms.json: doors: x does not need a',
      '.ci/rooms.json: b has no files',
    ]);
  });
});
