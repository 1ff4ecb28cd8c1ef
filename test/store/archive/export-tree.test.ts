import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createShelf, LARGE_BYTES } from '../../../store/archive/export-shelf.ts';
import { readTree } from '../../../store/archive/export-tree.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';
import { sha256 } from '../../helpers/work-item.ts';

const treeOf = (t: TestContext, files: Record<string, string | Buffer>): string => {
  const root = temporaryDirectory(t);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
};

/** Reads it all; `between` is called after each unit with the paths of its files. */
const readAll = async (
  t: TestContext,
  root: string,
  between: (paths: string[]) => void = () => undefined,
) => {
  const shelf = createShelf(temporaryDirectory(t));
  const files = new Map<string, string>();
  const skipped: Record<string, string> = {};
  for await (const unit of readTree(root, shelf)) {
    for (const file of unit.files) {
      const content = shelf.contentOf(file);
      const bytes = Buffer.isBuffer(content) ? content : Buffer.concat([...content]);
      assert.ok(!files.has(file.path), `${file.path} is there twice`);
      assert.deepEqual(
        { size: file.size, sha: file.sha256 },
        { size: bytes.length, sha: sha256(bytes) },
      );
      files.set(file.path, `${bytes}`);
    }
    for (const { path, reason } of unit.skipped) skipped[path] = reason;
    between(unit.files.map(({ path }) => path));
  }
  return { files, skipped };
};

// Root may read all: so as somebody else, to whom the tree belongs.
const asNobody = async <T>(root: string, work: () => Promise<T>): Promise<T> => {
  if (process.getuid?.() !== 0) return work();
  execFileSync('chown', ['-R', `${NOBODY}`, root]);
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
};

const NOBODY = 65_534;

const ITEM = (name: string) => ({
  [`cases/${name}/case.md`]: name,
  [`cases/${name}/memory/notes.md`]: `${name} notes`,
});

