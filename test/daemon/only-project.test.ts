import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../lib/client/client.ts';
import { dossierIn } from '../helpers/command.ts';
import { startHere } from '../helpers/daemon-here.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';

const machine = async (t: TestContext, settings = '') => {
  const workspace = temporaryDirectory(t);
  if (settings !== '') writeFileSync(join(workspace, 'workspace.md'), settings);
  const { url } = await startHere(t, ['--workspace', workspace]);
  const run = (cwd: string, ...words: string[]) =>
    dossierIn(t, { cwd }, [...words, '--workspace', workspace]);
  const read = (name: string) => readFileSync(join(workspace, name), 'utf8');
  return { workspace, api: connect({ url }), run, read };
};

const byHand = (workspace: string, name: string, more = ''): void => {
  mkdirSync(join(workspace, 'cases', name), { recursive: true });
  writeFileSync(join(workspace, 'cases', name, 'case.md'), `---\ntitle: ${name}\n${more}---\n`);
};

const named = (t: TestContext, remote: string) => {
  const made = makeRepository(t, { files: { 'a.txt': 'a\n' } });
  made.git('remote', 'add', 'origin', remote);
  return made;
};

describe('the only project', () => {
  it('is that of a file made by hand, of the code host and of what names none, and of none once there are two', async (t) => {
    const { root } = named(t, 'https://github.com/acme/app.git');
    const other = named(t, 'https://github.com/acme/other.git');
    const { workspace, api, run } = await machine(t);
    assert.equal((await run(root, 'up', '--no-open')).code, 0);
    byHand(workspace, 'by-hand');
    await eventually(async () => assert.equal((await api.call('GET /cases')).length, 1));
    const started = await run(root, 'start', 'by-hand', '--provider', 'manual');
    assert.deepEqual([started.code, started.stderr], [0, '']);
    const detected = await api.call('GET /api/codehost/repo/detect');
    assert.deepEqual([detected.owner, detected.name], ['acme', 'app']);
    await run(other.root, 'up', '--no-open');
    byHand(workspace, 'the-second');
    await eventually(async () => assert.equal((await api.call('GET /cases')).length, 2));
    const refused = await run(root, 'start', 'the-second', '--provider', 'manual');
    const [first, second] = (await api.call('GET /settings')).projects.map(({ name }) => name);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /has no project, and there are several/);
    assert.match(refused.stderr, new RegExp(`--project ${first} or ${second}`));
    const words = ['start', 'the-second', '--provider', 'manual', '--project', second ?? ''];
    assert.equal((await run(root, ...words)).code, 0);
    assert.match(JSON.stringify(await api.call('GET /cases')), new RegExp(`"project":"${second}"`));
  });

  it('keeps the project of a Work item that has a worktree', async (t) => {
    const { root } = named(t, 'https://github.com/acme/app.git');
    const other = named(t, 'https://github.com/acme/b.git');
    const { api, run } = await machine(t);
    await run(root, 'up', '--no-open');
    await run(other.root, 'up', '--no-open');
    const [first = '', second = ''] = (await api.call('GET /settings')).projects.map((p) => p.name);
    const { id } = await api.call('POST /cases', {
      body: { title: 'One', type: 'bug', project: first },
    });
    await api.call('POST /api/worktrees', { body: { case_id: id } });
    const moved = api.call('PUT /cases/{id}', { id, body: { project: second } });
    await assert.rejects(moved, { code: 'already_exists' });
    await api.call('PUT /cases/{id}', { id, body: { project: first } });
  });
});

describe('a project on another machine', () => {
  it('is known there by its remote, and has a path of its own', async (t) => {
    const here = named(t, 'git@github.com:acme/app.git');
    const there = named(t, 'https://github.com/Acme/app');
    const one = await machine(t);
    await one.run(here.root, 'up', '--no-open');
    const shared = one.read('workspace.md');
    assert.ok(!shared.includes(here.root), shared);
    const two = await machine(t, shared);
    const [before] = (await two.api.call('GET /settings')).projects;
    assert.deepEqual([before?.of, before?.repository], ['remote', false]);
    const { id } = await two.api.call('POST /cases', { body: { title: 'One', type: 'bug' } });
    const start = ['start', 'One', '--provider', 'manual'];
    const refused = await two.run(two.workspace, ...start);
    assert.match(refused.stderr, /Clone git@github\.com:acme\/app\.git and run `dossier` in it/);
    assert.match((await two.run(there.root, 'up', '--no-open')).stdout, /\(added\)/);
    assert.equal(two.read('workspace.md'), shared);
    assert.equal((await two.run(there.root, ...start)).code, 0);
    await eventually(async () => {
      const { repository } = JSON.parse(two.read(`.dossier/worktrees/${id}.json`));
      assert.equal(repository, there.root);
    });
  });

  it('has the name that the other machine gave to its path', async (t) => {
    const { root } = makeRepository(t, { files: { 'a.txt': 'a\n' } });
    const name = root.split('/').at(-1) ?? '';
    const { api, run } = await machine(t, `---\nprojects:\n  ${name}: /home/other/${name}\n---\n`);
    await run(root, 'up', '--no-open');
    const { projects } = await api.call('GET /settings');
    assert.deepEqual(
      projects.map((each) => [each.name, each.place]),
      [[name, root]],
    );
  });
});
