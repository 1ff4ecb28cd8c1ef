import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createGit } from '../../lib/tools/git/run/create-git.ts';
import { createCase } from '../../lib/work/cases/change.ts';
import { deleteCase } from '../../store/cases/cases.ts';
import { sealedText } from '../../store/consent/seal.ts';
import { eventually, untilSoon } from '../helpers/eventually.ts';
import { inject } from '../helpers/faults.ts';
import { NOBODY } from '../helpers/nobody.ts';
import { gitIn, makeRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { withCase } from '../helpers/sessions.ts';
import { codes, commit, create, type Fixture, hold, start } from '../lib/code/worktrees/fixture.ts';

const startWith = async (t: TestContext, wanted?: Parameters<typeof start>[1]) => {
  const fixture = await start(t, wanted);
  const worktree = await create(fixture);
  return { ...fixture, worktree, git: gitIn(worktree.path) };
};

const recordFile = ({ workspace, item }: Fixture): string =>
  join(workspace, '.dossier', 'worktrees', `${item.id}.json`);

describe('GET /api/worktrees', () => {
  it('lists each that is there, one that cannot be read, and Work items of which work is kept', async (t) => {
    const fixture = await startWith(t);
    const { item, send, service, worktree } = fixture;
    const list = async () => (await send('GET', '/api/worktrees')).body as unknown as object[];
    const { path, branch, created_at } = worktree;
    const told = { case_id: item.id, path, branch, attached: false, created_at };
    assert.deepEqual(await list(), [{ ...told, kept: false }]);
    const broken = await createCase(service, { title: 'Broken', type: 'bug' });
    writeFileSync(recordFile({ ...fixture, item: broken }), '{');
    const [first, second] = (await list()).toSorted((one) => ('problem' in one ? 1 : -1));
    assert.deepEqual(first, { ...told, kept: false });
    assert.match(JSON.stringify(second), /"problem":"[^"]+","kept":false/);
    rmSync(recordFile({ ...fixture, item: broken }));
    writeFiles(path, { 'new.txt': 'new' });
    await send('DELETE', `/api/cases/${item.id}/worktree?force=true`);
    assert.deepEqual(await list(), [{ case_id: item.id, kept: true }]);
    // The patch alone is something, too.
    const refs = fixture.repository.git('for-each-ref', '--format=%(refname)', 'refs/dossier');
    for (const ref of refs.trim().split('\n')) fixture.repository.git('update-ref', '-d', ref);
    assert.deepEqual(await list(), [{ case_id: item.id, kept: true }]);
    await deleteCase(service.store, item.id);
    assert.deepEqual(await list(), []);
  });

  it('lists the oldest first, and those without a readable record last', async (t) => {
    const fixture = await start(t);
    const { send, service } = fixture;
    const ids: string[] = [];
    for (const title of ['A', 'B', 'C', 'D', 'E', 'F']) {
      const { id } = await createCase(service, { title, type: 'bug' });
      assert.equal((await send('POST', '/api/worktrees', { case_id: id })).status, 201);
      ids.push(id);
    }
    const [broken = '', ...others] = ids;
    const file = join(fixture.workspace, '.dossier', 'worktrees', `${broken}.json`);
    writeFileSync(file, '{');
    const { body } = await send('GET', '/api/worktrees');
    assert.deepEqual(
      (body as unknown as { case_id: string }[]).map(({ case_id }) => case_id),
      [...others, broken],
    );
  });

  it('takes what a Plan turn that goes on will go back to for no kept work', async (t) => {
    const { running, start: begin } = await withCase(t, 'By hand.', {
      settings: 'provider: manual',
    });
    await begin();
    const refs = () => running.repository.git('for-each-ref', 'refs/dossier');
    await eventually(() => assert.match(refs(), /snapshots/));
    // Its ref is made before it is noted who needs it.
    await eventually(async () => {
      const { body } = await running.call<{ kept: boolean }[]>('GET', '/api/worktrees');
      assert.deepEqual(
        body.map(({ kept }) => kept),
        [false],
      );
    });
  });

  it('knows of what is kept in the repository of a clone that was attached, and needs none of its own', async (t) => {
    const fixture = await start(t, { repo: null });
    const { item, send, repository } = fixture;
    const mine = join(temporaryDirectory(t), 'mine');
    repository.git('worktree', 'add', '--quiet', '-b', 'mine', mine);
    await send('POST', `/api/worktrees/${item.id}/attach`, { path: mine, base: 'main' });
    const list = async () => (await send('GET', '/api/worktrees')).body as unknown as object[];
    const kept = async () => (await list()).map((one) => 'kept' in one && one.kept);
    assert.deepEqual(await kept(), [false]);
    const name = `${item.id.slice(0, 8)}-2026-01-01T00-00-00Z`;
    repository.git('update-ref', `refs/dossier/undone/${name}`, 'main');
    assert.deepEqual(await kept(), [true]);
  });
});

describe('POST /api/worktrees', () => {
  it('makes a worktree that is called as the Work item, on a branch of its own', async (t) => {
    const fixture = await start(t);
    const { send, item, repository, workspace } = fixture;
    const answer = await send('POST', '/api/worktrees', { case_id: item.id });
    const name = basename(item.path);
    const path = join(workspace, '.dossier', 'worktrees', name);
    const head = repository.git('rev-parse', 'main').trim();
    assert.equal(answer.status, 201);
    assert.equal(answer.location, `/api/worktrees/${item.id}/status`);
    const { created_at, ...body } = answer.body;
    assert.ok(Date.parse(String(created_at)) <= Date.now());
    assert.deepEqual(body, {
      case_id: item.id,
      path,
      branch: `work/${name}`,
      base: 'main',
      base_commit: head,
      attached: false,
    });
    assert.equal(readFileSync(join(path, 'README.md'), 'utf8'), '# A repository\n');
    assert.equal(gitIn(path)('branch', '--show-current').trim(), `work/${name}`);
    assert.equal(repository.git('branch', '--show-current').trim(), 'main');
    const record = JSON.parse(readFileSync(recordFile(fixture), 'utf8'));
    assert.equal(record.common_dir, join(repository.root, '.git'));
    assert.match(repository.git('worktree', 'list', '--porcelain'), /^locked dossier /m);
  });

  it('takes branch and base from the request', async (t) => {
    const fixture = await start(t);
    const { repository } = fixture;
    const first = repository.git('rev-parse', 'main').trim();
    commit(repository.git, repository.root, 'later.txt');
    repository.git('tag', 'old', first);
    const worktree = await create(fixture, { branch: 'mine', base: 'old' });
    assert.equal(worktree.branch, 'mine');
    assert.equal(worktree.base, 'old');
    assert.equal(worktree.base_commit, first);
    assert.ok(!existsSync(join(worktree.path, 'later.txt')));
  });

  it('takes root, prefix and base from the settings', async (t) => {
    const elsewhere = temporaryDirectory(t);
    const root = join(elsewhere, 'trees');
    const settings = `worktrees:\n  root: ${root}\n  branch_prefix: dossier/\n  base_branch: develop`;
    const fixture = await start(t, { settings });
    fixture.repository.git('branch', 'develop');
    const worktree = await create(fixture);
    const name = basename(fixture.item.path);
    assert.equal(worktree.path, join(root, name));
    assert.equal(worktree.branch, `dossier/${name}`);
    assert.equal(worktree.base, 'develop');
  });

  it('checks out a branch that exists as it is, and measures it from where it left the base', async (t) => {
    const fixture = await start(t);
    const { repository } = fixture;
    const left = repository.git('rev-parse', 'main').trim();
    repository.git('switch', '-qc', 'begun');
    commit(repository.git, repository.root, 'begun.txt');
    repository.git('switch', '-q', 'main');
    commit(repository.git, repository.root, 'later.txt');
    const worktree = await create(fixture, { branch: 'begun' });
    assert.equal(worktree.base_commit, left);
    assert.ok(existsSync(join(worktree.path, 'begun.txt')));
  });

  it('answers two at once with one 201 and one 409', async (t) => {
    const { send, item, repository } = await start(t);
    const body = { case_id: item.id };
    const answers = await Promise.all([1, 2].map(() => send('POST', '/api/worktrees', body)));
    assert.deepEqual(codes(...answers), [
      [201, undefined],
      [409, 'already_exists'],
    ]);
    assert.equal(repository.git('worktree', 'list').trim().split('\n').length, 2);
  });

  it('says what is wrong with the request', async (t) => {
    const { send, item } = await start(t);
    const post = (body: object) => send('POST', '/api/worktrees', body);
    assert.deepEqual((await post({ case_id: item.id, branch: 'no..way' })).body.errors, [
      { path: '/branch', message: 'is not a valid branch name' },
    ]);
    assert.deepEqual(
      codes(
        await post({ case_id: NOBODY }),
        await post({ case_id: 'x' }),
        await post({ case_id: item.id, branch: 'no..way' }),
        await post({ case_id: item.id, branch: '-x' }),
        await post({ case_id: item.id, base: 'nowhere' }),
        await post({ case_id: item.id, base: '--all' }),
        await post({ case_id: item.id, path: '/tmp' }),
      ),
      [
        [404, 'not_found'],
        [400, 'bad_request'],
        [400, 'bad_request'],
        [400, 'bad_request'],
        [422, 'invalid_state'],
        [422, 'invalid_state'],
        [400, 'bad_request'],
      ],
    );
    assert.equal((await send('GET', `/api/worktrees/${item.id}/status`)).status, 404);
  });

  it('refuses a branch that is checked out elsewhere, and nothing is left over', async (t) => {
    const fixture = await start(t);
    const { send, item } = fixture;
    const answer = await send('POST', '/api/worktrees', { case_id: item.id, branch: 'main' });
    assert.deepEqual(codes(answer), [[409, 'branch_in_use']]);
    assert.ok(!existsSync(recordFile(fixture)));
    await create(fixture);
  });

  it('says what to do when there is no repository', async (t) => {
    const bare = await start(t, { repo: null });
    const none = await bare.send('POST', '/api/worktrees', { case_id: bare.item.id });
    assert.deepEqual(codes(none), [[422, 'no_repository']]);
    assert.match(String(none.body.detail), /Run `dossier` in it.*workspace\.md/);
    const wrong = await start(t, { repo: temporaryDirectory(t) });
    const not = await wrong.send('POST', '/api/worktrees', { case_id: wrong.item.id });
    assert.deepEqual(codes(not), [[422, 'no_repository']]);
    const { root } = makeRepository(t);
    const at = join(temporaryDirectory(t), 'line\nbreak');
    renameSync(root, at);
    const broken = await start(t, { repo: at });
    const unfit = await broken.send('POST', '/api/worktrees', { case_id: broken.item.id });
    assert.deepEqual(codes(unfit), [[422, 'no_repository']]);
    assert.match(String(unfit.body.detail), /has a line break in its real path.*: rename the/);
  });

  it('refuses a repository without a commit', async (t) => {
    const root = temporaryDirectory(t);
    gitIn(root)('init', '--quiet');
    const { send, item } = await start(t, { repo: root });
    const answer = await send('POST', '/api/worktrees', { case_id: item.id });
    assert.deepEqual(codes(answer), [[422, 'invalid_state']]);
  });

  it('says that git is not installed', async (t) => {
    const { send, item } = await start(t, { git: createGit({ env: { PATH: '/nowhere' } }) });
    const answer = await send('POST', '/api/worktrees', { case_id: item.id });
    assert.deepEqual(codes(answer), [[503, 'unavailable']]);
  });

  it('never takes a directory that is there already', async (t) => {
    const { send, item, workspace } = await start(t);
    const path = join(workspace, '.dossier', 'worktrees', basename(item.path));
    writeFiles(path, { 'mine.txt': 'mine' });
    const answer = await send('POST', '/api/worktrees', { case_id: item.id });
    assert.deepEqual(codes(answer), [[409, 'already_exists']]);
    assert.deepEqual(readdirSync(path), ['mine.txt']);
  });

  it('takes up its own worktree again when only the record is lost', async (t) => {
    const fixture = await startWith(t);
    writeFiles(fixture.worktree.path, { 'work.txt': 'work' });
    rmSync(recordFile(fixture));
    const again = await create(fixture);
    assert.equal(again.path, fixture.worktree.path);
    assert.equal(again.base_commit, fixture.worktree.base_commit);
    assert.ok(existsSync(join(again.path, 'work.txt')));
  });
});

describe('GET /api/worktrees/{case_id}/status', () => {
  it('tells the record, the commit and what is not committed', async (t) => {
    const { send, item, worktree } = await startWith(t);
    writeFiles(worktree.path, { 'new.txt': 'new', 'README.md': 'changed' });
    const { status, body } = await send('GET', `/api/worktrees/${item.id}/status`);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      ...worktree,
      status: 'ok',
      head: worktree.base_commit,
      files: [
        { path: 'README.md', code: '.M' },
        { path: 'new.txt', code: '??' },
      ],
    });
    const made = await send('GET', `/api/cases/${item.id}/worktree`);
    assert.deepEqual([made.status, made.body], [200, worktree]);
  });

  it('is 404 without a worktree, without a Work item, and for an id that is none', async (t) => {
    const { send, item } = await start(t);
    const urls = [item.id, NOBODY, 'x'].flatMap((id) => [
      `/api/worktrees/${id}/status`,
      `/api/cases/${id}/worktree`,
    ]);
    const answers = await Promise.all(urls.map((url) => send('GET', url)));
    assert.deepEqual(codes(...answers), Array(6).fill([404, 'not_found']));
  });

  it('tells that the directory is gone, and what to do', async (t) => {
    const { send, item, worktree } = await startWith(t);
    rmSync(worktree.path, { recursive: true });
    const { body } = await send('GET', `/api/worktrees/${item.id}/status`);
    assert.equal(body.status, 'missing');
    assert.match(String(body.detail), /DELETE/);
    assert.ok(!existsSync(worktree.path));
  });

  it('tells that the worktree was tampered with, and leaves it', async (t) => {
    const { send, item, worktree, repository } = await startWith(t);
    const link = join(worktree.path, '.git');
    const forged = `gitdir: ${join(repository.root, '.git')}\n`;
    writeFileSync(link, forged);
    const { body } = await send('GET', `/api/worktrees/${item.id}/status`);
    assert.equal(body.status, 'tampered');
    assert.equal(readFileSync(link, 'utf8'), forged);
  });

  it('answers a record that is none with 409, and never goes by it', async (t) => {
    const fixture = await startWith(t);
    const { send, item, worktree } = fixture;
    const good = JSON.parse(readFileSync(recordFile(fixture), 'utf8'));
    const broken = ['{', '[]', { ...good, path: 'relative' }, { ...good, case_id: NOBODY }];
    for (const content of broken) {
      const text = typeof content === 'string' ? content : JSON.stringify(content);
      writeFileSync(recordFile(fixture), text);
      const url = `/api/cases/${item.id}/worktree?force=true`;
      const answers = [
        await send('GET', `/api/worktrees/${item.id}/status`),
        await send('GET', `/api/worktrees/${item.id}/health`),
        await send('GET', `/api/cases/${item.id}/worktree`),
        await send('POST', '/api/worktrees', { case_id: item.id }),
        await send('DELETE', url),
      ];
      assert.deepEqual(codes(...answers), Array(5).fill([409, 'unreadable_record']));
      assert.equal(readFileSync(recordFile(fixture), 'utf8'), text);
    }
    assert.ok(existsSync(worktree.path));
  });
});

