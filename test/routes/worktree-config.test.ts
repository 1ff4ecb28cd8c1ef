import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { NOBODY } from '../helpers/nobody.ts';
import { startForTest } from '../helpers/service.ts';
import { codes, create, type Fixture, start } from '../lib/code/worktrees/fixture.ts';

const CONFIG = '/api/worktrees/config';
const DEFAULTS = {
  root: '.dossier/worktrees',
  ttl_hours: 168,
  branch_prefix: 'work/',
  branch_template: '{prefix}{name}',
  base_branch: null,
  setup: [],
  copy_files: [],
  share: [],
  commit: 'end',
};

const fileOf = ({ workspace }: Pick<Fixture, 'workspace'>): string =>
  join(workspace, 'workspace.md');
const textOf = (fixture: Pick<Fixture, 'workspace'>): string =>
  readFileSync(fileOf(fixture), 'utf8');

describe('GET /api/worktrees/config', () => {
  it('tells what the settings say, and the defaults for the rest', async (t) => {
    const fixture = await start(t, { settings: 'worktrees:\n  ttl_hours: 24\n  setup: [make]' });
    const { status, body, etag } = await fixture.send('GET', CONFIG);
    assert.deepEqual([status, body], [200, { ...DEFAULTS, ttl_hours: 24, setup: ['make'] }]);
    const known = { 'if-none-match': String(etag) };
    assert.equal((await fixture.send('GET', CONFIG, undefined, known)).status, 304);
    writeFileSync(fileOf(fixture), '---\nworktrees: { ttl_hours: 1 }\n---\n');
    assert.equal((await fixture.send('GET', CONFIG, undefined, known)).body.ttl_hours, 1);
  });

  it('tells the last good settings while the file cannot be read, and the defaults without one', async (t) => {
    const fixture = await start(t, { settings: 'worktrees:\n  ttl_hours: 24' });
    writeFileSync(fileOf(fixture), '---\nworktrees: [\n---\n');
    assert.equal((await fixture.send('GET', CONFIG)).body.ttl_hours, 24);
    rmSync(fileOf(fixture));
    assert.deepEqual((await fixture.send('GET', CONFIG)).body, DEFAULTS);
  });
});

