import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { draftOf, MARK, partsOf, publishable } from '../../../../lib/host/pull-requests/compose.ts';
import { composeBody, MAX_BODY } from '../../../../lib/host/pull-requests/compose-body.ts';

const TOLD = {
  title: 'Round half up',
  description: '',
  issue: undefined,
  sessions: [],
  proofs: [],
  checklist: [],
};

describe('partsOf', () => {
  it('takes a draft apart at its line, and puts it together as it was', () => {
    const text = fc
      .array(fc.constantFrom('a', '\n', ' ', '## b', '<!-- c -->'))
      .map((all) => all.join(''));
    fc.assert(
      fc.property(text, text, (composed, own) => {
        const parts = { composed: `${composed.trimEnd()}\n`, own: own.trim() };
        assert.deepEqual(partsOf(draftOf(parts)), parts);
      }),
    );
  });

  it('takes a text without the line, and one with other line ends, as they are', () => {
    assert.deepEqual(partsOf('one\n\n'), { composed: 'one\n', own: '' });
    assert.deepEqual(partsOf(`one\r\n${MARK}\r\nmine\r\n`).own, 'mine');
  });

  it('is not misled by what somebody wrote into a description', async () => {
    for (const description of [
      MARK,
      `x\n\n${MARK}\nstolen`,
      `- a\n\n  ${MARK}`,
      `\`\`\`\n${MARK}\n\`\`\``,
    ]) {
      const composed = await composeBody({ ...TOLD, description });
      assert.deepEqual(partsOf(draftOf({ composed, own: 'mine' })), { composed, own: 'mine' });
    }
  });
});

describe('publishable', () => {
  it('is all but the line', () => {
    assert.equal(publishable(draftOf({ composed: 'one\n', own: '' })), 'one\n');
    assert.equal(publishable(draftOf({ composed: 'one\n', own: 'mine' })), 'one\n\nmine\n');
    assert.equal(publishable('by hand'), 'by hand\n');
  });
});

describe('composeBody', () => {
  it('tells less of each, and how much less, where all of it would be too long', async () => {
    const description = 'x\n'.repeat(4000);
    const session = { type: 'implementing', provider: 'agent', ended_at: null };
    const words = { changed: undefined, last_words: 'y\n'.repeat(1000) };
    const sessions = Array(10).fill({ session, words });
    const told = { ...TOLD, description, sessions };
    const whole = await composeBody(told);
    const less = await composeBody(told, 10_000);
    assert.ok(whole.length <= MAX_BODY && less.length <= 10_000, `${less.length}`);
    assert.match(less, /\[… \d+ more characters\]/);
    assert.equal(await composeBody(told), whole);
  });
});
