import assert from 'node:assert/strict';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { editRecord } from '../../../store/front-matter/record-file.ts';
import { writeText } from '../../../store/front-matter/text-file.ts';
import { removeDirectory } from '../../../store/fs/directories.ts';
import { createDirectory, createFile, removeFile, replaceFile } from '../../../store/fs/durable.ts';
import { pruneUndo } from '../../../store/fs/undo.ts';
import { type Layout, layoutOf } from '../../../store/layout.ts';
import { until } from '../../helpers/eventually.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

interface Place {
  layout: Layout;
  root: string;
  /** The path of a file in the workspace; written when a text is given. */
  file(name: string, text?: string): string;
  /** What is kept for undo, by the name it had. */
  kept(): Record<string, string>;
}

const place = (t: TestContext): Place => {
  const root = temporaryDirectory(t);
  const layout = layoutOf(root);
  for (const path of [layout.tmp, layout.trash, layout.undo]) mkdirSync(path, { recursive: true });
  return {
    layout,
    root,
    file: (name, text) => {
      if (text !== undefined) writeFileSync(join(root, name), text);
      return join(root, name);
    },
    kept: () =>
      Object.fromEntries(
        readdirSync(layout.undo, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ parentPath, name }) => [
            name.split('-').slice(2).join('-'),
            readFileSync(join(parentPath, name), 'utf8'),
          ]),
      ),
  };
};

/** Nothing half done is left lying around. */
const assertClean = ({ layout }: Place): void => {
  assert.deepEqual(readdirSync(layout.tmp), []);
};

const read = (path: string): string => readFileSync(path, 'utf8');

describe('replaceFile', () => {
  it('puts the new text in place and keeps the old one', async (t) => {
    const here = place(t);
    const target = here.file('a.md', 'old');
    const inode = lstatSync(target).ino;
    assert.equal(await replaceFile(here.layout, target, Buffer.from('old'), 'new'), true);
    assert.equal(read(target), 'new');
    assert.notEqual(lstatSync(target).ino, inode, 'by rename: a reader has the one or the other');
    assert.deepEqual(here.kept(), { 'a.md': 'old' });
    assertClean(here);
  });

  for (const [name, change] of Object.entries<(target: string) => void>({
    'was saved': (target) => writeFileSync(target, 'mine'),
    'was saved with as many bytes': (target) => writeFileSync(target, 'olD'),
    'was added to': (target) => writeFileSync(target, 'old and more'),
    'is empty': (target) => writeFileSync(target, ''),
    'is gone': (target) => rmSync(target),
  }))
    it(`answers false and loses nothing when the file ${name} since it was read`, async (t) => {
      const here = place(t);
      const target = here.file('a.md', 'old');
      change(target);
      const before = existsSync(target) ? read(target) : undefined;
      assert.equal(await replaceFile(here.layout, target, Buffer.from('old'), 'new'), false);
      assert.equal(existsSync(target) ? read(target) : undefined, before);
      assert.deepEqual(here.kept(), {});
      assertClean(here);
    });

  it('never replaces a link, and never what it leads to', async (t) => {
    const here = place(t);
    const outside = here.file('outside.txt', 'old');
    const target = here.file('a.md');
    symlinkSync(outside, target);
    const same = Buffer.from('x'.repeat(lstatSync(target).size));
    for (const expected of [Buffer.from('old'), same]) {
      const done = await replaceFile(here.layout, target, expected, 'new').catch(() => false);
      assert.equal(done, false);
    }
    assert.ok(lstatSync(target).isSymbolicLink());
    assert.equal(read(outside), 'old');
    assertClean(here);
  });

  it('lets one of twenty writers that read the same file win', async (t) => {
    const here = place(t);
    const target = here.file('a.md', 'old');
    const won = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        replaceFile(here.layout, target, Buffer.from('old'), `number ${n}`),
      ),
    );
    assert.equal(won.filter(Boolean).length, 1);
    assert.equal(read(target), `number ${won.indexOf(true)}`);
    assertClean(here);
  });

  it('leaves a hard link that a backup made of the old file alone', async (t) => {
    const here = place(t);
    const target = here.file('a.md', 'old');
    linkSync(target, here.file('backup.md'));
    await replaceFile(here.layout, target, Buffer.from('old'), 'new');
    assert.equal(read(here.file('backup.md')), 'old');
  });
});