describe('PUT /api/worktrees/config', () => {
  const put = (fixture: Fixture, body: object, headers = {}) =>
    fixture.send('PUT', CONFIG, body, headers);

  it('writes what is given into workspace.md, and leaves every other byte of it', async (t) => {
    const settings = '# mine\nworktrees:\n  ttl_hours: 24 # a day\n  # last\nother: [1,  2]';
    const fixture = await start(t, { settings });
    const before = textOf(fixture);
    const { status, body, etag } = await put(fixture, { ttl_hours: 0.5, setup: ['npm ci'] });
    assert.deepEqual([status, body.ttl_hours, body.setup], [200, 0.5, ['npm ci']]);
    const text = textOf(fixture);
    assert.match(text, /^ {2}ttl_hours: 0\.5 # a day$/m);
    assert.equal(text.replace('  setup:\n    - npm ci\n', '').replace('0.5', '24'), before);
    assert.equal((await fixture.send('GET', CONFIG)).etag, etag);
    await put(fixture, { ttl_hours: null, setup: null });
    assert.deepEqual((await fixture.send('GET', CONFIG)).body, DEFAULTS);
    assert.match(textOf(fixture), /^# mine$[\s\S]*^other: \[1, {2}2\]$/m);
  });

  it('takes back what it answered, and writes no default that the file does not name', async (t) => {
    const fixture = await start(t, { settings: 'worktrees: { ttl_hours: 24 } # mine' });
    const [text, { body, etag }] = [textOf(fixture), await fixture.send('GET', CONFIG)];
    const sentBack = await put(fixture, body);
    assert.deepEqual([sentBack.body, sentBack.etag], [body, etag]);
    assert.equal(textOf(fixture), text);
    await put(fixture, { ttl_hours: DEFAULTS.ttl_hours });
    assert.match(textOf(fixture), /ttl_hours: 168/);
  });

  it('takes back what it answered beside a value that waits for trust, which stays', async (t) => {
    const settings = 'worktrees: { ttl_hours: 24, setup: [make] }';
    const { call, workspace } = await startForTest(t, { settings, trust: false });
    const text = textOf({ workspace });
    const { body } = await call<{ setup: string[] }>('GET', CONFIG);
    assert.deepEqual(body.setup, []);
    assert.equal((await call('PUT', CONFIG, body)).status, 200);
    assert.equal(textOf({ workspace }), text);
  });

  it('makes the file where there is none, and holds for the next worktree', async (t) => {
    const fixture = await start(t);
    const { workspace, item, repository } = fixture;
    rmSync(fileOf(fixture), { force: true });
    repository.git('branch', 'develop');
    const wanted = {
      root: '../elsewhere',
      base_branch: 'develop',
      branch_template: 'x/{type}-{id}',
    };
    assert.equal((await put(fixture, wanted)).status, 200);
    t.after(() => rmSync(join(workspace, '..', 'elsewhere'), { recursive: true, force: true }));
    const worktree = await create(fixture);
    assert.equal(worktree.path, join(workspace, '..', 'elsewhere', basename(item.path)));
    assert.equal(worktree.branch, `x/bug-${item.id.slice(0, 8)}`);
    assert.equal(worktree.base, 'develop');
  });

  it('refuses what cannot be, each with its place, and writes nothing', async (t) => {
    const fixture = await start(t);
    const before = (await fixture.send('GET', CONFIG)).etag;
    const wrong: [object, string][] = [
      [{ ttl_hours: -1 }, '/ttl_hours'],
      [{ setup: 'npm ci' }, '/setup'],
      [{ setup: ['ok', 'a\0b'] }, '/setup/1'],
      [{ copy_files: ['.env', '../secret'] }, '/copy_files/1'],
      [{ copy_files: ['/etc/passwd'] }, '/copy_files/0'],
      [{ share: ['node_modules', '.venv'] }, '/share/1'],
      [{ share: ['../node_modules'] }, '/share/0'],
      [{ base_branch: 'main\n' }, '/base_branch'],
      [{ branch_prefix: 'a\nb' }, '/branch_prefix'],
      [{ branch_template: 'fixed' }, '/branch_template'],
      [{ branch_template: '{name}-{what}' }, '/branch_template'],
      [{ root: '~/worktrees' }, '/root'],
      [{ root: 'cases' }, '/root'],
      [{ root: '.' }, '/root'],
      [{ root: '.dossier/secrets/x' }, '/root'],
      [{ root: '.dossier/worktrees/../../memory' }, '/root'],
      [{ root: join(fixture.repository.root, '.git', 'x') }, '/root'],
      [{ ttl: 1 }, '/ttl'],
    ];
    for (const [body, path] of wrong) {
      const answer = await put(fixture, body);
      assert.deepEqual(codes(answer), [[400, 'bad_request']], JSON.stringify(body));
      assert.deepEqual(
        (answer.body.errors as { path: string }[]).map((each) => each.path),
        [path],
      );
    }
    assert.equal((await fixture.send('GET', CONFIG)).etag, before);
    assert.equal((await put(fixture, { root: '.dossier/worktrees/deep' })).status, 200);
  });

  it('is 412 when the file changed since, by hand too, and 409 while it cannot be read', async (t) => {
    const fixture = await start(t, { settings: 'worktrees: { ttl_hours: 1 }' });
    const etag = String((await fixture.send('GET', CONFIG)).etag);
    const byHand = '---\nworktrees: { ttl_hours: 2 }\n---\n';
    writeFileSync(fileOf(fixture), byHand);
    const late = await put(fixture, { ttl_hours: 3 }, { 'if-match': etag });
    assert.deepEqual(codes(late), [[412, 'precondition_failed']]);
    assert.equal(textOf(fixture), byHand);
    writeFileSync(fileOf(fixture), '---\nworktrees: [\n---\n');
    assert.deepEqual(codes(await put(fixture, { ttl_hours: 3 })), [[409, 'unreadable_record']]);
    assert.equal(textOf(fixture), '---\nworktrees: [\n---\n');
  });

  it('loses none of several changes at once', async (t) => {
    const fixture = await start(t);
    const wishes = [{ ttl_hours: 3 }, { setup: ['a'] }, { copy_files: ['.env'] }];
    await Promise.all(wishes.map((wish) => put(fixture, wish)));
    const { body } = await fixture.send('GET', CONFIG);
    assert.deepEqual([body.ttl_hours, body.setup, body.copy_files], [3, ['a'], ['.env']]);
  });
});

describe('POST /api/worktrees/branch-name', () => {
  const ask = ({ send, item }: Fixture, more: object = {}) =>
    send('POST', '/api/worktrees/branch-name', { case_id: item.id, ...more });

  it('tells the name that a new worktree gets, whether it is there, and where it is checked out', async (t) => {
    const fixture = await start(t);
    const { item, repository } = fixture;
    const branch = `work/${basename(item.path)}`;
    const free = { case_id: item.id, branch, exists: false, checked_out_at: null };
    assert.deepEqual((await ask(fixture)).body, free);
    assert.equal(repository.git('branch', '--list', branch), '');
    const worktree = await create(fixture);
    assert.equal(worktree.branch, branch);
    const { body } = await ask(fixture);
    assert.deepEqual(body, { ...free, exists: true, checked_out_at: worktree.path });
  });

  it('fills in the template that is given', async (t) => {
    const fixture = await start(t, { settings: 'worktrees:\n  branch_prefix: p-' });
    const id = fixture.item.id.slice(0, 8);
    const template = '{project}/{prefix}{type}/{slug}_{id}';
    const { body } = await ask(fixture, { template });
    assert.equal(body.branch, `default/p-bug/fix-the-login_${id}`);
  });

  it('says what is wrong: with the request, the settings, the project', async (t) => {
    const bad = await start(t, { settings: 'worktrees:\n  branch_prefix: "no..way/"' });
    const none = await start(t, { repo: null });
    assert.deepEqual(
      codes(
        await ask(bad),
        await ask(bad, { template: 'always-the-same' }),
        await ask(bad, { template: '{id}.lock' }),
        await ask(bad, { case_id: NOBODY }),
        await ask(none),
      ),
      [
        [422, 'invalid_state'],
        [400, 'bad_request'],
        [400, 'bad_request'],
        [404, 'not_found'],
        [422, 'no_repository'],
      ],
    );
    const made = await bad.send('POST', '/api/worktrees', { case_id: bad.item.id });
    assert.deepEqual(codes(made), [[422, 'invalid_state']]);
    assert.match(String(made.body.detail), /branch_prefix.*workspace\.md/);
  });
});
