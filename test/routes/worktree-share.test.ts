import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { doctor } from '../../lib/cli/doctor.ts';
import { callOf } from '../helpers/call-of.ts';
import { skipOf } from '../helpers/git-scene.ts';
import { gitIn, writeFiles } from '../helpers/repository.ts';
import { installedIn, saidOf, withSharedInstall } from '../helpers/shared-install.ts';
import { commit } from '../lib/code/worktrees/fixture.ts';

const LOCK = /package-lock\.json \([0-9a-f]{6}\)/.source;

describe('worktrees.share', { skip: skipOf('auto') }, () => {
  it('copies what the first worktree installed into the next, and says so', async (t) => {
    const { create, snapshots } = await withSharedInstall(t);
    const first = await create();
    assert.deepEqual(saidOf(first).slice(0, 2), ['completed', ['completed']]);
    assert.match(
      first.setup.share?.join() ?? '',
      new RegExp(`^node_modules: kept as the snapshot of ${LOCK} for later worktrees\\.$`),
    );
    const second = await create();
    assert.deepEqual(saidOf(second), ['completed', ['skipped']]);
    assert.match(
      second.setup.commands[0]?.output ?? '',
      new RegExp(`^node_modules: copied from the snapshot of ${LOCK}, npm ci not run\\n$`),
    );
    assert.equal(installedIn(second), '{"lock":1}\n');
    assert.equal(statSync(join(second.path, 'node_modules/dep/bin/tool')).mode & 0o777, 0o755);
    assert.equal(readlinkSync(join(second.path, 'node_modules/.bin/tool')), '../dep/bin/tool');
    assert.equal(gitIn(second.path)('status', '--porcelain'), '');
    assert.equal(snapshots().length, 1);
    assert.deepEqual(
      readdirSync(dirname(second.path)).filter((name) => name.startsWith('.')),
      [],
    );
  });

  it('leaves the source byte-identical after a write in place: no file is a hard link', async (t) => {
    const { create, place, snapshots } = await withSharedInstall(t);
    const first = await create();
    const second = await create();
    const name = 'dep/index.js';
    const source = join(place(), snapshots()[0] ?? '', '0', name);
    for (const { path } of [first, second]) {
      const file = join(path, 'node_modules', name);
      assert.notEqual(lstatSync(file).ino, lstatSync(source).ino);
      assert.equal(lstatSync(file).nlink, 1);
      writeFileSync(file, 'changed in place', { flag: 'r+' });
    }
    assert.equal(readFileSync(source, 'utf8'), '{"lock":1}\n');
    assert.equal(installedIn(await create()), '{"lock":1}\n');
  });

  it('makes separate files of those that the install linked to each other', async (t) => {
    const more = 'ln node_modules/dep/index.js node_modules/dep/linked.js';
    const { create, place, snapshots } = await withSharedInstall(t, { more });
    const { path } = await create();
    assert.equal(lstatSync(join(path, 'node_modules/dep/linked.js')).nlink, 2);
    const second = await create();
    const copies = [join(second.path, 'node_modules'), join(place(), snapshots()[0] ?? '', '0')];
    for (const copy of copies)
      for (const name of ['index.js', 'linked.js'])
        assert.equal(lstatSync(join(copy, 'dep', name)).nlink, 1);
  });

  it('gives a worktree with another lockfile no old snapshot', async (t) => {
    const { create, repository, snapshots } = await withSharedInstall(t);
    await create();
    writeFiles(repository.root, { 'package-lock.json': '{"lock":2}\n' });
    commit(repository.git, repository.root, 'two.txt');
    const other = await create();
    assert.deepEqual(saidOf(other).slice(0, 2), ['completed', ['completed']]);
    assert.equal(installedIn(other), '{"lock":2}\n');
    assert.equal(snapshots().length, 2);
  });

  it('is the same for a later commit with the same lockfile, and another for other setup commands', async (t) => {
    const { create, repository, call } = await withSharedInstall(t);
    await create();
    commit(repository.git, repository.root, 'more.txt');
    assert.deepEqual(saidOf(await create()), ['completed', ['skipped']]);
    await call('PUT', '/api/worktrees/config', { setup: ['true', 'npm ci'] });
    assert.deepEqual(saidOf(await create()).slice(0, 2), ['completed', ['completed', 'completed']]);
    assert.deepEqual(saidOf(await create()), ['completed', ['completed', 'skipped']]);
  });

  it('runs every other command, also one that does more than install', async (t) => {
    const setup = ['npm ci', 'echo made > dist.txt; mkdir dist', 'npm ci && true'];
    const { create } = await withSharedInstall(t, { setup: setup.slice(0, 2) });
    await create();
    const second = await create();
    assert.deepEqual(saidOf(second), ['completed', ['skipped', 'completed']]);
    assert.ok(existsSync(join(second.path, 'dist')));
    const more = await withSharedInstall(t, { setup: setup.slice(2) });
    await more.create();
    assert.deepEqual(saidOf(await more.create()), ['completed', ['completed']]);
  });

  it('lets two creations at once install both, and keeps one snapshot', async (t) => {
    const { create, snapshots } = await withSharedInstall(t);
    const both = await Promise.all([create(), create()]);
    for (const made of both) {
      assert.equal(made.setup.status, 'completed');
      assert.equal(installedIn(made), '{"lock":1}\n');
    }
    assert.equal(snapshots().length, 1);
    const later = await Promise.all([create(), create(), create()]);
    assert.deepEqual(later.map(saidOf), Array(3).fill(['completed', ['skipped']]));
    assert.deepEqual(later.map(installedIn), Array(3).fill('{"lock":1}\n'));
  });
});