describe('GET /api/worktrees/{case_id}/health', () => {
  it('says that there is none', async (t) => {
    const { send, item } = await start(t);
    const answer = await send('GET', `/api/worktrees/${item.id}/health`);
    assert.deepEqual([answer.status, answer.body], [200, { exists: false }]);
    assert.equal((await send('GET', `/api/worktrees/${NOBODY}/health`)).status, 404);
  });

  it('tells branch, commit, changes, distance from the base, rebase and lock', async (t) => {
    const { send, item, worktree, git, repository } = await startWith(t);
    const head = commit(git, worktree.path, 'one.txt');
    commit(repository.git, repository.root, 'theirs.txt');
    commit(repository.git, repository.root, 'theirs-too.txt');
    writeFiles(worktree.path, { 'new.txt': 'new' });
    const { body } = await send('GET', `/api/worktrees/${item.id}/health`);
    assert.deepEqual(body, {
      exists: true,
      status: 'ok',
      branch: worktree.branch,
      head,
      dirty: true,
      uncommitted: 1,
      ahead: 1,
      behind: 2,
      new_in_base: 2,
      rebase_in_progress: false,
      lock: { case_id: item.id, locked: false, holder: null, acquired_at: null },
    });
  });

  it('measures from the upstream where there is one', async (t) => {
    const { send, item, worktree, git, repository } = await startWith(t);
    repository.git('branch', 'upstream', worktree.base_commit);
    commit(repository.git, repository.root, 'theirs.txt');
    git('branch', '--quiet', '--set-upstream-to=upstream');
    commit(git, worktree.path, 'one.txt');
    const { body } = await send('GET', `/api/worktrees/${item.id}/health`);
    assert.deepEqual([body.ahead, body.behind, body.new_in_base], [1, 0, 1]);
  });

  it('tells who holds the lock, and that a base is gone', async (t) => {
    const fixture = await start(t);
    fixture.repository.git('branch', 'gone');
    await create(fixture, { base: 'gone' });
    fixture.repository.git('branch', '--quiet', '-D', 'gone');
    await hold(fixture, 'session');
    const { body } = await fixture.send('GET', `/api/worktrees/${fixture.item.id}/health`);
    assert.deepEqual([body.ahead, body.behind, body.new_in_base], [null, null, null]);
    assert.deepEqual((body.lock as { holder: unknown }).holder, {
      kind: 'session',
      session_id: NOBODY,
    });
  });

  it('tells a rebase that stopped', async (t) => {
    const { send, item, worktree, git, repository } = await startWith(t);
    writeFiles(worktree.path, { 'README.md': 'ours' });
    commit(git, worktree.path, 'one.txt');
    writeFiles(repository.root, { 'README.md': 'theirs' });
    commit(repository.git, repository.root, 'two.txt');
    assert.throws(() => git('rebase', '--quiet', 'main'));
    const { body } = await send('GET', `/api/worktrees/${item.id}/health`);
    assert.deepEqual([body.rebase_in_progress, body.branch], [true, null]);
  });

  it('tells a directory that is gone, and one that a link leads to', async (t) => {
    const { send, item, worktree, workspace } = await startWith(t);
    const health = async () => (await send('GET', `/api/worktrees/${item.id}/health`)).body;
    renameSync(worktree.path, join(workspace, 'moved'));
    const missing = await health();
    assert.deepEqual([missing.exists, missing.status], [false, 'missing']);
    symlinkSync(join(workspace, 'moved'), worktree.path);
    const linked = await health();
    assert.deepEqual([linked.exists, linked.status], [true, 'tampered']);
  });
});

