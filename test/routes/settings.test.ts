import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { WorkspaceSettings } from '../../store/records/workspace-settings.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { type Running, startForTest } from '../helpers/service.ts';

const start = async (t: TestContext, settings: string) => {
  const running = await startForTest(t, { settings, trust: false });
  const file = join(running.workspace, 'workspace.md');
  return { ...running, file, text: () => readFileSync(file, 'utf8') };
};

const put = ({ call }: Running, body: object, headers = {}) =>
  call<WorkspaceSettings & { code: string; detail: string }>('PUT', '/settings', body, headers);

describe('GET /settings', () => {
  it('tells what holds, what waits, and which project has no repository', async (t) => {
    const running = await start(t, 'max_sessions: 2\nprojects:\n  app: /nowhere');
    const { status, body, headers } = await running.call<WorkspaceSettings>('GET', '/settings');
    const { root } = running.repository;
    const flag = { name: 'default', path: root, place: root, of: 'flag', repository: true };
    assert.equal(status, 200);
    assert.deepEqual(body, {
      ...{ file: running.file, provider: 'runbook', max_sessions: 2 },
      ...{ projects: [flag], waiting: ['projects.app'] },
    });
    await running.call('POST', '/trust', { all: true });
    const after = await running.call<WorkspaceSettings>('GET', '/settings');
    const app = { name: 'app', path: '/nowhere', place: '/nowhere' };
    assert.deepEqual(after.body.projects[1], { ...app, of: 'settings', repository: false });
    assert.deepEqual(after.body.waiting, []);
    assert.notEqual(after.headers.etag, headers.etag);
    const stale = await put(running, { max_sessions: 3 }, { 'if-match': String(headers.etag) });
    assert.equal(stale.status, 412);
  });
});

