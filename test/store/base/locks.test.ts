import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LOCKS } from '../../../store/base/locks.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../../..');

const sources = ['store', 'lib', 'routes'].flatMap((room) =>
  readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.m?ts$/.test(name))
    .map((name) => ({
      path: `${room}/${name}`,
      text: readFileSync(join(ROOT, room, name), 'utf8'),
    })),
);

describe('the list of locks', () => {
  it('has each kind once', () => {
    assert.equal(new Set(LOCKS.map(({ kind }) => kind)).size, LOCKS.length);
  });

  it('has no kind that nobody takes', () => {
    const taken = new Set(
      sources.flatMap(({ text }) => [...text.matchAll(/\blockOn\.(\w+)/g)].map(([, kind]) => kind)),
    );
    // The whole process holds it, and asks for nothing before.
    taken.add('daemon');
    assert.deepEqual(
      LOCKS.map(({ kind }) => kind).filter((kind) => !taken.has(kind)),
      [],
    );
  });

  it('names every lock: none is made elsewhere, nor by a string', () => {
    const takes = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/\blocks\??\s*\.(?:take|whenFree|isTaken)\(\s*(\w+)/g)].map(([, lock]) => ({
        path,
        lock,
      })),
    );
    assert.ok(takes.length > 30);
    const others = takes.filter(({ lock }) => lock !== 'lockOn');
    assert.deepEqual(others, [{ path: 'store/webhooks/webhooks.ts', lock: 'lockOf' }]);
    const guards = sources.filter(({ text }) => text.includes("from 'proper-lockfile'"));
    assert.deepEqual(guards.map(({ path }) => path).toSorted(), [
      'store/fs/folder-lock.ts',
      'store/workspace/daemon-lock.ts',
    ]);
  });

  it('is what README.md of its room says', () => {
    const lines = LOCKS.map((lock) => {
      const per = 'per' in lock ? `, for each ${lock.per}` : '';
      return `- \`${lock.kind}\`${per}: ${lock.purpose}`;
    });
    const text = readFileSync(join(ROOT, 'store/base/README.md'), 'utf8');
    const told = text.split('\n## Locks\n')[1]?.split('\n## ')[0]?.split('\n') ?? [];
    assert.deepEqual(
      told.filter((line) => line.startsWith('- ')),
      lines,
    );
  });
});