describe('DELETE /api/cases/{id}/worktree', () => {
  const url = ({ item }: Fixture) => `/api/cases/${item.id}/worktree`;
  const forced = (fixture: Fixture) => `${url(fixture)}?force=true`;

  it('is told apart from a fault by those who look at the worktree meanwhile', async (t) => {
    const fixture = await startWith(t);
    const { item, send, worktree } = fixture;
    const files = Array.from({ length: 2000 }, (_, at) => [`many/${at}`, `${at}\n`]);
    writeFiles(worktree.path, Object.fromEntries(files));
    let isGone = false;
    const removal = send('DELETE', `${url(fixture)}?force=true`).finally(() => {
      isGone = true;
    });
    const faults: string[] = [];
    while (!isGone) {
      for (const what of ['status', 'health']) {
        const { status, body } = await send('GET', `/api/worktrees/${item.id}/${what}`);
        if (status !== 200 && status !== 404) faults.push(`${what}: ${JSON.stringify(body)}`);
      }
      await delay(1);
    }
    assert.equal((await removal).status, 204);
    assert.deepEqual(faults, []);
  });

  it('removes a worktree without work in it; its branch stays, and a new one can be made', async (t) => {
    const fixture = await startWith(t);
    const { send, worktree, repository } = fixture;
    assert.equal((await send('DELETE', url(fixture))).status, 204);
    assert.ok(!existsSync(worktree.path));
    assert.ok(!existsSync(recordFile(fixture)));
    assert.match(repository.git('branch', '--list', worktree.branch), /work\//);
    assert.equal(repository.git('worktree', 'list').trim().split('\n').length, 1);
    assert.deepEqual(codes(await send('DELETE', url(fixture))), [[404, 'not_found']]);
    assert.equal((await create(fixture)).path, worktree.path);
  });

  it('is 404 without a worktree and without a Work item', async (t) => {
    const { send, item } = await start(t);
    const answers = [
      await send('DELETE', `/api/cases/${item.id}/worktree`),
      await send('DELETE', `/api/cases/${NOBODY}/worktree`),
    ];
    assert.deepEqual(codes(...answers), [
      [404, 'not_found'],
      [404, 'not_found'],
    ]);
  });

  it('answers two at once with one 204 and one 404', async (t) => {
    const fixture = await startWith(t);
    const answers = await Promise.all([1, 2].map(() => fixture.send('DELETE', url(fixture))));
    assert.deepEqual(codes(...answers), [
      [204, undefined],
      [404, 'not_found'],
    ]);
  });

  it('is refused while a session or an operator holds the lock, also with force', async (t) => {
    const session = await startWith(t);
    await hold(session, 'session');
    const operator = await startWith(t);
    await hold(operator, 'operator');
    const answers = [
      await session.send('DELETE', url(session)),
      await session.send('DELETE', forced(session)),
      await operator.send('DELETE', forced(operator)),
    ];
    assert.deepEqual(codes(...answers), [
      [409, 'session_active'],
      [409, 'session_active'],
      [409, 'lock_held'],
    ]);
    assert.ok(existsSync(session.worktree.path));
  });

  it('is refused for an uncommitted file, whatever kind of change it is', async (t) => {
    const fixture = await startWith(t);
    const { send, worktree, git } = fixture;
    const changes: [string, () => void][] = [
      ['untracked', () => writeFiles(worktree.path, { 'a/new.txt': 'new' })],
      ['changed', () => writeFiles(worktree.path, { 'README.md': 'changed' })],
      ['deleted', () => rmSync(join(worktree.path, 'README.md'))],
      ['staged', () => git('rm', '-q', '--cached', 'README.md')],
    ];
    for (const [what, change] of changes) {
      change();
      const answer = await send('DELETE', url(fixture));
      assert.deepEqual(codes(answer), [[409, 'work_would_be_lost']], what);
      git('reset', '-q', '--hard');
      git('clean', '-fdq');
    }
    assert.equal((await send('DELETE', url(fixture))).status, 204);
  });

  it('is refused for commits that no remote and no other branch has', async (t) => {
    const fixture = await startWith(t);
    const { send, worktree, git, repository } = fixture;
    const one = commit(git, worktree.path, 'one.txt');
    const refused = await send('DELETE', url(fixture));
    assert.deepEqual(codes(refused), [[409, 'work_would_be_lost']]);
    assert.deepEqual(refused.body.commits, [one]);
    repository.git('merge', '--quiet', worktree.branch);
    assert.equal((await send('DELETE', url(fixture))).status, 204);
  });

  it('is refused for commits on a detached HEAD and on a branch made in the worktree', async (t) => {
    const fixture = await startWith(t);
    const { send, worktree, git } = fixture;
    git('switch', '--quiet', '--detach');
    commit(git, worktree.path, 'detached.txt');
    const detached = await send('DELETE', url(fixture));
    git('switch', '--quiet', '--create', 'other');
    const other = await send('DELETE', url(fixture));
    assert.deepEqual(codes(detached, other), Array(2).fill([409, 'work_would_be_lost']));
  });

  it('takes a pushed commit as safe', async (t) => {
    const fixture = await startWith(t);
    const { send, worktree, git, repository } = fixture;
    const remote = temporaryDirectory(t);
    gitIn(remote)('init', '--quiet', '--bare');
    repository.git('remote', 'add', 'origin', remote);
    commit(git, worktree.path, 'one.txt');
    assert.equal((await send('DELETE', url(fixture))).status, 409);
    git('push', '--quiet', 'origin', worktree.branch);
    assert.equal((await send('DELETE', url(fixture))).status, 204);
  });

  it('with force keeps all work first: as a patch and under a ref', async (t) => {
    const fixture = await startWith(t);
    const { send, worktree, git, repository, workspace, item } = fixture;
    const head = commit(git, worktree.path, 'committed.txt');
    const binary = Buffer.from([0, 1, 2, 255, 0, 10]);
    writeFiles(worktree.path, { 'README.md': 'changed', 'deep/new.bin': binary, 'staged.txt': '' });
    git('add', 'staged.txt');
    assert.equal((await send('DELETE', forced(fixture))).status, 204);
    assert.ok(!existsSync(worktree.path));

    const recovered = join(workspace, item.path, 'recovered');
    const [name = ''] = readdirSync(recovered);
    const patch = join(recovered, name);
    const [ref = '', ...more] = repository
      .git('for-each-ref', '--format=%(refname)', 'refs/dossier')
      .trim()
      .split('\n');
    assert.deepEqual(more, []);
    assert.equal(ref, `refs/dossier/recovered/${item.id.slice(0, 8)}-${name.slice(0, -6)}`);
    assert.match(readFileSync(patch, 'latin1'), new RegExp(`under ${ref}\n`));
    assert.equal(repository.git('rev-parse', `${ref}^`).trim(), head);
    assert.equal(repository.git('show', `${ref}:files/README.md`), 'changed');

    repository.git('switch', '--quiet', '--detach', worktree.base_commit);
    repository.git('apply', patch);
    assert.equal(readFileSync(join(repository.root, 'README.md'), 'utf8'), 'changed');
    assert.deepEqual(readFileSync(join(repository.root, 'deep', 'new.bin')), binary);
    assert.ok(existsSync(join(repository.root, 'committed.txt')));
    assert.ok(existsSync(join(repository.root, 'staged.txt')));
  });

  it('removes nothing that was written, staged or committed after it looked, with force or without', async (t) => {
    const fixture = await startWith(t);
    const { send, worktree, git, workspace, item } = fixture;
    const change = join(workspace, '.dossier', 'worktrees', `${item.id}.change.json`);
    const removedWhile = async (to: string, late: () => void) => {
      const call = send('DELETE', to);
      // The last record before the directory is renamed.
      await untilSoon(() => existsSync(change));
      late();
      return call;
    };
    const write = () => writeFiles(worktree.path, { 'late.txt': 'late' });
    const plain = await removedWhile(url(fixture), write);
    assert.deepEqual(codes(plain), [[409, 'work_would_be_lost']]);
    assert.equal(readFileSync(join(worktree.path, 'late.txt'), 'utf8'), 'late');
    const lateEach = [
      () => writeFiles(worktree.path, { 'late.txt': 'later' }),
      () => git('add', 'late.txt'),
      () => {
        git('switch', '--quiet', '--detach');
        git('commit', '--quiet', '--message', 'late');
      },
    ];
    for (const late of lateEach) {
      const answer = await removedWhile(forced(fixture), late);
      assert.deepEqual(codes(answer), [[409, 'worktree_busy']]);
      // A try that removed nothing leaves no recovery.
      assert.equal(git('for-each-ref', 'refs/dossier'), '');
      assert.deepEqual(readdirSync(join(workspace, item.path, 'recovered')), []);
    }
    assert.equal(git('show', 'HEAD:late.txt'), 'later');
    assert.ok(!existsSync(change));
    assert.equal((await send('DELETE', forced(fixture))).status, 204);
  });

  it('leaves no recovery where it cannot be noted that the removal begins', async (t) => {
    const fixture = await startWith(t);
    const { send, worktree, workspace, item, git } = fixture;
    writeFiles(worktree.path, { 'new.txt': 'new' });
    const change = join(workspace, '.dossier', 'worktrees', `${item.id}.change.json`);
    const faults = await inject(t, process.pid, `link,linkat:error=ENOSPC:-P${change}`);
    if (faults === undefined) return;
    const answers = [await send('DELETE', forced(fixture)), await send('DELETE', forced(fixture))];
    await faults.end();
    assert.deepEqual(codes(...answers), Array(2).fill([503, 'may_be_written']));
    assert.equal(git('for-each-ref', 'refs/dossier'), '');
    assert.deepEqual(readdirSync(join(workspace, item.path, 'recovered')), []);
    assert.equal(readFileSync(join(worktree.path, 'new.txt'), 'utf8'), 'new');
    assert.ok(!existsSync(change));
    assert.equal((await send('DELETE', forced(fixture))).status, 204);
    assert.match(fixture.repository.git('for-each-ref'), /refs\/dossier\/recovered/);
  });

  it('is put back where it was, also if a program made the directory again meanwhile', async (t) => {
    const fixture = await startWith(t);
    const { send, worktree, workspace, item } = fixture;
    const change = join(workspace, '.dossier', 'worktrees', `${item.id}.change.json`);
    const call = send('DELETE', forced(fixture));
    await untilSoon(() => existsSync(change));
    writeFiles(worktree.path, { 'late.txt': 'late' });
    await untilSoon(() => !existsSync(worktree.path));
    writeFiles(worktree.path, { 'dist/built.js': 'built' });
    assert.deepEqual(codes(await call), [[409, 'worktree_busy']]);
    assert.equal(readFileSync(join(worktree.path, 'late.txt'), 'utf8'), 'late');
    assert.ok(!existsSync(join(worktree.path, 'dist')));
    assert.equal((await send('DELETE', forced(fixture))).status, 204);
  });

  it('names files of two gigabytes, which it cannot keep, and what to do', async (t) => {
    const fixture = await startWith(t);
    const { send, worktree } = fixture;
    for (const name of ['README.md', 'new.img']) {
      writeFiles(worktree.path, { [name]: 'x' });
      truncateSync(join(worktree.path, name), 2 * 1024 ** 3);
    }
    for (const to of [url(fixture), forced(fixture)]) {
      const answer = await send('DELETE', to);
      assert.deepEqual(codes(answer), [[409, 'work_would_be_lost']]);
      assert.match(
        JSON.stringify(answer.body),
        /2 GiB or more: README\.md, new\.img\. .*delete them or move them/,
      );
    }
    rmSync(join(worktree.path, 'new.img'));
    truncateSync(join(worktree.path, 'README.md'), 10);
    assert.equal((await send('DELETE', forced(fixture))).status, 204);
  });

  it('removes nothing when the patch cannot be kept', async (t) => {
    const clock = () => new Date('2026-01-31T12:30:05.000Z');
    const fixture = await startWith(t, { clock });
    const { worktree, workspace, item } = fixture;
    const taken = join('recovered', '2026-01-31T12-30-05Z.patch');
    writeFiles(join(workspace, item.path), { [taken]: 'another' });
    writeFiles(worktree.path, { 'new.txt': 'new' });
    const answer = await fixture.send('DELETE', forced(fixture));
    assert.deepEqual(codes(answer), [[409, 'file_busy']]);
    assert.ok(existsSync(join(worktree.path, 'new.txt')));
    assert.equal(readFileSync(join(workspace, item.path, taken), 'utf8'), 'another');
    assert.equal(fixture.git('for-each-ref', 'refs/dossier'), '');
  });

  it('removes nothing when git cannot say what there is', async (t) => {
    const fixture = await startWith(t);
    const { git_dir } = JSON.parse(readFileSync(recordFile(fixture), 'utf8'));
    writeFileSync(join(git_dir, 'index'), 'no index at all, but long enough to be read');
    const answers = [
      await fixture.send('GET', `/api/worktrees/${fixture.item.id}/health`),
      await fixture.send('DELETE', forced(fixture)),
    ];
    assert.deepEqual(codes(...answers), Array(2).fill([502, 'git_failed']));
    assert.ok(existsSync(fixture.worktree.path));
  });

  it('with force keeps nothing where there is nothing to keep', async (t) => {
    const fixture = await startWith(t);
    const { send, repository, workspace, item } = fixture;
    assert.equal((await send('DELETE', forced(fixture))).status, 204);
    assert.equal(repository.git('for-each-ref', 'refs/dossier'), '');
    assert.ok(!existsSync(join(workspace, item.path, 'recovered')));
  });

  it('never removes a repository inside the worktree, not even with force', async (t) => {
    const fixture = await startWith(t);
    const inner = join(fixture.worktree.path, 'inner');
    mkdirSync(inner);
    gitIn(inner)('init', '--quiet');
    commit(gitIn(inner), inner, 'precious.txt');
    const answer = await fixture.send('DELETE', forced(fixture));
    assert.deepEqual(codes(answer), [[409, 'work_would_be_lost']]);
    assert.match(String(answer.body.detail), /inner\//);
    assert.ok(existsSync(join(inner, 'precious.txt')));
  });

  it('removes the record of a worktree whose directory is gone', async (t) => {
    const fixture = await startWith(t);
    rmSync(fixture.worktree.path, { recursive: true });
    assert.equal((await fixture.send('DELETE', url(fixture))).status, 204);
    assert.equal(fixture.repository.git('worktree', 'list').trim().split('\n').length, 1);
    await create(fixture);
  });

  it('keeps the commits of one whose directory is gone before git forgets them', async (t) => {
    const fixture = await startWith(t);
    const { send, git, worktree, repository } = fixture;
    git('switch', '--quiet', '--detach');
    const head = commit(git, worktree.path, 'detached.txt');
    rmSync(worktree.path, { recursive: true });
    assert.deepEqual(codes(await send('DELETE', url(fixture))), [[409, 'work_would_be_lost']]);
    assert.equal((await send('DELETE', forced(fixture))).status, 204);
    const ref = repository.git('for-each-ref', '--format=%(refname)', 'refs/dossier').trim();
    assert.equal(repository.git('rev-parse', `${ref}^`).trim(), head);
  });

  it('lets go of a worktree when its repository is gone too', async (t) => {
    const fixture = await startWith(t);
    rmSync(fixture.repository.root, { recursive: true });
    const there = await fixture.send('DELETE', forced(fixture));
    assert.deepEqual(codes(there), [[409, 'worktree_tampered']]);
    rmSync(fixture.worktree.path, { recursive: true });
    assert.equal((await fixture.send('DELETE', url(fixture))).status, 204);
  });

  describe('by no path and no link deletes', () => {
    const refuses = async (fixture: Fixture, safe: string) => {
      const before = readdirSync(safe);
      const answers = [
        await fixture.send('DELETE', url(fixture)),
        await fixture.send('DELETE', forced(fixture)),
      ];
      assert.deepEqual(codes(...answers), Array(2).fill([409, 'worktree_tampered']));
      assert.deepEqual(readdirSync(safe), before);
    };
    // As a program of the daemon's own user could: with the seal of this machine.
    const edit = (fixture: Fixture, change: object) => {
      const path = recordFile(fixture);
      const { seal: _seal, ...record } = JSON.parse(readFileSync(path, 'utf8'));
      const { layout } = fixture.service.store;
      writeFileSync(path, sealedText(layout, path, { ...record, ...change }));
    };

    it('the main checkout', async (t) => {
      const fixture = await startWith(t);
      const { root } = fixture.repository;
      edit(fixture, { path: root, git_dir: join(root, '.git') });
      await refuses(fixture, root);
    });

    it('a worktree of the operator', async (t) => {
      const fixture = await startWith(t);
      const { git, root } = fixture.repository;
      const path = join(temporaryDirectory(t), 'own');
      git('worktree', 'add', '--quiet', path);
      edit(fixture, { path, git_dir: join(root, '.git', 'worktrees', 'own') });
      await refuses(fixture, path);
    });

    it('a directory that is no worktree', async (t) => {
      const fixture = await startWith(t);
      const path = temporaryDirectory(t);
      writeFiles(path, { 'mine.txt': 'mine' });
      edit(fixture, { path });
      await refuses(fixture, path);
    });

    it('what a link in its place leads to', async (t) => {
      const fixture = await startWith(t);
      const moved = join(temporaryDirectory(t), 'moved');
      renameSync(fixture.worktree.path, moved);
      symlinkSync(moved, fixture.worktree.path);
      await refuses(fixture, moved);
      rmSync(fixture.worktree.path);
      symlinkSync(fixture.repository.root, fixture.worktree.path);
      await refuses(fixture, fixture.repository.root);
    });

    it('one that git no longer keeps for the daemon', async (t) => {
      const fixture = await startWith(t);
      fixture.repository.git('worktree', 'unlock', fixture.worktree.path);
      await refuses(fixture, fixture.worktree.path);
    });

    it('an attached directory: it is only let go', async (t) => {
      const fixture = await startWith(t);
      edit(fixture, { attached: true });
      writeFiles(fixture.worktree.path, { 'new.txt': 'new' });
      assert.equal((await fixture.send('DELETE', url(fixture))).status, 204);
      assert.ok(existsSync(join(fixture.worktree.path, 'new.txt')));
      assert.ok(!existsSync(recordFile(fixture)));
    });
  });
});
