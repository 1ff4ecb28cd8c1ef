import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { liveOutput } from '../../../lib/agents/coalesce.ts';
import type { RunEvent } from '../../../lib/agents/provider.ts';

const hear = (limit: number, pieces: readonly string[]) => {
  const told: RunEvent[] = [];
  const live = liveOutput((event) => told.push(event), 'block-1', limit);
  for (const piece of pieces) live.add(piece);
  live.end();
  const text = told.flatMap((event) => (event.type === 'tool_output' ? [event.data.text] : []));
  return { told, text };
};

describe('liveOutput', () => {
  it('tells all of what is not longer than the limit, in events of a like size', () => {
    const { told, text } = hear(10_000, ['a', 'b', 'x'.repeat(9998)]);
    assert.equal(text.join(''), `ab${'x'.repeat(9998)}`);
    assert.deepEqual(
      text.map(({ length }) => length),
      [4096, 4096, 1808],
    );
    assert.equal(told.length, 3);
  });

  it('tells a gap once where a call writes more, and nothing of it after', () => {
    const { told, text } = hear(4, ['abc', 'def', 'ghi']);
    assert.equal(text.join(''), 'abcd');
    assert.deepEqual(
      told.map((event) =>
        event.type === 'gap' ? [event.data.reason, event.data.tool_call_id] : [],
      ),
      [[], ['output_long', 'block-1']],
    );
  });
});
