import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Row } from './report.ts';
import { nextResults, resultsIn, textOf, withLong } from './results.ts';

const run = (commit: string) => ({ commit, date: '2026-11-23', CPU: 'A | B, 2 cores' });
const getOne = (ratio: number): Row => ({
  key: 'get-one-cpu',
  what: 'GET one Work item (CPU), a \\ and a |',
  measured: '40.1 µs',
  limit: '30 µs bare hapi',
  ratio,
  target: '<= 1.25',
});
const stall: Row = { key: 'export-stall-idle', what: 'a stall', measured: '3 ms' };
const guard = (ratio: number): Row => ({ ...getOne(ratio), what: 'the same with less' });

describe('textOf and resultsIn', () => {
  const first = nextResults(
    { run: run('abc'), rows: [getOne(1.2345), stall], guard: [guard(1.5)] },
    undefined,
  );
  const second = nextResults(
    { run: run('def'), rows: [stall, getOne(1310.4)], guard: [guard(0.04123)] },
    { ...first, peers: 'A table.\n\n| a | b |\n' },
  );

  const long = { of: '`npm run bench -- --long` of abc.', rows: [getOne(2)] };

  it('read what they wrote', () => {
    for (const results of [first, second, withLong(long, second)]) {
      assert.deepEqual(resultsIn(textOf(results)), results);
      assert.equal(textOf(resultsIn(textOf(results))), textOf(results));
    }
  });

  it('keep three digits of a ratio, and name a target that is missed', () => {
    assert.deepEqual(
      second.rows.map(({ ratio, target }) => [ratio, target]),
      [
        [undefined, ''],
        [1310, '<= 1.25 MISSED'],
      ],
    );
    assert.deepEqual(first.rows[0]?.ratio, 1.23);
  });

  it('keep of the run before its ratios by key, its commit and its machine', () => {
    assert.deepEqual(second.before, run('abc'));
    assert.deepEqual(
      second.rows.map(({ key, before }) => [key, before]),
      [
        ['export-stall-idle', undefined],
        ['get-one-cpu', 1.23],
      ],
    );
    assert.equal(second.guard[0]?.before, 1.5);
    assert.equal(first.before, undefined);
  });

  it('keep the section Peers as it stands', () => {
    assert.equal(resultsIn(textOf(second)).peers, 'A table.\n\n| a | b |\n');
  });

  it('keep the section Long, with the ratios of its run before', () => {
    const again = withLong({ ...long, rows: [getOne(3)] }, withLong(long, second));
    assert.deepEqual(nextResults({ run: run('ghi'), rows: [], guard: [] }, again).long, again.long);
    assert.deepEqual([again.long?.rows[0]?.ratio, again.long?.rows[0]?.before], [3, 2]);
    assert.equal(again.peers, second.peers);
  });

  it('read nothing in an empty text', () => {
    assert.deepEqual(resultsIn(''), { run: {}, rows: [], guard: [] });
  });
});
