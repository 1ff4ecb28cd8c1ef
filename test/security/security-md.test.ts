import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { GUIDES } from '../examples/guides.ts';
import { PROJECT } from '../examples/run.ts';

const tableIn = (text: string): string[][] =>
  (text.split('\n## Attacks\n')[1] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

const tables = GUIDES.map(({ path, text }) => ({ path, table: tableIn(text) })).filter(
  ({ table }) => table.length > 0,
);

/** The rows of the tables of attacks, by cell. */
const rows = tables.flatMap(({ table }) => table);

const SEEN = Array.from({ length: 14 }, (_, number) => number + 1);

const testsIn = (cell: string): string[] => cell.match(/test\/[\w/.-]+\.test\.ts/g) ?? [];

describe('the tables of attacks in the guides', () => {
  it('names for each that is held a test, and each test is there', () => {
    assert.ok(rows.length > 25);
    for (const [attack = '', held = '', named = ''] of rows) {
      if (!held.startsWith('not held')) assert.ok(testsIn(named).length > 0, attack);
    }
    for (const path of rows.flat().flatMap(testsIn))
      assert.ok(existsSync(join(PROJECT, path)), path);
  });

  it('has every attack that was seen', () => {
    const seen = rows.flatMap(([attack = '']) =>
      [...attack.matchAll(/\((\d+)\)/g)].map(([, n]) => Number(n)),
    );
    assert.deepEqual(
      [...new Set(seen)].sort((a, b) => a - b),
      SEEN,
    );
  });

  it('says of each how it is held, and how it is without a sandbox', () => {
    for (const [attack = '', held = '', , without = ''] of rows) {
      assert.match(held, /^(?:os|git|mode|check|not held|all of it)\b/, attack);
      assert.notEqual(without, '', attack);
    }
  });

  it('are in the guides that SECURITY.md links to, which can be read in five minutes', () => {
    const security = GUIDES.find(({ path }) => path === '.github/SECURITY.md')?.text ?? '';
    const linked = [...security.matchAll(/\]\(\.\.\/([\w/-]+\/GUIDE\.md)#attacks\)/g)];
    assert.deepEqual(
      linked.map(([, path]) => path).toSorted(),
      tables.map(({ path }) => path),
    );
    assert.ok(Buffer.byteLength(security) <= 9216);
  });
});