describe('PUT /settings', () => {
  it('writes what is given, leaves the rest, and keeps paths of this machine out of workspace.md', async (t) => {
    const own = '# mine\nmax_sessions: 4 # enough\nprojects:\n  app: /nowhere # the first';
    const running = await start(t, own);
    const { root } = makeRepository(t, { files: { 'README.md': 'x' } });
    const { status, body } = await put(running, {
      ...{ provider: 'manual', max_sessions: 3 },
      projects: { 'next.js': root },
    });
    assert.deepEqual([status, body.provider, body.max_sessions], [200, 'manual', 3]);
    assert.equal(body.projects.find(({ name }) => name === 'next.js')?.place, root);
    // What was written by hand waits still.
    assert.deepEqual(body.waiting, ['projects.app']);
    assert.equal(running.text(), `---\n${own.replace('4', '3')}\nprovider: manual\n---\n`);
    const local = join(running.workspace, '.dossier/local.md');
    assert.equal(readFileSync(local, 'utf8'), `---\nprojects:\n  next.js: ${root}\n---\n`);
    await put(running, { provider: null, projects: { 'next.js': null } });
    assert.equal(running.text(), `---\n${own.replace('4', '3')}\n---\n`);
    assert.doesNotMatch(readFileSync(local, 'utf8'), /next/);
  });

  it('shares the remote of a repository, without a login, and is another ETag for another path', async (t) => {
    const running = await start(t, 'max_sessions: 4');
    const { root, git } = makeRepository(t, { files: { 'README.md': 'x' } });
    git('remote', 'add', 'fork', 'https://you:secret@example.com/you/app.git');
    git('remote', 'add', 'origin', 'git@github.com:acme/app');
    const first = await put(running, { projects: { app: root } });
    assert.match(running.text(), /^projects:\n {2}app: git@github\.com:acme\/app\.git$/m);
    const app = first.body.projects.find(({ name }) => name === 'app');
    assert.deepEqual([app?.place, app?.remote], [root, 'git@github.com:acme/app.git']);
    assert.deepEqual(first.body.waiting, []);
    const etag = String(first.headers.etag);
    const other = makeRepository(t, { files: { 'README.md': 'y' } });
    await put(running, { projects: { app: other.root } });
    const stale = await put(running, { projects: { app: root } }, { 'if-match': etag });
    assert.equal(stale.status, 412);
  });

  it('lets paths of .dossier/local.md win over those of workspace.md, once they are trusted', async (t) => {
    const here = makeRepository(t, { files: { 'README.md': 'x' } }).root;
    const running = await start(t, 'projects:\n  app: /of/another/machine');
    await running.call('POST', '/trust', { all: true });
    const local = `---\nprojects:\n  app: ${here}\n---\n`;
    writeFileSync(join(running.workspace, '.dossier/local.md'), local);
    const app = async () => {
      const { body } = await running.call<WorkspaceSettings>('GET', '/settings');
      return [body.projects.find(({ name }) => name === 'app')?.place, body.waiting];
    };
    assert.deepEqual(await app(), ['/of/another/machine', ['projects.app']]);
    await running.call('POST', '/trust', { all: true });
    assert.deepEqual(await app(), [here, []]);
  });

  it('takes a path from the workspace on, and makes the file where there is none', async (t) => {
    const running = await startForTest(t, { trust: false });
    const { root } = makeRepository(t, { files: { 'README.md': 'x' } });
    const path = join('..', root.split('/').at(-1) ?? '');
    const { status, body } = await put(running, { projects: { app: path } });
    assert.deepEqual([status, body.projects[1]?.place], [200, root]);
  });

  it('refuses what cannot be, with its place, and writes nothing', async (t) => {
    const running = await start(t, 'max_sessions: 2');
    const before = running.text();
    const plain = temporaryDirectory(t);
    const broken = join(plain, 'line\nbreak');
    renameSync(makeRepository(t).root, broken);
    const wrong = [
      { projects: { app: broken } },
      { provider: 'nobody' },
      { projects: { app: plain } },
      { projects: { app: '~/code' } },
      { projects: { app: '/nowhere/at/all' } },
      { projects: { 'a b': running.repository.root } },
      { max_sessions: 0 },
    ];
    for (const body of wrong) {
      const answer = await put(running, body);
      assert.deepEqual([answer.status, answer.body.code], [400, 'bad_request'], answer.text);
    }
    assert.equal(running.text(), before);
  });

  it('refuses to change another file than was read, and one that cannot be read', async (t) => {
    const running = await start(t, 'max_sessions: 2');
    const { headers } = await running.call('GET', '/settings');
    writeFileSync(running.file, '---\nmax_sessions: 5\n---\n');
    const other = await put(running, { max_sessions: 3 }, { 'if-match': String(headers.etag) });
    assert.deepEqual([other.status, other.body.code], [412, 'precondition_failed']);
    writeFileSync(running.file, '---\nmax_sessions: [\n---\n');
    const unread = await put(running, { max_sessions: 3 });
    assert.deepEqual([unread.status, unread.body.code], [409, 'unreadable_record']);
  });

  it('writes what two ask for at once', async (t) => {
    const running = await start(t, 'max_sessions: 2');
    const { root } = running.repository;
    const names = ['a', 'b', 'c', 'd'];
    const answers = await Promise.all(
      names.map((name) => put(running, { projects: { [name]: root } })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    const { body } = await running.call<WorkspaceSettings>('GET', '/settings');
    assert.deepEqual(body.projects.map(({ name }) => name).toSorted(), [...names, 'default']);
  });
});

describe('GET /api/machine', () => {
  it('says where things are, and what cannot be held here', async (t) => {
    const { call, workspace } = await startForTest(t, { settings: 'sandbox: "off"' });
    type Told = { workspace: string; disk: { free: number }; unheld: { about: string }[] };
    const { status, body } = await call<Told>('GET', '/api/machine');
    assert.deepEqual([status, body.workspace], [200, workspace]);
    assert.ok(body.disk.free > 0);
    assert.ok(body.unheld.some(({ about }) => about === 'bubblewrap'));
  });
});
