import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { restoreWorktree } from '../../lib/code/worktrees/recovery/restore.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { Git } from '../../lib/tools/git/run/git.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { Recovery } from '../../store/records/recovery.ts';
import { readWorktree } from '../../store/worktrees/worktrees.ts';
import { untilSoon } from '../helpers/eventually.ts';
import { NOBODY } from '../helpers/nobody.ts';
import { gitIn, writeFiles } from '../helpers/repository.ts';
import { codes, commit, create, type Fixture, hold, start } from '../lib/code/worktrees/fixture.ts';

const at = ({ item }: Fixture): string => `/api/worktrees/${item.id}/recoveries`;

const list = async (fixture: Fixture): Promise<Recovery[]> => {
  const { status, body } = await fixture.send('GET', at(fixture));
  assert.equal(status, 200, JSON.stringify(body));
  return body as unknown as Recovery[];
};

const restore = (fixture: Fixture, id = 'none') =>
  fixture.send('POST', `${at(fixture)}/${id}/restore`);

const remove = async ({ send, item }: Fixture): Promise<void> => {
  const { status, body } = await send('DELETE', `/api/cases/${item.id}/worktree?force=true`);
  assert.equal(status, 204, JSON.stringify(body));
};

/** Every file with its permissions and content, and what git says of HEAD, branch and index. */
const stateOf = (path: string): object => {
  const git = gitIn(path);
  const all = readdirSync(path, { recursive: true, encoding: 'utf8' });
  const names = all.filter((name) => name !== '.git').toSorted();
  const files = names.map((name) => {
    const file = join(path, name);
    const stats = lstatSync(file);
    if (stats.isDirectory()) return [name, 'directory'];
    const content = stats.isSymbolicLink()
      ? readlinkSync(file)
      : readFileSync(file).toString('base64');
    return [name, (stats.mode & 0o777).toString(8), content];
  });
  const status = git('status', '--porcelain=v2', '--branch', '--untracked-files=all', '-z');
  return { files, status, index: git('ls-files', '--stage', '-z') };
};

