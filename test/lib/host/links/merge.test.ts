import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Fields } from '../../../../lib/host/links/issue-fields.ts';
import {
  mergedFields,
  mergeFields,
  type Preference,
  type Sides,
} from '../../../../lib/host/links/merge.ts';
import { FIELDS, type FieldName, type FieldSync } from '../../../../store/records/sync.ts';

const BASE: Fields = {
  title: 'Tax',
  description: 'One\n',
  labels: ['bug'],
  assignees: ['ada'],
  milestone: 'v1',
  state: 'open',
};

/** Two other values of each field. */
const OTHERS: Record<FieldName, [unknown, unknown]> = {
  title: ['Taxes', 'Levy'],
  description: ['Two\n', 'Three\n'],
  labels: [['bug', 'ui'], []],
  assignees: [[], ['bob']],
  milestone: [null, 'v2'],
  state: ['closed', null],
};

const withValue = (field: FieldName, value: unknown): Fields => ({ ...BASE, [field]: value });

const outcome = (sides: Sides, prefer?: Preference): (string | undefined)[] =>
  mergeFields(sides, prefer).map(({ field, outcome: what }) => `${field} ${what}`);

describe('mergeFields', () => {
  for (const field of FIELDS) {
    const [a, b] = OTHERS[field];
    const [base, one, other] = [BASE, withValue(field, a), withValue(field, b)];
    const rows: [string, Sides, string | undefined, unknown][] = [
      ['the same everywhere', { base, here: base, host: base }, undefined, BASE[field]],
      ['changed on the host', { base, here: base, host: one }, 'taken', a],
      ['changed here', { base, here: one, host: base }, 'kept', a],
      ['changed alike', { base, here: one, host: one }, 'same', a],
      ['changed on both', { base, here: one, host: other }, 'conflict', a],
      ['alike, and never synced', { base: undefined, here: one, host: one }, undefined, a],
      [
        'unlike, and never synced',
        { base: undefined, here: base, host: one },
        'conflict',
        BASE[field],
      ],
    ];
    for (const [name, sides, wanted, value] of rows) {
      it(`${field} that is ${name}: ${wanted ?? 'nothing'}`, () => {
        const found = mergeFields(sides);
        assert.deepEqual(
          found.map((each) => each.outcome),
          wanted === undefined ? [] : [wanted],
        );
        assert.deepEqual(mergedFields(sides, found)[field], value);
      });
    }

    it(`${field} in conflict is settled as the operator prefers`, () => {
      const sides = { base, here: one, host: other };
      for (const [prefer, value] of [
        ['local', a],
        ['remote', b],
      ] as const) {
        const found = mergeFields(sides, prefer);
        assert.deepEqual(outcome(sides, prefer), [`${field} settled`]);
        assert.deepEqual(mergedFields(sides, found, prefer)[field], value);
        assert.deepEqual([found[0]?.base, found[0]?.here, found[0]?.host], [BASE[field], a, b]);
      }
    });
  }

  it('takes what was never here, without any copy to compare with', () => {
    const here = {
      ...BASE,
      description: '',
      labels: [],
      assignees: [],
      milestone: null,
      state: null,
    };
    const sides = { base: undefined, here, host: BASE };
    const found = mergeFields(sides);
    assert.deepEqual(new Set(found.map((each) => each.outcome)), new Set(['taken']));
    assert.deepEqual(mergedFields(sides, found), BASE);
  });

  it('sees no change in line ends and in the order of labels', () => {
    const base = { ...BASE, description: 'a\nb', labels: ['x', 'y'] };
    const host = { ...base, description: 'a\r\nb', labels: ['y', 'x', 'x'] };
    assert.deepEqual(outcome({ base, here: base, host }), []);
    const here = { ...base, description: 'c' };
    assert.deepEqual(outcome({ base, here, host }), ['description kept']);
  });
});

// What counts as no change: another order, other line ends.
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.toSorted();
  return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value;
};

const Names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'));
const Word = fc.constantFrom('', 'a', 'b', 'a\r\nb', 'a\nb');
const Any: fc.Arbitrary<Fields> = fc.record({
  title: fc.constantFrom('a', 'b', 'c'),
  description: Word,
  labels: Names,
  assignees: Names,
  milestone: fc.option(fc.constantFrom('a', 'b')),
  state: fc.constantFrom('open', 'closed', null),
});
const AnySides: fc.Arbitrary<Sides> = fc.record({
  base: fc.option(Any, { nil: undefined }),
  here: Any,
  host: Any,
});
const isWonByHost = ({ outcome: what }: FieldSync, prefer: Preference | undefined): boolean =>
  what === 'taken' || (what === 'settled' && prefer === 'remote');

const Prefer = fc.constantFrom(undefined, 'local' as const, 'remote' as const);

describe('a merge of anything', () => {
  it('never loses a change that was made here, unless the operator prefers the host', () => {
    fc.assert(
      fc.property(AnySides, Prefer, (sides, prefer) => {
        const found = mergeFields(sides, prefer);
        const merged = mergedFields(sides, found, prefer);
        const won = found.filter((each) => isWonByHost(each, prefer)).map((each) => each.field);
        for (const field of FIELDS)
          assert.deepEqual(merged[field], (won.includes(field) ? sides.host : sides.here)[field]);
      }),
    );
  });

  it('takes nothing where something was changed here, and keeps both versions of what it found', () => {
    fc.assert(
      fc.property(AnySides, Prefer, (sides, prefer) => {
        const found = mergeFields(sides, prefer);
        for (const { field, here, host } of found)
          assert.deepEqual([here, host], [sides.here[field], sides.host[field]]);
        const taken = found.filter((each) => each.outcome === 'taken' && 'base' in each);
        for (const { here, base } of taken) assert.deepEqual(plain(here), plain(base));
      }),
    );
  });

  it('comes to nothing more when it is done again', () => {
    fc.assert(
      fc.property(AnySides, Prefer, ({ base, here, host }, prefer) => {
        const sides = { base, here, host };
        const found = mergeFields(sides, prefer);
        const merged = mergedFields(sides, found, prefer);
        const isOpen = found.some((each) => each.outcome === 'conflict');
        const again = mergeFields({ base: isOpen ? base : host, here: merged, host }, prefer);
        const wanted = isOpen ? ['conflict', 'kept', 'same'] : ['kept'];
        for (const each of again) assert.ok(wanted.includes(each.outcome), each.outcome);
        const conflicts = (list: typeof found): string[] =>
          list.filter((each) => each.outcome === 'conflict').map((each) => each.field);
        assert.deepEqual(conflicts(again), conflicts(found));
      }),
    );
  });
});
