import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { capText, createCappedOutput } from '../../../lib/text/cap-text.ts';

const inPieces = (text: string, size: number, limit: number) => {
  const output = createCappedOutput(limit);
  for (let at = 0; at < text.length; at += size) output.add(text.slice(at, at + size));
  return output.read();
};

describe('capText', () => {
  it('leaves a text within the limit as it is', () => {
    assert.deepEqual(capText('1234567890', 10), { output: '1234567890', truncated: false });
  });

  it('keeps head and tail of a longer one and says how much is missing', () => {
    assert.deepEqual(capText('1234567890ABC', 10), {
      output: '12345\n[… 3 characters left out …]\n90ABC',
      truncated: true,
    });
  });
});

describe('createCappedOutput', () => {
  for (const length of [0, 1, 9, 10, 11, 20, 21, 1000]) {
    for (const size of [1, 3, 7, 1000]) {
      it(`keeps of ${length} characters in pieces of ${size} what capText keeps of the whole`, () => {
        const text = Array.from({ length }, (_, at) => String.fromCharCode(97 + (at % 26))).join(
          '',
        );

        assert.deepEqual(inPieces(text, size, 10), capText(text, 10));
      });
    }
  }
});
