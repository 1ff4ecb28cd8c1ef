import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createCase } from '../../lib/work/cases/change.ts';
import { NOBODY } from '../helpers/nobody.ts';
import { gitIn, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { codes, commit, create, type Fixture, hold, start } from '../lib/code/worktrees/fixture.ts';

const linked = (t: TestContext, { repository }: Fixture, branch = 'mine'): string => {
  const path = join(temporaryDirectory(t), 'linked');
  repository.git('worktree', 'add', '--quiet', '-b', branch, path);
  return path;
};

const attach = ({ send, item }: Fixture, path: string, more: object = {}, id = item.id) =>
  send('POST', `/api/worktrees/${id}/attach`, { path, ...more });

describe('POST /api/worktrees/{case_id}/attach', () => {
  it('takes a linked worktree, changes nothing in it, and measures it from where it left the base', async (t) => {
    const fixture = await start(t);
    const { item, repository, send } = fixture;
    const path = linked(t, fixture);
    const left = repository.git('rev-parse', 'main').trim();
    commit(gitIn(path), path, 'begun.txt');
    commit(repository.git, repository.root, 'later.txt');
    writeFiles(path, { 'dirty.txt': 'dirty' });
    const before = gitIn(path)('status', '--porcelain=v2', '--branch');
    const answer = await attach(fixture, path);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    assert.equal(answer.location, `/api/worktrees/${item.id}/status`);
    const { created_at: _, ...body } = answer.body;
    assert.deepEqual(body, {
      case_id: item.id,
      path,
      branch: 'mine',
      base: 'main',
      base_commit: left,
      attached: true,
    });
    assert.equal(gitIn(path)('status', '--porcelain=v2', '--branch'), before);
    const health = (await send('GET', `/api/worktrees/${item.id}/health`)).body;
    assert.deepEqual([health.status, health.dirty, health.ahead], ['ok', true, 1]);
  });

  it('takes a clone, and a path that is a link to one, as what it is', async (t) => {
    const fixture = await start(t);
    const { repository } = fixture;
    const place = temporaryDirectory(t);
    const clone = join(place, 'clone');
    gitIn(place)('clone', '--quiet', repository.root, clone);
    gitIn(clone)('switch', '--quiet', '--create', 'mine');
    symlinkSync(clone, join(place, 'link'));
    const { status, body } = await attach(fixture, join(place, 'link'), { base: 'origin/main' });
    assert.deepEqual([status, body.path, body.base], [201, clone, 'origin/main']);
  });

  it('is only let go by DELETE, with all that is in it', async (t) => {
    const fixture = await start(t);
    const path = linked(t, fixture);
    writeFiles(path, { 'work.txt': 'work' });
    await attach(fixture, path);
    const url = `/api/cases/${fixture.item.id}/worktree?force=true`;
    assert.equal((await fixture.send('DELETE', url)).status, 204);
    assert.deepEqual(readdirSync(path).toSorted(), ['.git', 'README.md', 'work.txt']);
    assert.equal((await attach(fixture, path)).status, 201);
  });

  it('refuses what is no work tree, with 422 and what to do', async (t) => {
    const fixture = await start(t);
    const { repository, workspace } = fixture;
    const place = temporaryDirectory(t);
    const path = linked(t, fixture);
    gitIn(place)('init', '--quiet', '--bare', join(place, 'bare.git'));
    mkdirSync(join(path, 'below'));
    writeFileSync(join(place, 'file'), '');
    const odd = join(place, 'odd');
    gitIn(place)('init', '--quiet', odd);
    gitIn(odd)('config', 'core.worktree', repository.root);
    const refused = [
      join(place, 'nothing'),
      join(place, 'file'),
      place,
      join(place, 'bare.git'),
      join(path, 'below'),
      join(path, '.git'),
      odd,
      workspace,
    ];
    for (const each of refused)
      assert.deepEqual(codes(await attach(fixture, each)), [[422, 'not_a_worktree']], each);
    gitIn(path)('switch', '--quiet', '--detach');
    const detached = await attach(fixture, path);
    assert.deepEqual(codes(detached), [[422, 'not_a_worktree']]);
    assert.match(String(detached.body.detail), /^HEAD is detached in /);
    assert.deepEqual(codes(await attach(fixture, 'relative')), [[400, 'bad_request']]);
    assert.deepEqual(codes(await attach(fixture, path, { base: 'nowhere' }, NOBODY)), [
      [404, 'not_found'],
    ]);
  });

  it('refuses the checkout of a project by every path, and what holds it', async (t) => {
    const settings = 'projects: { site: ../site }';
    const fixture = await start(t, { settings });
    const { root } = fixture.repository;
    const link = join(temporaryDirectory(t), 'link');
    symlinkSync(root, link);
    const above = temporaryDirectory(t);
    gitIn(above)('init', '--quiet', '--initial-branch=main');
    commit(gitIn(above), above, 'one.txt');
    for (const each of [root, link, `${root}/../${root.split('/').at(-1)}`, `${root}/.git/..`])
      assert.deepEqual(codes(await attach(fixture, each)), [[422, 'not_a_worktree']], each);

    // A project whose checkout is a linked worktree: the main one of its repository is no place for a session either.
    const own = linked(t, fixture, 'own');
    const other = await start(t, { repo: own });
    assert.deepEqual(codes(await attach(other, root)), [[422, 'not_a_worktree']]);
    const holding = await start(t, { repo: join(above, 'inner') });
    gitIn(above)('clone', '--quiet', root, join(above, 'inner'));
    assert.deepEqual(codes(await attach(holding, above)), [[422, 'not_a_worktree']]);
  });

  it('refuses a directory that another Work item has, also when both ask at once', async (t) => {
    const fixture = await start(t);
    const { service, item } = fixture;
    const second = await createCase(service, { title: 'Another', type: 'bug' });
    const made = await create(fixture);
    const taken = await attach(fixture, made.path, {}, second.id);
    assert.deepEqual(codes(taken), [[422, 'not_a_worktree']]);
    await fixture.send('DELETE', `/api/cases/${item.id}/worktree`);
    const path = linked(t, fixture);
    const answers = await Promise.all(
      [item.id, second.id].map((id) => attach(fixture, path, {}, id)),
    );
    assert.deepEqual(codes(...answers), [
      [201, undefined],
      [422, 'not_a_worktree'],
    ]);
  });

  it('refuses what the daemon made for another Work item, and whose record is lost', async (t) => {
    const elsewhere = temporaryDirectory(t);
    const fixture = await start(t, { settings: `worktrees:\n  root: ${elsewhere}` });
    const { repository } = fixture;
    const path = join(elsewhere, 'of-another');
    repository.git('worktree', 'add', '-q', '--lock', '--reason', `dossier ${NOBODY}`, path);
    const answer = await attach(fixture, path);
    assert.deepEqual(codes(answer), [[422, 'not_a_worktree']]);
    assert.match(String(answer.body.detail), new RegExp(NOBODY));
  });

  it('is 409 where there is a worktree, and while somebody holds the session lock', async (t) => {
    const fixture = await start(t);
    const path = linked(t, fixture);
    await create(fixture);
    assert.deepEqual(codes(await attach(fixture, path)), [[409, 'already_exists']]);
    const held = await start(t);
    await hold(held, 'session');
    assert.deepEqual(codes(await attach(held, linked(t, held))), [[409, 'session_active']]);
  });
});

describe('POST /api/worktrees/{case_id}/verify-isolation', () => {
  const verify = async ({ send, item }: Fixture) => {
    const { status, body } = await send('POST', `/api/worktrees/${item.id}/verify-isolation`);
    assert.equal(status, 200, JSON.stringify(body));
    const checks = body.checks as { name: string; ok: boolean; detail: string }[];
    const failed = checks.filter(({ ok }) => !ok);
    assert.equal(body.isolated, failed.length === 0);
    return { names: checks.map(({ name }) => name), failed };
  };

  it('finds a new worktree apart from everything', async (t) => {
    const fixture = await start(t);
    await create(fixture);
    const { names, failed } = await verify(fixture);
    assert.deepEqual(failed, []);
    assert.deepEqual(names, [
      'as_made',
      'own_directory',
      'own_index',
      'own_branch',
      'own_work_tree',
      'not_shared',
      'kept_by_git',
    ]);
  });

  it('tells each way out of it, and how to go back', async (t) => {
    const fixture = await start(t);
    const { repository } = fixture;
    const { path, branch } = await create(fixture);
    const git = gitIn(path);
    const finds = async (name: string, advice: RegExp) => {
      const { failed } = await verify(fixture);
      assert.deepEqual(
        failed.map((each) => each.name),
        [name],
      );
      assert.match(failed[0]?.detail ?? '', advice);
    };
    repository.git('switch', '--quiet', '--create', 'elsewhere');
    git('switch', '--quiet', 'main');
    await finds('own_branch', new RegExp(`git switch ${branch}`));
    repository.git('switch', '--quiet', '--ignore-other-worktrees', 'main');
    await finds('own_branch', /checked out at/);
    git('switch', '--quiet', '--detach');
    assert.deepEqual((await verify(fixture)).failed, []);
    git('switch', '--quiet', branch);
    git('config', 'extensions.worktreeConfig', 'true');
    git('config', '--worktree', 'core.worktree', repository.root);
    await finds('own_work_tree', /--unset core\.worktree/);
    gitIn(repository.root)(
      'config',
      '--file',
      join(repository.root, '.git/worktrees', path.split('/').at(-1) ?? '', 'config.worktree'),
      '--unset',
      'core.worktree',
    );
    repository.git('worktree', 'unlock', path);
    await finds('kept_by_git', /git worktree lock --reason/);
    writeFileSync(join(path, '.git'), `gitdir: ${join(repository.root, '.git')}\n`);
    await finds('as_made', /git worktree repair/);
  });

  it('tells a clone that works on the main branch', async (t) => {
    const fixture = await start(t);
    const clone = join(temporaryDirectory(t), 'clone');
    gitIn(fixture.workspace)('clone', '--quiet', fixture.repository.root, clone);
    await attach(fixture, clone);
    const { failed } = await verify(fixture);
    assert.deepEqual(
      failed.map(({ name }) => name),
      ['own_branch'],
    );
  });

  it('is 404 without a worktree', async (t) => {
    const { send, item } = await start(t);
    const answers = [item.id, NOBODY].map((id) =>
      send('POST', `/api/worktrees/${id}/verify-isolation`),
    );
    assert.deepEqual(codes(...(await Promise.all(answers))), [
      [404, 'not_found'],
      [404, 'not_found'],
    ]);
  });
});
