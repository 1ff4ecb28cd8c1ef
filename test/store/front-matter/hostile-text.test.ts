/** No text makes a record that its reader refuses. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import {
  bodyOfText,
  type FrontMatter,
  parseFrontMatter,
  textOfBody,
} from '../../../store/front-matter/front-matter.ts';
import { editRecord, readRecord } from '../../../store/front-matter/record-file.ts';
import { renderFrontMatter } from '../../../store/front-matter/splice.ts';
import { decodeRecord, storable } from '../../../store/front-matter/text.ts';
import { layoutOf } from '../../../store/layout.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

const MERGE = '<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n';

const Hostile = fc
  .array(
    fc.oneof(
      fc.string(),
      fc.constantFrom(MERGE, '<<<<<<< x', '=======', '>>>>>>> y', '---', '---\n', '...', '\n'),
      fc.constantFrom(' ', '  ', '\t', '\r', '\r\n', '\u2028---', '\u2029', '\u0085', '\0', '\x1b'),
      fc.constantFrom(
        '\ud800',
        '\udc00',
        '\ufeff',
        '\uffff',
        '%YAML',
        ': ',
        '#',
        '|',
        '- ',
        '!!js',
      ),
      fc.constant('x'.repeat(1000)),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

const read = (text: string): FrontMatter => parseFrontMatter(decodeRecord(Buffer.from(text)));

// A lone surrogate is no text of UTF-8.
const utf8 = (text: string): string => Buffer.from(text).toString('utf8');

describe('renderFrontMatter', () => {
  it('makes a record of any text that has it again in its fields, and its body', () => {
    fc.assert(
      fc.property(Hostile, (text) => {
        const data = { id: 'a', text: utf8(text), deep: { list: [{ text: utf8(text) }] } };
        const source = read(renderFrontMatter(data, bodyOfText(text, '\n')));
        assert.deepEqual(source.data, data);
        assert.equal(textOfBody(source), storable(text));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('editRecord', () => {
  const record = (t: TestContext) => {
    const layout = layoutOf(temporaryDirectory(t));
    mkdirSync(layout.tmp, { recursive: true });
    const path = join(layout.root, 'one.md');
    return { layout, path, now: () => readRecord(layout.root, path, (data) => data) };
  };

  it('writes any text so that the record can be read and changed again', async (t) => {
    const { layout, path, now } = record(t);
    await fc.assert(
      fc.asyncProperty(Hostile, async (text) => {
        writeFileSync(path, '---\nid: a # stays\nerror: before\nlast: 1\n---\nbefore\n');
        const changes = { error: utf8(text), commands: { failed: [{ output: utf8(text) }] } };
        const body = bodyOfText(text, '\n');
        for (const error of ['after', utf8(text)])
          await editRecord(layout, path, () => ({ changes: { ...changes, error }, body }));
        assert.deepEqual(now()?.matter, { id: 'a', last: 1, ...changes });
        assert.equal(textOfBody(now()?.source as FrontMatter), storable(text));
      }),
      { numRuns: 100 },
    );
  });

  it('finds a merge that somebody left, and changes nothing', async (t) => {
    const { layout, path, now } = record(t);
    writeFileSync(path, `---\nid: a\n---\n${MERGE}`);
    assert.throws(now, /one\.md:4:1: An unresolved merge conflict starts here/);
    await assert.rejects(
      editRecord(layout, path, ({ source }) => ({ body: source.body })),
      /one\.md:4:1: An unresolved merge/,
    );
  });
});
