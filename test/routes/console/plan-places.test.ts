/** Where a comment stands on the next version. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blocksOf } from '../../../routes/console/parts/markdown/blocks.ts';
import {
  type PlanPart,
  placeComments,
  quoteOf,
} from '../../../routes/console/parts/plan/places.ts';
import { readComments, withComment } from '../../../store/base/comments.ts';

const blocksIn = (text: string): PlanPart[] => blocksOf(text) ?? [];
const linesIn = (text: string): PlanPart[] =>
  text.split('\n').map((raw, at) => ({ raw, line: at + 1 }));

const PLAN = [
  '# Plan',
  '',
  'Read first.',
  '',
  '- one item',
  '- two items',
  '',
  '| a | b |',
  '| - | - |',
  '| row one | 1 |',
  '| row two | 2 |',
  '',
  '```sh',
  'npm test',
  'npm run build',
  '```',
  '',
  'Read first.',
  '',
].join('\n');

/** The line at which a comment stands that was made on one of `made`, and whether the wording there is another. */
const placeIn = (
  made: readonly PlanPart[],
  line: number,
  next: readonly PlanPart[],
  which = '',
) => {
  const place = made.find((one) => one.line === line);
  assert.ok(place);
  const file = withComment('', quoteOf(place), `${which}What of it?`);
  const [[at = -1, [first] = []] = []] = placeComments(next, readComments(file).unsent);
  return [next[at]?.line, first?.wasOther];
};

describe('a comment on a plan', () => {
  const next = `New words before it.\n\n${PLAN}`;

  it('stands at its line, list item, table row and code on the next version, which has more before it', () => {
    for (const line of [3, 5, 6, 10, 11, 14, 15])
      assert.deepEqual(placeIn(linesIn(PLAN), line, linesIn(next)), [
        line === 3 ? 5 : line + 2,
        false,
      ]);
    for (const block of [1, 5, 8, 13])
      assert.deepEqual(placeIn(blocksIn(PLAN), block, blocksIn(next)), [block + 2, false]);
  });

  it('stands at the block with its line, and below the last line of its block', () => {
    const blockOf = { 5: 7, 6: 7, 10: 10, 11: 10, 14: 15, 15: 15 };
    for (const [line, block] of Object.entries(blockOf))
      assert.deepEqual(placeIn(linesIn(PLAN), Number(line), blocksIn(next)), [block, false]);
    assert.deepEqual(placeIn(blocksIn(PLAN), 8, linesIn(next)), [13, false]);
    assert.deepEqual(placeIn(blocksIn(PLAN), 13, linesIn(next)), [18, false]);
  });

  it('stands at the one that was meant of several with the same wording', () => {
    assert.deepEqual(placeIn(linesIn(PLAN), 18, linesIn(next), '(line 18, 2 of 2) '), [20, false]);
    assert.deepEqual(placeIn(blocksIn(PLAN), 3, blocksIn(next), '(line 3, 1 of 2) '), [5, false]);
    // As it was written before, and where another of them came: the nearest.
    assert.deepEqual(placeIn(linesIn(PLAN), 18, linesIn(next), '(line 18) '), [20, false]);
    const third = `Read first.\n\n${PLAN}`;
    assert.deepEqual(placeIn(linesIn(PLAN), 18, linesIn(third), '(line 18, 2 of 2) '), [20, false]);
  });

  it('is not misled by line ends, nor by a line that holds the wording', () => {
    const windows = next.replaceAll('\n', '\r\n');
    assert.deepEqual(placeIn(linesIn(PLAN), 11, linesIn(windows)), [13, false]);
    assert.deepEqual(placeIn(linesIn(windows), 13, linesIn(PLAN)), [11, false]);
    assert.deepEqual(placeIn(blocksIn(windows), 10, blocksIn(PLAN)), [8, false]);
    const holds = `Run npm test twice.\n\n${PLAN}`;
    assert.deepEqual(placeIn(linesIn(PLAN), 14, blocksIn(holds)), [15, false]);
  });

  it('is quoted by a hand with what cannot be seen, and stands where that is shown', () => {
    const comment = { quote: 'A \u202Eright\u202C one', text: 'Why?', start: 0, end: 0 };
    const shown = linesIn('First\nA ⟦U+202E⟧right⟦U+202C⟧ one\n');
    assert.deepEqual([...placeComments(shown, [comment])], [[1, [{ comment, wasOther: false }]]]);
  });

  it('goes with a wording that became another, and stands nowhere when nothing is like it', () => {
    const other = PLAN.replace('| row one | 1 |', '| row one | 3 |');
    assert.deepEqual(placeIn(linesIn(PLAN), 10, linesIn(other)), [10, true]);
    assert.deepEqual(placeIn(linesIn(PLAN), 14, linesIn('Nothing like it.\n')), [undefined, true]);
  });
});
