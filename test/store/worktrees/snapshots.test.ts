import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type NamedBytes, parseFiles, renderFiles } from '../../../store/worktrees/snapshots.ts';

const piece = fc.oneof(
  fc.constantFrom(
    '```',
    '`````\n',
    '\n',
    '\r\n',
    '## global.md\n\n',
    '---\n',
    ' bytes, SHA-256 ',
    '\0',
  ),
  fc.string({ unit: 'binary' }),
);
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => Buffer.from(pieces.join('')));
const bytes = fc.oneof(
  text,
  fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array)),
  // A snapshot of a snapshot.
  text.map((inner) => renderFiles([{ filename: 'inner.md', bytes: inner }])),
);
const files = fc
  .array(bytes, { maxLength: 4 })
  .map((all) => all.map((each, n): NamedBytes => ({ filename: `file-${n}.md`, bytes: each })));

describe('renderFiles', () => {
  it('loses no byte of any file, whatever is in it', () => {
    fc.assert(
      fc.property(files, (all) => assert.deepEqual(parseFiles(renderFiles(all)), all)),
      { numRuns: 500 },
    );
  });
});

describe('parseFiles', () => {
  const inner = renderFiles([{ filename: 'inner.md', bytes: Buffer.from('x') }]);
  const all: NamedBytes[] = [
    { filename: 'a.md', bytes: Buffer.from('one\n') },
    { filename: 'b.md', bytes: inner },
    { filename: 'c.md', bytes: Buffer.from('three') },
  ];

  it('stops at the first file that was changed, and takes nothing that stands inside it for one', () => {
    const damaged = renderFiles(all).toString().replace('\nx\n', '\nx \n');
    assert.deepEqual(parseFiles(Buffer.from(damaged)), all.slice(0, 1));
  });

  it('minds nothing that is written between the files', () => {
    const noted = renderFiles(all).toString().replace('\n## c.md', '\nA note of mine.\n\n## c.md');
    assert.deepEqual(parseFiles(Buffer.from(noted)), all);
  });
});