describe('createFile', () => {
  it('makes the directories above, and the file once', async (t) => {
    const here = place(t);
    const target = here.file('deep/deeper/a.md');
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, n) => createFile(here.layout, target, `number ${n}`)),
    );
    assert.equal(made.filter(Boolean).length, 1);
    assert.equal(read(target), `number ${made.indexOf(true)}`);
    assert.equal(lstatSync(target).nlink, 1);
    assertClean(here);
  });

  for (const [name, put] of Object.entries<(target: string, outside: string) => void>({
    'a file': (target) => writeFileSync(target, 'theirs'),
    'a link': (target, outside) => symlinkSync(outside, target),
    'a link to nowhere': (target) => symlinkSync('/nowhere/at/all', target),
    'a directory': (target) => mkdirSync(target),
  }))
    it(`answers false where there is ${name}`, async (t) => {
      const here = place(t);
      const outside = here.file('outside.txt', 'theirs');
      const target = here.file('a.md');
      put(target, outside);
      const kind = lstatSync(target).mode;
      assert.equal(await createFile(here.layout, target, 'mine'), false);
      assert.equal(lstatSync(target).mode, kind);
      assert.equal(read(outside), 'theirs');
      assertClean(here);
    });

  it('takes it back out of a directory that is not the one that is meant', async (t) => {
    const here = place(t);
    const target = here.file('proof/a.md');
    const assertMeant = () => assert.ok(!existsSync(target), 'the directory is another one by now');
    await assert.rejects(createFile(here.layout, target, 'mine', { assertMeant }), /another one/);
    assert.ok(!existsSync(target));
    assertClean(here);
  });

  it('gives a secret the mode it is to have from the start', async (t) => {
    const here = place(t);
    await createFile(here.layout, here.file('secret'), 'x', { mode: 0o600 });
    assert.equal(lstatSync(here.file('secret')).mode & 0o777, 0o600);
  });
});

describe('removeFile', () => {
  it('keeps what it removes; false when there is none', async (t) => {
    const here = place(t);
    const target = here.file('a.md', 'old');
    assert.equal(await removeFile(here.layout, target), true);
    assert.equal(await removeFile(here.layout, target), false);
    assert.ok(!existsSync(target));
    assert.deepEqual(here.kept(), { 'a.md': 'old' });
  });
});

describe('createDirectory', () => {
  it('is there with all its files, or not at all', async (t) => {
    const here = place(t);
    const target = here.file('cases/2026-01/one');
    await createDirectory(here.layout, target, { 'case.md': 'a', 'b.md': 'b' });
    assert.deepEqual(readdirSync(target).toSorted(), ['b.md', 'case.md']);
    await assert.rejects(createDirectory(here.layout, target, { 'case.md': 'other' }));
    await assert.rejects(createDirectory(here.layout, here.file('x'), { 'no/such': 'a' }));
    assert.equal(read(join(target, 'case.md')), 'a');
    assert.ok(!existsSync(here.file('x')));
    assertClean(here);
  });
});

describe('removeDirectory', () => {
  it('takes it away by one rename, all in it', async (t) => {
    const here = place(t);
    const target = here.file('cases/one');
    await createDirectory(here.layout, target, { 'case.md': 'a' });
    const trash = (await removeDirectory(here.layout, target)) ?? '';
    assert.ok(!existsSync(target));
    assert.equal(read(join(trash, 'case.md')), 'a');
  });

  it('has done it also when git removes the folder that it leaves empty', async (t) => {
    const here = place(t);
    const target = here.file('cases/2026-01/one');
    await createDirectory(here.layout, target, { 'case.md': 'a' });
    const trash = await removeDirectory(here.layout, target, (taken) => {
      if (taken !== target) rmdirSync(dirname(target));
      return true;
    });
    assert.equal(read(join(trash ?? '', 'case.md')), 'a');
    assert.ok(!existsSync(here.file('cases/2026-01')));
  });
});

