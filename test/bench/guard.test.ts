import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { betterOf, failuresOf } from './guard.ts';
import type { Row } from './report.ts';

const row = (ratio: number | undefined, more: Partial<Row> = {}): Row => ({
  key: 'get-one-cpu',
  what: 'GET one Work item',
  measured: '40 µs',
  ...(ratio !== undefined && { ratio }),
  ...more,
});
const reference = [{ key: 'get-one-cpu', ratio: 2 }];

describe('failuresOf', () => {
  it('accepts a ratio that is better, equal, or up to 1.3 × worse', () => {
    for (const ratio of [0.5, 2, 2.6]) assert.deepEqual(failuresOf([row(ratio)], reference), []);
  });

  it('names the row, both ratios and what to do, where the ratio is more than 1.3 × worse', () => {
    const [failure = '', ...others] = failuresOf([row(2.7)], reference);
    assert.deepEqual(others, []);
    for (const part of ['get-one-cpu', '1.35 ×', '2.70', '2.00', 'Profile', '`npm run bench`'])
      assert.ok(failure.includes(part), `${part} in: ${failure}`);
  });

  it('compares with the worse one of two runs, since machines differ', () => {
    const two = [{ key: 'get-one-cpu', ratio: 2, before: 3 }];
    assert.deepEqual(failuresOf([row(3.9)], two), []);
    assert.match(failuresOf([row(4)], two)[0] ?? '', /1\.33 × worse.*, and 2\.00 or 3\.00 in/);
    const better = [{ key: 'get-one-cpu', ratio: 2, before: 1 }];
    assert.deepEqual(failuresOf([row(2.6)], better), []);
  });

  it('takes a lower ratio for the worse one, where the higher is the better', () => {
    const higher = { better: 'higher' } as const;
    assert.deepEqual(failuresOf([row(3, higher)], reference), []);
    assert.deepEqual(failuresOf([row(1.6, higher)], reference), []);
    assert.match(failuresOf([row(1.5, higher)], reference)[0] ?? '', /1\.33 × worse/);
  });

  it('fails for a row that RESULTS.md lacks, or has without a ratio', () => {
    for (const references of [[], [{ key: 'get-list-cpu', ratio: 2 }], [{ key: 'get-one-cpu' }]])
      assert.match(failuresOf([row(2)], references)[0] ?? '', /^get-one-cpu is missing/);
  });

  it('fails for a row that could not be measured', () => {
    assert.match(failuresOf([row(undefined)], reference)[0] ?? '', /^get-one-cpu has no ratio/);
    assert.match(failuresOf([row(Number.NaN)], reference)[0] ?? '', /^get-one-cpu is NaN/);
  });

  it('says of each row what is wrong with it, and ignores what is not measured any more', () => {
    const rows = [row(9), row(1, { key: 'new' }), row(1)];
    const more = [...reference, { key: 'gone', ratio: 1 }];
    assert.equal(failuresOf(rows, more).length, 2);
  });
});

describe('betterOf', () => {
  it('takes of each row what is better, or could be measured at all', () => {
    const ratios = (rows: readonly Row[], again: readonly Row[]) =>
      betterOf(rows, again).map(({ ratio }) => ratio);
    assert.deepEqual(ratios([row(3)], [row(2)]), [2]);
    assert.deepEqual(ratios([row(2)], [row(3)]), [2]);
    assert.deepEqual(ratios([row(2)], []), [2]);
    assert.deepEqual(ratios([row(undefined)], [row(3)]), [3]);
    const higher = { better: 'higher' } as const;
    assert.deepEqual(ratios([row(2, higher)], [row(3, higher)]), [3]);
  });
});
