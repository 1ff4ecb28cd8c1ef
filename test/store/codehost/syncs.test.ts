import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseTexts, renderTexts, type SyncTexts } from '../../../store/codehost/syncs.ts';
import { decodeText, storable } from '../../../store/front-matter/text.ts';

const Text = fc
  .array(
    fc.oneof(
      fc.string(),
      fc.constantFrom('\n', '```', '````', '\n```\n', '## Description, here\n\n```markdown\n'),
    ),
  )
  .map((parts) => parts.join('').replaceAll('\0', '').replaceAll('\r', ''));

describe('renderTexts', () => {
  it('brings every text back, whatever fences are in it', () => {
    fc.assert(
      fc.property(
        fc.record(
          { base: Text, here: Text, host: Text },
          { requiredKeys: [], noNullPrototype: true },
        ),
        (texts) => assert.deepEqual(parseTexts(renderTexts(texts as SyncTexts)), texts),
      ),
    );
  });

  it('leaves out what stands elsewhere when all three are too much, and keeps what is here', () => {
    const text = 'x'.repeat(400_000);
    const keys = (texts: SyncTexts): string[] => Object.keys(parseTexts(renderTexts(texts)));
    assert.deepEqual(keys({ base: text, here: text, host: text }), ['here', 'host']);
    assert.deepEqual(keys({ base: text, here: text.repeat(2), host: text }), ['here']);
  });
});

const Hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\n<<<<<<< a\n',
        '\n=======\n',
        '\n=======\r\n',
        '\n>>>>>>> b\n',
        '\0',
        '\ud800',
      ),
    ),
  )
  .map((parts) => parts.join(''));

describe('storable', () => {
  it('makes of any text one that can be read back, and of that the same', () => {
    fc.assert(
      fc.property(Hostile, (text) => {
        const kept = storable(text);
        assert.equal(decodeText(Buffer.from(kept)), kept);
        assert.equal(storable(kept), kept);
      }),
    );
  });

  it('touches nothing that can be kept as it is', () => {
    const plain = '<<<<<<< quoted alone\r\n\ttabs, é, 😀\n=======\n';
    assert.equal(storable(plain), plain);
    assert.equal(
      storable('<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n'),
      ' <<<<<<< a\n1\n =======\n2\n >>>>>>> b\n',
    );
  });
});