describe('a forced removal and its restore', () => {
  it('gives the worktree back as it was: commits, index, files, modes, names', async (t) => {
    const fixture = await start(t);
    const { repository, send } = fixture;
    writeFiles(repository.root, { 'gone.txt': 'gone', 'both.txt': 'one\n', 'run.sh': 'x' });
    commit(repository.git, repository.root, 'base.txt');
    const worktree = await create(fixture);
    const { path, base_commit } = worktree;
    const git = gitIn(path);
    commit(git, path, 'committed.txt');
    writeFiles(path, { 'both.txt': 'staged\n' });
    git('add', 'both.txt');
    writeFiles(path, {
      'both.txt': 'changed after\n',
      'staged-only.txt': 'staged',
      'deep/er/untracked é\n-x.bin': Buffer.from([0, 255, 10, 13, 10]),
      '-n': 'dash',
    });
    git('add', 'staged-only.txt');
    rmSync(join(path, 'staged-only.txt'));
    rmSync(join(path, 'gone.txt'));
    chmodSync(join(path, 'run.sh'), 0o755);
    writeFileSync(join(path, 'private'), 'p', { mode: 0o600 });
    symlinkSync('nowhere', join(path, 'link'));
    const before = stateOf(path);
    await remove(fixture);
    assert.ok(!existsSync(path));

    const [recovery, ...others] = await list(fixture);
    assert.ok(recovery !== undefined && others.length === 0);
    const { id, created_at, head, ref, patch, ...told } = recovery;
    assert.deepEqual(told, {
      case_id: fixture.item.id,
      kind: 'removed',
      branch: worktree.branch,
      base_commit,
      restorable: true,
    });
    assert.equal(head, repository.git('rev-parse', worktree.branch).trim());
    assert.equal(repository.git('rev-parse', `${ref}^`).trim(), head);
    assert.equal(patch, join(fixture.item.path, 'recovered', `${id}.patch`));
    assert.ok(existsSync(join(fixture.workspace, patch)));
    assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 600_000);

    const answer = await restore(fixture, id);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    assert.deepEqual({ ...answer.body, created_at: '' }, { ...worktree, created_at: '' });
    assert.deepEqual(stateOf(path), before);
    const status = await send('GET', `/api/worktrees/${fixture.item.id}/status`);
    assert.equal(status.body.status, 'ok');
    assert.deepEqual(await list(fixture), [recovery]);
    assert.equal((await send('DELETE', `/api/cases/${fixture.item.id}/worktree`)).status, 409);
  });

  it('makes another branch where the former has moved on, and leaves that', async (t) => {
    const fixture = await start(t);
    const { repository } = fixture;
    const { path, branch } = await create(fixture);
    const head = commit(gitIn(path), path, 'one.txt');
    await remove(fixture);
    repository.git('branch', '--force', branch, 'main');
    const [{ id } = { id: '' }] = await list(fixture);
    const { body } = await restore(fixture, id);
    assert.equal(body.branch, `${branch}-recovered`);
    assert.equal(gitIn(path)('rev-parse', 'HEAD').trim(), head);
    assert.equal(repository.git('rev-parse', branch), repository.git('rev-parse', 'main'));
    await remove(fixture);
    repository.git('switch', '--quiet', `${branch}-recovered`);
    assert.equal((await restore(fixture, id)).body.branch, `${branch}-recovered-2`);
  });

  it('gives back the commits of a worktree whose directory was gone, and of a detached HEAD', async (t) => {
    const fixture = await start(t);
    const { path, branch } = await create(fixture);
    gitIn(path)('switch', '--quiet', '--detach');
    const head = commit(gitIn(path), path, 'detached.txt');
    rmSync(path, { recursive: true });
    await remove(fixture);
    const [recovery] = await list(fixture);
    assert.deepEqual([recovery?.head, recovery?.patch], [head, null]);
    const { body } = await restore(fixture, recovery?.id);
    assert.equal(body.branch, `${branch}-recovered`);
    assert.ok(existsSync(join(path, 'detached.txt')));
  });

  it('keeps files that are marked so that git does not look at them', async (t) => {
    const fixture = await start(t);
    const { repository, send, item } = fixture;
    writeFiles(repository.root, { 'hidden.txt': 'hidden\n', 'sparse.txt': 'sparse\n' });
    commit(repository.git, repository.root, 'kept.txt');
    const { path } = await create(fixture);
    const git = gitIn(path);
    git('update-index', '--skip-worktree', 'hidden.txt', 'sparse.txt');
    git('update-index', '--assume-unchanged', 'kept.txt');
    // As in a sparse checkout, where such a file is no change.
    rmSync(join(path, 'sparse.txt'));
    writeFiles(path, { 'hidden.txt': 'mine\n', 'kept.txt': 'mine, too\n' });
    assert.equal(git('status', '--porcelain'), '');
    const refused = await send('DELETE', `/api/cases/${item.id}/worktree`);
    assert.deepEqual([refused.status, refused.body.files], [409, ['hidden.txt', 'kept.txt']]);
    const flags = git('ls-files', '-v');
    await remove(fixture);
    const [recovery] = await list(fixture);
    assert.equal((await restore(fixture, recovery?.id)).status, 201);
    assert.equal(readFileSync(join(path, 'hidden.txt'), 'utf8'), 'mine\n');
    assert.equal(readFileSync(join(path, 'kept.txt'), 'utf8'), 'mine, too\n');
    assert.equal(git('ls-files', '-v'), flags);
  });

  it('keeps a file in the place of a submodule', async (t) => {
    const fixture = await start(t);
    const { path } = await create(fixture);
    const git = gitIn(path);
    git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`);
    git('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '-qm', 'sub');
    writeFiles(path, { sub: 'mine\n' });
    const before = stateOf(path);
    await remove(fixture);
    const [recovery] = await list(fixture);
    assert.equal((await restore(fixture, recovery?.id)).status, 201);
    assert.deepEqual(stateOf(path), before);
  });

  it('keeps two of one second apart', async (t) => {
    const clock = () => new Date('2026-01-31T12:30:05.000Z');
    const fixture = await start(t, { clock });
    for (const name of ['one.txt', 'two.txt']) {
      const { path } = await create(fixture);
      writeFiles(path, { [name]: name });
      await remove(fixture);
    }
    const found = await list(fixture);
    assert.deepEqual(
      found.map(({ id }) => id),
      ['2026-01-31T12-30-05Z', '2026-01-31T12-30-05Z-2'],
    );
    const { body } = await restore(fixture, found[1]?.id);
    assert.ok(existsSync(join(String(body.path), 'two.txt')));
  });

  it('keeps a patch that is larger than what git may answer', async (t) => {
    const fixture = await start(t);
    const { path } = await create(fixture);
    const large = randomBytes(1024 * 1024);
    writeFiles(path, { 'large.bin': large, 'lines.txt': `${'0123456789\n'.repeat(6_200_000)}` });
    await remove(fixture);
    const [recovery] = await list(fixture);
    const patch = join(fixture.workspace, recovery?.patch ?? '');
    assert.ok(statSync(patch).size > 65 * 1024 * 1024);
    const { root } = fixture.repository;
    execFileSync('git', ['apply', patch], { cwd: root });
    assert.ok(readFileSync(join(root, 'large.bin')).equals(large));
    assert.equal(statSync(join(root, 'lines.txt')).size, 68_200_000);
    let head = '';
    for await (const chunk of createReadStream(patch, { end: 40 })) head += chunk;
    assert.match(head, /^Content of the worktree/);
  });
});

describe('GET /api/worktrees/{case_id}/recoveries', () => {
  it('is empty where nothing was kept, and 404 without a Work item', async (t) => {
    const fixture = await start(t);
    assert.deepEqual(await list(fixture), []);
    const nobody = await fixture.send('GET', `/api/worktrees/${NOBODY}/recoveries`);
    assert.deepEqual(codes(nobody), [[404, 'not_found']]);
    const none = await start(t, { repo: null });
    const answers = [await none.send('GET', at(none)), await none.send('DELETE', `${at(none)}/x`)];
    assert.deepEqual(codes(...answers), Array(2).fill([422, 'no_repository']));
    const gone = [`/api/worktrees/${NOBODY}/recoveries/x`, `${at(fixture)}/x`];
    const removals = await Promise.all(gone.map((url) => fixture.send('DELETE', url)));
    assert.deepEqual(codes(...removals), Array(2).fill([404, 'not_found']));
  });

  it('has none of a Work item whose id begins with the same digits, which a pull could bring', async (t) => {
    const fixture = await start(t);
    const worktree = await create(fixture);
    writeFiles(worktree.path, { 'mine.txt': 'mine\n' });
    await remove(fixture);
    const id = `${fixture.item.id.slice(0, 9)}0000-4000-8000-000000000000`;
    writeFiles(fixture.workspace, {
      'cases/theirs/case.md': `---\nid: ${id}\ntitle: Theirs\n---\n`,
    });
    await sweepWorkspace(fixture.service.store);
    const theirs = await fixture.send('GET', `/api/worktrees/${id}/recoveries`);
    assert.deepEqual([theirs.status, theirs.body], [200, []]);
    const [{ id: kept = '', restorable } = {}] = await list(fixture);
    assert.equal(restorable, true);
    const gone = await fixture.send('DELETE', `/api/worktrees/${id}/recoveries/${kept}`);
    assert.equal(gone.status, 404);
    assert.equal((await list(fixture)).length, 1);
  });

  it('tells a patch without its ref, and a ref that somebody made by hand', async (t) => {
    const fixture = await start(t);
    const { workspace, item, repository } = fixture;
    const dir = join(workspace, item.path, 'recovered');
    mkdirSync(dir);
    writeFileSync(join(dir, '2026-01-31T12-30-05Z.patch'), '');
    const short = item.id.slice(0, 8);
    repository.git('update-ref', `refs/dossier/recovered/${short}-by-hand`, 'main');
    const found = await list(fixture);
    assert.deepEqual(
      found.map(({ id, restorable, created_at }) => [id, restorable, created_at]),
      [
        ['by-hand', false, '1970-01-01T00:00:00.000Z'],
        ['2026-01-31T12-30-05Z', false, '2026-01-31T12:30:05.000Z'],
      ],
    );
    assert.match(found[1]?.detail ?? '', /git apply/);
    const refused = await Promise.all(found.map(({ id }) => restore(fixture, id)));
    assert.deepEqual(codes(...refused), Array(2).fill([422, 'invalid_state']));
  });
});

describe('POST /api/worktrees/{case_id}/recoveries/{recovery_id}/restore', () => {
  const kept = async (fixture: Fixture): Promise<string> => {
    const { path } = await create(fixture);
    writeFiles(path, { 'new.txt': 'new' });
    await remove(fixture);
    const [recovery] = await list(fixture);
    return recovery?.id ?? '';
  };

  it('is refused where there is a worktree or a directory, and while somebody holds the lock', async (t) => {
    const fixture = await start(t);
    const id = await kept(fixture);
    const { path } = await create(fixture);
    const second = await restore(fixture, id);
    await fixture.send('DELETE', `/api/cases/${fixture.item.id}/worktree`);
    writeFiles(path, { 'mine.txt': 'mine' });
    const inTheWay = await restore(fixture, id);
    rmSync(path, { recursive: true });
    await hold(fixture, 'operator');
    const held = await restore(fixture, id);
    assert.deepEqual(codes(second, inTheWay, held, await restore(fixture)), [
      [409, 'already_exists'],
      [409, 'already_exists'],
      [409, 'lock_held'],
      [404, 'not_found'],
    ]);
  });

  it('has no record before the worktree is whole, so that a killed daemon leaves no part of it', async (t) => {
    const fixture = await start(t);
    const id = await kept(fixture);
    const { store } = fixture.service;
    const call = restore(fixture, id);
    await untilSoon(() => readWorktree(store, fixture.item.id) !== undefined);
    const { path } = readWorktree(store, fixture.item.id) ?? { path: '' };
    assert.equal(readFileSync(join(path, 'new.txt'), 'utf8'), 'new');
    assert.equal((await call).status, 201);
  });

  it('says that the worktree may be incomplete where git fails while it is filled', async (t) => {
    const fixture = await start(t);
    const id = await kept(fixture);
    const { git } = fixture.service;
    const failing: Git = {
      ...git,
      turn: (place, work) =>
        git.turn(place, (now) =>
          work({
            ...now,
            run: (args, options) => {
              if (args[0] !== 'update-index') return now.run(args, options);
              throw new ServiceError('git_failed', 'git update-index: failed');
            },
          }),
        ),
    };
    await assert.rejects(
      restoreWorktree({ ...fixture.service, git: failing }, fixture.item.id, id),
      /update-index: failed\. Before that, the worktree \S+ was created, and may be incomplete\. .* restore again\.$/,
    );
    await remove(fixture);
    assert.equal((await restore(fixture, id)).status, 201);
  });

  it('answers two at once with one 201 and one 409', async (t) => {
    const fixture = await start(t);
    const id = await kept(fixture);
    const answers = await Promise.all([1, 2].map(() => restore(fixture, id)));
    assert.deepEqual(codes(...answers), [
      [201, undefined],
      [409, 'already_exists'],
    ]);
  });

  it('writes nothing outside of the worktree, whatever somebody put under the ref', async (t) => {
    const fixture = await start(t);
    const { repository } = fixture;
    const id = await kept(fixture);
    const ref = `refs/dossier/recovered/${fixture.item.id.slice(0, 8)}-${id}`;
    const git = (input: string, ...args: string[]): string =>
      execFileSync('git', args, { cwd: repository.root, input, encoding: 'utf8' }).trim();
    const evil = git('evil', 'hash-object', '-w', '--stdin');
    const below = git(`100644 blob ${evil}\tevil.txt\n`, 'mktree');
    const files = git(`040000 tree ${below}\t..\n`, 'mktree');
    const note = JSON.parse(repository.git('show', `${ref}:dossier.json`));
    note.picture.files = files;
    const blob = git(JSON.stringify(note), 'hash-object', '-w', '--stdin');
    const tree = git(`100644 blob ${blob}\tdossier.json\n`, 'mktree');
    const author = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
    const forged = git('', ...author, 'commit-tree', '-p', 'main', '-m', 'x', tree);
    repository.git('update-ref', ref, forged);
    assert.deepEqual(codes(await restore(fixture, id)), [[502, 'git_failed']]);
    const home = join(fixture.workspace, '.dossier', 'worktrees');
    assert.deepEqual(readdirSync(home), []);
  });
});
