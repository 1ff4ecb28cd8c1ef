import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

interface Room {
  may?: string[];
  node?: string[];
  npm?: string[];
}

type Rooms = Record<string, Room>;

interface Checks {
  refused(rooms: Rooms, path: string, text: string): string[];
  outOfLine(rooms: Rooms): string[];
  check(rooms: Rooms, files: Record<string, string>): string[];
  circles(files: Record<string, string>): string[];
}

const { refused, outOfLine, check, circles } = (await import(
  pathToFileURL(resolve('.ci/rooms.mjs')).href
)) as Checks;
const rooms: Rooms = JSON.parse(readFileSync('.ci/rooms.json', 'utf8'));
const names = Object.keys(rooms).filter((name) => !name.startsWith('..'));
const fileIn = (room: string): string => (/\.m?ts$/.test(room) ? room : `${room}/planted.ts`);
const up = (path: string): string => '../'.repeat(path.split('/').length - 1);

describe('the rooms of the house', () => {
  it('are what the tree has', () => {
    execFileSync(process.execPath, ['.ci/rooms.mjs'], { stdio: 'pipe' });
  });

  it('stand in a line: none imports one above it', () => {
    assert.deepEqual(outOfLine(rooms), []);
    assert.equal(outOfLine({ high: { may: ['low'] }, low: {} }).length, 1);
  });

  for (const room of names) {
    const path = fileIn(room);
    const { may = [], node = [] } = rooms[room] ?? {};

    it(`refuse in ${room} what is planted there`, () => {
      const forbidden = names.filter((other) => other !== room && !may.includes(other));
      assert.ok(forbidden.length > 0);
      for (const other of forbidden) {
        const from = `${up(path)}${fileIn(other)}`;
        const forms = [
          `import { x } from '${from}';`,
          `import type { X } from '${from}';`,
          `import {\n  type X,\n} from '${from}';`,
          `export * from '${from}';`,
          `import '${from}';`,
          `const late = await import('${from}');`,
        ];
        for (const text of forms) assert.equal(refused(rooms, path, text).length, 1, text);
      }
      const doors = ['fs', 'fs/promises', 'child_process', 'net', 'http', 'vm', 'worker_threads'];
      const shut = doors.filter((door) => !node.includes(door));
      for (const door of shut)
        assert.equal(refused(rooms, path, `import { x } from 'node:${door}';`).length, 1, door);
      assert.equal(refused(rooms, path, `import x from 'left-pad';`).length, 1);
      assert.equal(refused(rooms, path, `import x from '@left/pad/sub';`).length, 1);
    });
  }

  it('hold no circle of files, types included', () => {
    const files = {
      'a/one.ts': `import { two } from './two.ts';`,
      'a/two.ts': `import type { Three } from '../b/three.ts';`,
      'b/three.ts': `export type { One } from '../a/one.ts';`,
      'b/four.ts': `import { one } from '../a/one.ts';`,
    };
    assert.deepEqual(circles(files), ['a/one.ts -> a/two.ts -> b/three.ts -> a/one.ts: a circle']);
    assert.deepEqual(circles({ ...files, 'b/three.ts': '' }), []);
    const told = check({ a: { may: ['b'] }, b: { may: ['a'] } }, files);
    assert.ok(told.some((line) => line.endsWith('a circle')));
  });

  it('refuse a folder that is not listed, and a line that nobody needs', () => {
    assert.match(refused(rooms, 'attic/box.ts', '')[0] ?? '', /no room/);
    const told = check({ a: { npm: ['x'] } }, { 'a/b.ts': '' });
    assert.deepEqual(told, ['.ci/rooms.json: a does not need x']);
  });
});
