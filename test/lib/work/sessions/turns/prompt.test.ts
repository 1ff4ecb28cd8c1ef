import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bounded } from '../../../../../lib/work/sessions/turns/prompt.ts';

const file = (filename: string, length: number) => ({
  filename,
  content: 'x'.repeat(length),
  sha256: '',
  size: length,
});

describe('bounded', () => {
  it('leaves what fits as it is', () => {
    const files = [file('a.md', 400), file('b.md', 600)];
    assert.deepEqual(
      bounded(files, 1000, '/m').map(({ content }) => content.length),
      [400, 600],
    );
  });

  it('shortens the long ones alone, and says where the whole is', () => {
    const told = bounded([file('a.md', 100), file('b.md', 9000), file('c.md', 9000)], 1100, '/m');
    const [short, long] = told;
    assert.equal(short?.content, 'x'.repeat(100));
    assert.equal(long?.content.match(/x/g)?.length, 500);
    assert.match(long?.content ?? '', /8500 characters left out/);
    assert.match(long?.content ?? '', /The complete file is \/m\/b\.md/);
  });

  it('says how many files it leaves out', () => {
    const files = Array.from({ length: 150 }, (_, n) => file(`${1000 + n}.md`, 5));
    const told = bounded(files, 10_000, '/m');
    assert.equal(told.length, 101);
    assert.match(
      told.at(-1)?.content ?? '',
      /^50 more files in \/m left out here, from 1100\.md on/,
    );
  });
});