describe('two writers of one record', () => {
  const RECORD = '---\na: 1 # one\nb: 2\n---\nbody\n';

  it('keep both changes, whichever comes first', async (t) => {
    const here = place(t);
    const path = here.file('a.md', RECORD);
    await Promise.all([
      editRecord(here.layout, path, () => ({ changes: { a: 10 } })),
      editRecord(here.layout, path, () => ({ changes: { b: 20 } })),
      editRecord(here.layout, path, () => ({ body: 'another body\n' })),
    ]);
    assert.equal(read(path), '---\na: 10 # one\nb: 20\n---\nanother body\n');
    assertClean(here);
  });

  it('keep what an editor saved while the daemon wrote', async (t) => {
    const here = place(t);
    const path = here.file('a.md', RECORD);
    let saves = 0;
    await editRecord(here.layout, path, ({ source }) => {
      // The editor saves after the daemon has read: once.
      if (saves++ === 0) writeFileSync(path, RECORD.replace('b: 2', 'b: 3 # by hand'));
      return { changes: { a: source.data.b } };
    });
    assert.equal(saves, 2, 'the rule ran again on what the editor saved');
    assert.equal(read(path), '---\na: 3 # one\nb: 3 # by hand\n---\nbody\n');
  });

  it('give up on a file that never holds still, and lose nothing of it', async (t) => {
    const here = place(t);
    const path = here.file('a.md', RECORD);
    let saves = 0;
    const edit = editRecord(here.layout, path, () => {
      saves += 1;
      writeFileSync(path, `${RECORD}${saves}\n`);
      return { changes: { a: 0 } };
    });
    await assert.rejects(edit, { code: 'file_busy' });
    assert.equal(read(path), `${RECORD}${saves}\n`);
    assertClean(here);
  });

  it('answer false for a file that is gone', async (t) => {
    const here = place(t);
    assert.equal(
      await editRecord(here.layout, here.file('none.md'), () => ({ changes: { a: 1 } })),
      false,
    );
  });

  it('refuse a link with an error', async (t) => {
    const here = place(t);
    const outside = here.file('outside.md', RECORD);
    symlinkSync(outside, here.file('a.md'));
    const edit = editRecord(here.layout, here.file('a.md'), () => ({ changes: { a: 0 } }));
    await assert.rejects(edit, { code: 'unsafe_path' });
    assert.equal(read(outside), RECORD);
  });
});

describe('writeText', () => {
  it('makes a file anew once, however many make it', async (t) => {
    const here = place(t);
    const made = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        writeText(here.layout, { dir: here.root, filename: 'notes.md' }, `number ${n}`),
      ),
    );
    assert.equal(made.filter(({ created }) => created).length, 1);
    const texts = [read(here.file('notes.md')), ...Object.values(here.kept())];
    assert.ok(texts.every((text) => /^number \d$/.test(text)));
    assertClean(here);
  });
});

describe('pruneUndo', () => {
  it('drops what is older than seven days, and what is beyond 256 MB, oldest first', (t) => {
    const { layout } = place(t);
    const put = (day: string, bytes: number): void => {
      mkdirSync(join(layout.undo, day));
      writeFileSync(join(layout.undo, day, 'x'), '');
      // A hole: as long as it says, and nothing on the disk.
      if (bytes > 0) truncateSync(join(layout.undo, day, 'x'), bytes);
    };
    put('2026-03-01', 0);
    put('2026-03-03', 100_000_000);
    put('2026-03-04', 100_000_000);
    put('2026-03-09', 100_000_000);
    put('2026-03-10', 10);
    pruneUndo(layout, assert.ifError, Date.parse('2026-03-10T12:00:00Z'));
    const left = readdirSync(layout.undo).filter(
      (day) => readdirSync(join(layout.undo, day)).length > 0,
    );
    assert.deepEqual(left.toSorted(), ['2026-03-04', '2026-03-09', '2026-03-10']);
  });

  it('keeps of a day that is too large what was replaced last', async (t) => {
    const { layout } = place(t);
    const day = join(layout.undo, '2026-03-10');
    mkdirSync(day);
    for (const name of ['b', 'c', 'a']) {
      writeFileSync(join(day, name), '');
      truncateSync(join(day, name), 100_000_000);
      // Until the clock of the file system has gone on.
      const { ctimeMs } = lstatSync(join(day, name));
      await until(() => {
        writeFileSync(join(day, 'tick'), '');
        return lstatSync(join(day, 'tick')).ctimeMs > ctimeMs;
      });
    }
    pruneUndo(layout, assert.ifError, Date.parse('2026-03-10T12:00:00Z'));
    assert.deepEqual(readdirSync(day).toSorted(), ['a', 'c', 'tick']);
  });
});
