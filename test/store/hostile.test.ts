import assert from 'node:assert/strict';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { replaceFile } from '../../store/fs/durable.ts';
import { layoutOf } from '../../store/layout.ts';
import type { OpenStore } from '../../store/open.ts';
import { allItems, itemIn } from '../../store/reconcile/items.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import { ENDED, watchWorkspace } from '../../store/watch/watch.ts';
import { atEnd } from '../helpers/at-end.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { STATE_DIR } from '../helpers/state-dir.ts';
import { assertProblem, withCase } from '../helpers/work-item.ts';
import { openCompared } from '../helpers/workspace.ts';

const open = async (t: TestContext, root: string): Promise<OpenStore> => {
  const opened = await openCompared(root, {
    state: STATE_DIR,
    clock: () => new Date(),
    follow: () => undefined,
    trust: true,
    report: () => undefined,
  });
  atEnd(t, () => opened.close());
  return opened;
};

describe('openStore', () => {
  for (const name of ['.dossier', '.dossier/tmp', '.dossier/owner.json', 'cases'])
    it(`refuses a workspace whose ${name} is a link, and empties and writes nothing behind it`, async (t) => {
      const root = temporaryDirectory(t);
      const outside = temporaryDirectory(t);
      writeFileSync(join(outside, 'mine.md'), 'mine');
      mkdirSync(join(root, name, '..'), { recursive: true });
      symlinkSync(name.endsWith('.json') ? join(outside, 'mine.md') : outside, join(root, name));
      await assert.rejects(open(t, root), { code: 'unsafe_path' });
      assert.deepEqual(readdirSync(outside), ['mine.md']);
      assert.equal(readFileSync(join(outside, 'mine.md'), 'utf8'), 'mine');
    });

  it('starts with one directory that cannot be adopted, reports it and knows the others', async (t) => {
    const root = temporaryDirectory(t);
    for (const [name, more] of [
      ['full', `# ${'x'.repeat(65_500)}\n`],
      ['good', ''],
    ]) {
      mkdirSync(join(root, 'cases', `${name}`), { recursive: true });
      writeFileSync(join(root, 'cases', `${name}`, 'case.md'), `---\ntitle: x\n${more}---\n`);
    }
    const { store } = await open(t, root);
    assert.deepEqual(
      allItems(store).map(({ dir }) => dir),
      ['cases/good'],
    );
    assert.deepEqual(
      store.problems.all().map(({ file, code }) => [file, code]),
      [['cases/full/case.md', 'not_adopted']],
    );
  });

  it('gives a directory made by hand one id, however many look at it at once', async (t) => {
    const root = temporaryDirectory(t);
    const { store } = await open(t, root);
    mkdirSync(join(root, 'cases/new'));
    writeFileSync(join(root, 'cases/new/case.md'), '---\ntitle: x\n---\n');
    await Promise.all([sweepWorkspace(store), sweepWorkspace(store), sweepWorkspace(store)]);
    assert.equal(allItems(store).length, 1);
    assert.equal(itemIn(store, 'cases/new')?.files.case.problem, undefined);
  });

  it('watches where .git is a file, as in a linked worktree', async (t) => {
    const root = temporaryDirectory(t);
    writeFileSync(join(root, '.git'), 'gitdir: /nowhere\n');
    const opened = await open(t, root);
    await opened.watch(() => undefined).ready;
    mkdirSync(join(root, 'cases/new'));
    writeFileSync(join(root, 'cases/new/case.md'), '---\ntitle: x\n---\n');
    await eventually(() => assert.equal(allItems(opened.store).length, 1));
  });
});

describe('a folder of a Work item that is a link', () => {
  for (const [folder, path, body] of [
    ['proof', 'proof', { type: 'log', content: 'x' }],
    ['memory', 'memory/notes.md', 'x'],
  ] as const)
    it(`is neither read nor written: ${folder}`, async (t) => {
      const { dir, at, call } = await withCase(t);
      const outside = temporaryDirectory(t);
      writeFileSync(join(outside, 'secret.md'), '---\ntype: log\n---\nsecret\n');
      rmSync(join(dir, folder), { recursive: true, force: true });
      symlinkSync(outside, join(dir, folder));
      assert.deepEqual((await call('GET', `${at}/${folder}`)).body, []);
      const method = folder === 'proof' ? 'POST' : 'PUT';
      assertProblem(await call(method, `${at}/${path}`, body), 400, 'bad_request');
      assert.deepEqual(readdirSync(outside), ['secret.md']);
      const text = readFileSync(join(outside, 'secret.md'), 'utf8');
      assert.equal(text, '---\ntype: log\n---\nsecret\n', 'nothing was adopted');
    });
});

describe('replaceFile', () => {
  it('keeps the mode of the file', async (t) => {
    const layout = layoutOf(temporaryDirectory(t));
    mkdirSync(layout.tmp, { recursive: true });
    const path = join(layout.root, 'private.md');
    writeFileSync(path, 'a', { mode: 0o600 });
    assert.ok(await replaceFile(layout, path, Buffer.from('a'), 'b'));
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });
});

describe('watchWorkspace', () => {
  it('says that nobody watches once its thread has ended', async (t) => {
    const failures: unknown[] = [];
    const watcher = watchWorkspace(layoutOf(temporaryDirectory(t)), undefined as never, {
      hint: () => undefined,
      failed: (error) => failures.push(error),
    });
    await watcher.ready;
    await eventually(() => assert.equal((failures[0] as NodeJS.ErrnoException).code, ENDED));
    await watcher.close();
    assert.equal(failures.length, 1);
  });
});
