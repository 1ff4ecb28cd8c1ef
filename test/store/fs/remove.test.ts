import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs, {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { clearLeftovers } from '../../../store/fs/directories.ts';
import { removeTree, removeTreeSync, unlinkIfThere } from '../../../store/fs/remove.ts';
import { layoutOf } from '../../../store/layout.ts';
import { inject } from '../../helpers/faults.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

// Longer than any path that the system takes: made, as by an agent, by going into each directory.
const DEEP = `
const { chdir, argv } = process;
const { mkdirSync, writeFileSync } = require('node:fs');
chdir(argv[1]);
for (let at = 0; at < 60; at += 1) {
  mkdirSync('d'.repeat(100));
  chdir('d'.repeat(100));
}
writeFileSync('file', '');
`;
const makeDeep = (dir: string): void => {
  execFileSync(process.execPath, ['-e', DEEP, dir]);
};

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

// Root may read what has no mode.
const asNobody = (work: () => void): void => {
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
};

describe('unlinkIfThere', () => {
  it('removes a file, and does nothing where there is none', (t) => {
    const path = join(temporaryDirectory(t), 'file');
    writeFileSync(path, '');
    for (const _ of [1, 2]) unlinkIfThere(path);
    assert.equal(existsSync(path), false);
  });

  it('says which error the system gave, on each Node', async (t) => {
    const path = join(temporaryDirectory(t), 'file');
    writeFileSync(path, '');
    const failing = await inject(t, process.pid, 'unlink:error=EROFS');
    if (failing === undefined) return;
    assert.throws(() => unlinkIfThere(path), { code: 'EROFS' });
    await failing.end();
    assert.equal(existsSync(path), true);
  });
});

describe('removeTree', () => {
  it('removes paths that are too long for the system, and nothing that a link names', async (t) => {
    const root = temporaryDirectory(t);
    for (const remove of [removeTree, removeTreeSync]) {
      const [tree, other] = [join(root, 'tree'), join(root, 'other')];
      for (const dir of [tree, other]) mkdirSync(dir, { recursive: true });
      writeFileSync(join(other, 'kept'), '');
      symlinkSync(other, join(tree, 'link'));
      makeDeep(tree);
      await remove(tree);
      assert.equal(existsSync(tree), false);
      assert.equal(existsSync(join(other, 'kept')), true);
    }
  });

  it('removes directories that their owner can neither read nor write', (t) => {
    const root = temporaryDirectory(t);
    chmodSync(root, 0o777);
    for (const mode of [0o000, 0o300, 0o500]) {
      const inner = join(root, 'tree/inner');
      mkdirSync(inner, { recursive: true });
      writeFileSync(join(inner, 'file'), '');
      if (isRoot) for (const path of [join(root, 'tree'), inner]) chownSync(path, NOBODY, NOBODY);
      chmodSync(inner, mode);
      asNobody(() => removeTreeSync(join(root, 'tree')));
      assert.equal(existsSync(join(root, 'tree')), false, mode.toString(8));
    }
  });
});

describe('a leftover that is no directory', () => {
  it('keeps its mode, and that of its other name or its target, where it cannot be removed', (t) => {
    const root = temporaryDirectory(t);
    const [kept, dir] = [join(root, 'kept'), join(root, 'dir')];
    writeFileSync(kept, '', { mode: 0o640 });
    mkdirSync(dir);
    linkSync(kept, join(dir, 'name'));
    symlinkSync(kept, join(dir, 'link'));
    t.mock.method(fs, 'rmSync', () => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
    });
    syncBuiltinESMExports();
    for (const name of ['name', 'link'])
      assert.throws(() => removeTreeSync(join(dir, name)), /EPERM/);
    t.mock.restoreAll();
    syncBuiltinESMExports();
    assert.equal(statSync(kept).mode & 0o777, 0o640);
  });
});

describe('clearLeftovers', () => {
  it('reports what stays, and removes the rest', (t) => {
    const root = temporaryDirectory(t);
    chmodSync(root, 0o777);
    const layout = layoutOf(root);
    for (const name of ['held/file', 'old'])
      mkdirSync(join(layout.trash, name), { recursive: true });
    // Of another user, so that nobody may change it.
    chmodSync(layout.trash, 0o777);
    if (isRoot) chownSync(join(layout.trash, 'old'), NOBODY, NOBODY);
    else chmodSync(layout.trash, 0o500);
    const told: string[] = [];
    asNobody(() => clearLeftovers(layout, (_error, what) => told.push(what)));
    assert.ok(told.includes('removing .dossier/trash/held'));
    assert.equal(existsSync(join(layout.trash, 'old')), !isRoot);
    chmodSync(layout.trash, 0o700);
  });
});
