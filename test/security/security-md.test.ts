import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const text = readFileSync(join(ROOT, '.github/SECURITY.md'), 'utf8');

/** The rows of the table of attacks, by cell. */
const rows = (text.split('## Attacks')[1] ?? '')
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

const SEEN = Array.from({ length: 14 }, (_, number) => number + 1);

const testsIn = (cell: string): string[] => cell.match(/test\/[\w/.-]+\.test\.ts/g) ?? [];

describe('the table of attacks in SECURITY.md', () => {
  it('names for each that is held a test, and each test is there', () => {
    assert.ok(rows.length > 25);
    for (const [attack = '', held = '', named = ''] of rows) {
      if (!held.startsWith('not held')) assert.ok(testsIn(named).length > 0, attack);
    }
    for (const path of testsIn(text)) assert.ok(existsSync(join(ROOT, path)), path);
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
});