describe('readTree', () => {
  it('reads every file, wherever it is, and leaves out what is of this machine or moment', async (t) => {
    const kept = {
      'workspace.md': 'settings',
      '.gitignore': '',
      'cases/2026-01/ä/case.md': 'case',
      'cases/2026-01/ä/sessions/one/events.ndjson': '{}\n',
      'cases/2026-01/ä/deep/er/日本 語.bin': '\0',
      'notes/of-mine.txt': 'mine',
    };
    const root = treeOf(t, {
      ...kept,
      '.dossier/secrets/a': 'secret',
      '.git/config': 'x',
      'notes/clone/.git/HEAD': 'x',
      'cases/2026-01/ä/sessions/lock.md': 'x',
      'cases/2026-01/ä/case.md~': 'x',
      'cases/2026-01/ä.lock/pid': 'x',
      'memory/.global.md.swp': 'x',
    });
    mkdirSync(join(root, 'empty'));
    const { files, skipped } = await readAll(t, root);
    assert.deepEqual(Object.fromEntries(files), kept);
    assert.deepEqual(skipped, {});
  });

  it('tells what it cannot take, and follows no link', async (t) => {
    const outside = treeOf(t, { 'secret.md': 'secret' });
    const root = treeOf(t, {
      'a/b.md': 'b',
      'manifest.json': 'x',
      'a/c\\d.md': 'x',
      'a/e\n.md': 'x',
    });
    symlinkSync(outside, join(root, 'a/folder'));
    symlinkSync(join(outside, 'secret.md'), join(root, 'a/file.md'));
    symlinkSync('nowhere', join(root, 'a/broken'));
    execFileSync('mkfifo', [join(root, 'a/pipe')]);
    const socket = createServer().listen(join(root, 'a/socket'));
    atEnd(t, () => socket.close());
    writeFileSync(Buffer.concat([Buffer.from(join(root, 'a/')), Buffer.from([0xff])]), 'x');
    const { files, skipped } = await readAll(t, root);
    assert.deepEqual([...files], [['a/b.md', 'b']]);
    assert.deepEqual(skipped, {
      'a/broken': 'it is a symbolic link',
      'a/c\\d.md': 'its name contains a backslash',
      'a/e\n.md': 'its name contains a control character',
      'a/file.md': 'it is a symbolic link',
      'a/folder': 'it is a symbolic link',
      'a/pipe': 'it is not a regular file',
      'a/socket': 'it is not a regular file',
      'a/\ufffd': 'its name is not valid UTF-8',
      'manifest.json': "it has the name of the archive's own manifest",
    });
  });

  it('tells what it may not read', async (t) => {
    const root = treeOf(t, { 'a/b.md': 'b', 'c.md': 'c', 'd.md': 'd' });
    chmodSync(join(root, 'a'), 0);
    chmodSync(join(root, 'c.md'), 0);
    const { files, skipped } = await asNobody(root, () => readAll(t, root));
    chmodSync(join(root, 'a'), 0o700);
    assert.deepEqual([...files.keys()], ['d.md']);
    assert.deepEqual(skipped, {
      a: 'the daemon has no permission to read it',
      'c.md': 'the daemon has no permission to read it',
    });
  });

  it('reads large files, and many small ones of one directory, without holding them all', async (t) => {
    const large = 'a line\n'.repeat(LARGE_BYTES / 2);
    const many = Object.fromEntries(
      Array.from({ length: 20 }, (_, index): [string, string] => [
        `cases/a/${index}.md`,
        `${index}`.repeat(LARGE_BYTES / 2),
      ]),
    );
    const root = treeOf(t, { ...ITEM('a'), ...many, 'cases/a/sessions/one/events.ndjson': large });
    const { files } = await readAll(t, root);
    assert.equal(files.size, 23);
    assert.ok(files.get('cases/a/sessions/one/events.ndjson') === large);
    for (const [path, text] of Object.entries(many)) assert.ok(files.get(path) === text, path);
  });

  it('has a Work item that is moved meanwhile once, with all its files', async (t) => {
    const root = treeOf(t, { ...ITEM('b'), ...ITEM('c'), ...ITEM('d') });
    let moved = false;
    const { files } = await readAll(t, root, (paths) => {
      if (moved || !paths.includes('cases/b/case.md')) return;
      moved = true;
      // One that was read, to where nobody has looked; one that was not, to where somebody has.
      renameSync(join(root, 'cases/b'), join(root, 'cases/e'));
      renameSync(join(root, 'cases/d'), join(root, 'cases/a'));
    });
    assert.deepEqual([...files].sort(), [
      ['cases/a/case.md', 'd'],
      ['cases/a/memory/notes.md', 'd notes'],
      ['cases/b/case.md', 'b'],
      ['cases/b/memory/notes.md', 'b notes'],
      ['cases/c/case.md', 'c'],
      ['cases/c/memory/notes.md', 'c notes'],
    ]);
  });

  it('takes nothing from behind a link that is put in the place of a directory', async (t) => {
    const outside = treeOf(t, { 'case.md': 'secret', 'memory/notes.md': 'secret' });
    const root = treeOf(t, { ...ITEM('a'), ...ITEM('b') });
    const { files, skipped } = await readAll(t, root, (paths) => {
      if (!paths.includes('cases/a/case.md')) return;
      rmSync(join(root, 'cases/b'), { recursive: true });
      symlinkSync(outside, join(root, 'cases/b'));
    });
    assert.deepEqual([...files.keys()], ['cases/a/case.md', 'cases/a/memory/notes.md']);
    assert.deepEqual(skipped, { 'cases/b': 'it is a symbolic link' });
  });

  it('goes without what is deleted meanwhile', async (t) => {
    const root = treeOf(t, { ...ITEM('a'), ...ITEM('b') });
    const { files, skipped } = await readAll(t, root, (paths) => {
      if (paths.includes('cases/a/case.md')) rmSync(join(root, 'cases/b'), { recursive: true });
    });
    assert.deepEqual([...files.keys()], ['cases/a/case.md', 'cases/a/memory/notes.md']);
    assert.deepEqual(skipped, {});
  });

  it('reads a file that has a second name', async (t) => {
    const root = treeOf(t, { 'a.md': 'a' });
    linkSync(join(root, 'a.md'), join(root, 'b.md'));
    const { files } = await readAll(t, root);
    assert.deepEqual(
      [...files],
      [
        ['a.md', 'a'],
        ['b.md', 'a'],
      ],
    );
  });

  it('fails where there is no workspace', async (t) => {
    await assert.rejects(readAll(t, join(temporaryDirectory(t), 'none')), { code: 'ENOENT' });
  });
});