describe('dossier doctor', { skip: skipOf('auto') }, () => {
  it('shows the size of the snapshots, and how to delete them', async (t) => {
    const { create, running } = await withSharedInstall(t);
    await create();
    const { config } = running.service;
    const said: string[] = [];
    await doctor({ ...callOf(['doctor'], {}), config }, (line) => said.push(line));
    assert.match(
      said.join('\n'),
      /^ok {6}shared +1 snapshot \(1 MB\) for later worktrees\. Delete them: dossier worktrees clean --shared/m,
    );
  });
});

describe('GET and DELETE /api/worktrees/shared', { skip: skipOf('auto') }, () => {
  it('list the snapshots, and remove them; worktrees keep their copies', async (t) => {
    const { create, call, snapshots } = await withSharedInstall(t);
    const first = await create();
    const { body } = await call<Record<string, unknown>[]>('GET', '/api/worktrees/shared');
    const [{ bytes, lockfile, command, directories, project } = {}] = body;
    assert.deepEqual(
      [lockfile, command, directories, project],
      ['package-lock.json', 'npm ci', ['node_modules'], 'default'],
    );
    assert.ok(Number(bytes) > 0);
    assert.equal((await call('DELETE', '/api/worktrees/shared')).status, 204);
    assert.deepEqual(snapshots(), []);
    assert.deepEqual((await call('GET', '/api/worktrees/shared')).body, []);
    assert.equal(installedIn(first), '{"lock":1}\n');
    assert.deepEqual(saidOf(await create()).slice(0, 2), ['completed', ['completed']]);
  });

  it('know nothing of snapshots of a project that is gone, or once nothing is shared', async (t) => {
    const shared = await withSharedInstall(t);
    await shared.create();
    mkdirSync(join(shared.place(), '.partial-1'));
    assert.equal(shared.snapshots().length, 2);
    await shared.running.restart();
    assert.equal(shared.snapshots().length, 1);
    rmSync(shared.repository.root, { recursive: true });
    await shared.running.restart();
    assert.deepEqual(shared.snapshots(), []);
    const off = await withSharedInstall(t);
    await off.create();
    await off.call('PUT', '/api/worktrees/config', { share: null });
    await off.running.restart();
    assert.deepEqual(off.snapshots(), []);
  });
});
