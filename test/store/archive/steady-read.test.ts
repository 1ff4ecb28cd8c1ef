import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createShelf, LARGE_BYTES, type Shelf } from '../../../store/archive/export-shelf.ts';
import { readSteady } from '../../../store/archive/steady-read.ts';
import { eventually } from '../../helpers/eventually.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

/** A file, and a shelf that calls `meanwhile` each time after it has read, before that is judged. */
const fileWith = (
  t: TestContext,
  text: string,
  meanwhile: (path: string, reads: number) => void,
) => {
  const dir = temporaryDirectory(t);
  const path = join(dir, 'a.md');
  writeFileSync(path, text);
  const shelf = createShelf(dir);
  const state = { reads: 0 };
  const watched: Shelf = {
    ...shelf,
    put: (fd, size) => {
      const shelved = shelf.put(fd, size);
      state.reads += 1;
      meanwhile(path, state.reads);
      return shelved;
    },
  };
  const read = async (): Promise<string> => {
    const found = await readSteady(path, watched);
    if ('reason' in found) return found.reason;
    const content = shelf.contentOf(found);
    return `${Buffer.isBuffer(content) ? content : Buffer.concat([...content])}`;
  };
  return { path, dir, read, state };
};

const replace = (path: string, text: string): void => {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
};

const first = (change: (path: string) => void) => (path: string, reads: number) => {
  if (reads === 1) change(path);
};

describe('readSteady', () => {
  it('reads again what was changed while it was read', async (t) => {
    const ways: [string, (path: string) => void][] = [
      ['new', (path) => writeFileSync(path, 'new')],
      ['new', (path) => replace(path, 'new')],
      ['oldnew', (path) => appendFileSync(path, 'new')],
      ['', (path) => writeFileSync(path, '')],
    ];
    for (const [text, change] of ways) {
      const { read, state } = fileWith(t, 'old', first(change));
      assert.equal(await read(), text);
      assert.equal(state.reads, 2);
    }
  });

  it('has a file whole that is replaced each time it is read', async (t) => {
    const { read } = fileWith(t, '0'.repeat(9), (path, reads) =>
      replace(path, `${reads}`.repeat(9)),
    );
    assert.match(await read(), /^(\d)\1{8}$/);
  });

  it('has the beginning of a file that grows each time it is read', async (t) => {
    const { read } = fileWith(t, '0\n', (path, reads) => appendFileSync(path, `${reads}\n`));
    assert.match(await read(), /^0\n(\d\n)*$/);
  });

  it('reads a large file once, and has its beginning, if it only grew', async (t) => {
    const large = 'a line\n'.repeat(LARGE_BYTES / 4);
    const { read, state } = fileWith(t, large, (path) => appendFileSync(path, 'more\n'));
    assert.ok((await read()) === large);
    assert.equal(state.reads, 1);
  });

  it('reads a large file again that was written anew and is longer now', async (t) => {
    const [old, now] = ['a', 'b'].map((letter) => letter.repeat(LARGE_BYTES + 1)) as [
      string,
      string,
    ];
    const { read } = fileWith(
      t,
      old,
      first((path) => writeFileSync(path, `${now}${now}`)),
    );
    assert.ok((await read()) === `${now}${now}`);
  });

  it('refuses what is written anew in its place each time it is read', async (t) => {
    const { read } = fileWith(t, 'abc', (path, reads) => writeFileSync(path, `${reads}`.repeat(3)));
    assert.equal(await read(), 'it kept changing');
  });

  it('waits for a save to be over', async (t) => {
    const { path, read } = fileWith(t, 'old', () => undefined);
    await eventually(async () => {
      writeFileSync(path, '');
      setTimeout(() => writeFileSync(path, 'new'), 5);
      assert.equal(await read(), 'new');
    });
  });

  it('says that a file is gone, also if it goes while it is read', async (t) => {
    const { path, read } = fileWith(t, 'old', (at) => rmSync(at, { force: true }));
    assert.equal(await read(), 'it is gone');
    assert.equal(await read(), 'it is gone');
    assert.deepEqual(await readSteady(join(path, 'below'), createShelf(temporaryDirectory(t))), {
      reason: 'it is gone',
      gone: true,
    });
  });

  it('follows no link and waits for no pipe', async (t) => {
    const { path, dir, read } = fileWith(t, 'old', () => undefined);
    renameSync(path, join(dir, 'real.md'));
    symlinkSync(join(dir, 'real.md'), path);
    assert.equal(await read(), 'it is a symbolic link');
    rmSync(path);
    execFileSync('mkfifo', [path]);
    assert.equal(await read(), 'it is not a regular file');
  });
});
