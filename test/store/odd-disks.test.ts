/** File systems that cannot do what others can: no hard links, or `.dossier/` on another one than the records. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { removeDirectory } from '../../store/fs/directories.ts';
import { createDirectory, createFile, removeFile, replaceFile } from '../../store/fs/durable.ts';
import { type Layout, layoutOf } from '../../store/layout.ts';
import type { Case } from '../../store/records/case.ts';
import { acquireLock, releaseLock } from '../../store/sessions/locks.ts';
import { inject } from '../helpers/faults.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { type Problem, withCase as withSession } from '../helpers/sessions.ts';
import { tinyDisk } from '../helpers/tiny-disk.ts';
import { told, withCase } from '../helpers/work-item.ts';

type Odd = (t: TestContext, dossier: string) => Promise<boolean>;

/** Makes this process, or the place of `.dossier`, odd; false where that cannot be had. */
const ODD: Record<string, Odd> = {
  'without hard links': async (t) =>
    (await inject(t, process.pid, 'link,linkat:error=EPERM')) !== undefined,
  'with .dossier on another one': async (t, dossier) => tinyDisk(t, 4096, dossier) !== undefined,
};

const place = async (t: TestContext, odd: Odd): Promise<Layout | undefined> => {
  const layout = layoutOf(temporaryDirectory(t));
  mkdirSync(layout.dossier);
  if (!(await odd(t, layout.dossier))) return undefined;
  for (const path of [layout.tmp, layout.trash, layout.undo]) mkdirSync(path);
  return layout;
};

const undone = ({ undo }: Layout): string[] =>
  readdirSync(undo, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));

const assertOnly = ({ root, tmp }: Layout, ...names: string[]): void => {
  assert.deepEqual(readdirSync(tmp), []);
  assert.deepEqual(readdirSync(root).toSorted(), ['.dossier', ...names]);
};

for (const [name, odd] of Object.entries(ODD))
  describe(`a file system ${name}`, () => {
    it('replaces a file and keeps the old one', async (t) => {
      const layout = await place(t, odd);
      if (layout === undefined) return;
      const target = join(layout.root, 'a.md');
      writeFileSync(target, 'old', { mode: 0o640 });
      assert.equal(await replaceFile(layout, target, Buffer.from('older'), 'new'), false);
      assert.equal(await replaceFile(layout, target, Buffer.from('old'), 'new'), true);
      assert.equal(await replaceFile(layout, target, Buffer.from('new'), 'newer'), true);
      assert.equal(readFileSync(target, 'utf8'), 'newer');
      assert.ok(['old', 'new'].every((text) => undone(layout).includes(text)));
      assertOnly(layout, 'a.md');
    });

    it('makes a file once, whoever makes it, and never over another', async (t) => {
      const layout = await place(t, odd);
      if (layout === undefined) return;
      const target = join(layout.root, 'a.md');
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          createFile(layout, target, `number ${n}`, { mode: 0o600 }),
        ),
      );
      assert.equal(made.filter(Boolean).length, 1);
      assert.equal(readFileSync(target, 'utf8'), `number ${made.indexOf(true)}`);
      assertOnly(layout, 'a.md');
      writeFileSync(join(layout.root, 'empty.md'), '');
      assert.equal(await createFile(layout, join(layout.root, 'empty.md'), 'mine'), false);
      assert.equal(readFileSync(join(layout.root, 'empty.md'), 'utf8'), '');
    });

    it('makes and removes files and directories', async (t) => {
      const layout = await place(t, odd);
      if (layout === undefined) return;
      const dir = join(layout.root, 'cases/2026-01/one');
      await createDirectory(layout, dir, { 'case.md': 'a', 'b.md': 'b' });
      assert.deepEqual(readdirSync(dir).toSorted(), ['b.md', 'case.md']);
      assert.equal(await removeFile(layout, join(dir, 'b.md')), true);
      assert.equal(await removeFile(layout, join(dir, 'b.md')), false);
      assert.deepEqual(undone(layout), ['b']);
      const trash = (await removeDirectory(layout, dir)) ?? '';
      assert.equal(readFileSync(join(trash, 'case.md'), 'utf8'), 'a');
      assert.ok(!readdirSync(join(layout.root, 'cases/2026-01')).includes('one'));
    });
  });

describe('a daemon on a file system without hard links', () => {
  it('starts, writes, locks and removes as on any other', async (t) => {
    if ((await inject(t, process.pid, 'link,linkat:error=EOPNOTSUPP')) === undefined) return;
    const { call, at, item, read, events, running } = await withCase(t);
    const done = async (status: number, ...[method, path, body]: Parameters<typeof call>) =>
      assert.equal((await call(method, path, body)).status, status, `${method} ${path}`);
    await done(200, 'PUT', at, { title: 'new' });
    await done(201, 'POST', `${at}/proof`, { type: 'log', content: 'ok' });
    await done(200, 'PUT', `${at}/memory/notes.md`, 'notes');
    await done(201, 'POST', '/webhooks', { url: 'http://127.0.0.1:1/' });
    const { store } = running.service;
    const holder = {
      kind: 'operator' as const,
      name: 'me',
      acquired_at: store.clock().toISOString(),
    };
    const won = await Promise.all([1, 2, 3].map(() => acquireLock(store, item.id, holder)));
    assert.equal(won.filter(Boolean).length, 1);
    await running.restart();
    assert.equal((await call<Case>('GET', at)).body.title, 'new');
    assert.match(read('case.md'), /^title: new$/m);
    assert.deepEqual(told(events), ['case_updated', 'proof_created']);
    assert.equal(await releaseLock(running.service.store, item.id, () => true), true);
    await done(204, 'DELETE', at);
  });
});

describe('a file system without symbolic links', () => {
  it('is told when a session is created, and starts none', async (t) => {
    const { call, at, post } = await withSession(t);
    const faults = await inject(t, process.pid, 'symlink,symlinkat:error=EPERM');
    if (faults === undefined) return;
    const { status, body } = await post('/sessions', { type: 'implementing' });
    assert.deepEqual([status, (body as Problem).code], [503, 'unavailable']);
    assert.match(
      (body as Problem).detail,
      /without symbolic links.* Move the workspace to another/,
    );
    assert.deepEqual((await call('GET', `${at}/sessions`)).body, []);
    await faults.end();
    assert.equal((await post('/sessions', { type: 'implementing' })).status, 201);
  });
});
