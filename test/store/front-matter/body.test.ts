import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseSections, renderSections } from '../../../store/front-matter/body.ts';

const PIECES = ['`', '```', '````markdown', '\n', '## Heading', '\n\n', 'text', ' ', '> '];
const text = fc.array(fc.constantFrom(...PIECES)).map((parts) => parts.join(''));
const heading = fc.constantFrom('alice, 2026-01-01T00:00:00Z', 'unknown', 'Description, base');

describe('renderSections', () => {
  it('is read back as it was, whatever the texts hold', () => {
    const sections = fc.array(fc.record({ heading, text }, { noNullPrototype: true }), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(sections, (all) => {
        assert.deepEqual(parseSections(renderSections(all)), all);
      }),
    );
  });

  it('leaves out what an operator wrote between the sections', () => {
    const sections = [
      { heading: 'a', text: 'one' },
      { heading: 'b', text: 'two' },
    ];
    const body = renderSections(sections).replace('\n## b', '\nmine\n\n```sh\nls\n```\n\n## b');
    assert.deepEqual(parseSections(body.replaceAll('\n', '\r\n')), sections);
  });
});
