import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect, type Dossier } from '../../lib/client/client.ts';
import { sealedText } from '../../store/consent/seal.ts';
import { layoutOf } from '../../store/layout.ts';
import { killAtEnd } from '../helpers/at-end.ts';
import { dossier } from '../helpers/command.ts';
import { DOSSIER, firstUrl, startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { STATE_DIR } from '../helpers/state-dir.ts';
import { canTrace } from '../helpers/strace.ts';

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8' });

/** A workspace with a Work item that has a worktree with work in it that is not committed. */
const scene = async (t: TestContext) => {
  const home = realpathSync(temporaryDirectory(t));
  const [workspace, other] = [join(home, 'first'), join(home, 'second')];
  const { root } = makeRepository(t, { files: { 'a.txt': 'a\n' } });
  const daemon = await startDaemon(t, ['--workspace', workspace, '--repo', root], {
    DOSSIER_TRUST: '',
  });
  const api = connect({ url: daemon.url });
  const { id } = await api.call('POST /cases', { body: { title: 'One', type: 'bug' } });
  const { path } = await api.call('POST /api/worktrees', { body: { case_id: id } });
  writeFileSync(join(path, 'work.txt'), 'work');
  return { home, workspace, other, root, daemon, api, id, path };
};

const again = async (t: TestContext, workspace: string, root: string): Promise<Dossier> => {
  const { url } = await startDaemon(t, ['--workspace', workspace, '--repo', root], {
    DOSSIER_TRUST: '',
  });
  return connect({ url });
};

const assertKept = async (api: Dossier, id: string, workspace: string, root: string) => {
  const { path } = await api.call('GET /api/cases/{id}/worktree', { id });
  assert.ok(path.startsWith(`${workspace}/.dossier/worktrees/`), path);
  // It is this machine's own record, and as it was made: a session begins in it.
  const body = { type: 'implementing', provider: 'manual' };
  await api.call('POST /cases/{id}/sessions', { id, body });
  await eventually(async () => {
    const [session] = await api.call('GET /cases/{id}/sessions', { id });
    assert.equal(session?.status, 'planning', session?.error ?? '');
    assert.ok(git(root, 'worktree', 'list').includes(path));
  });
  assert.equal(git(path, 'status', '--porcelain'), '?? work.txt\n');
};

describe('a workspace that is moved', () => {
  it('keeps its worktrees, with records that have no path of the workspace in them', async (t) => {
    const { workspace, other, root, daemon, id } = await scene(t);
    const record = readFileSync(join(workspace, `.dossier/worktrees/${id}.json`), 'utf8');
    assert.ok(!record.includes(workspace), record);
    await daemon.end('SIGTERM');
    renameSync(workspace, other);
    await assertKept(await again(t, other, root), id, other, root);
  });

  it('keeps those that a record of an earlier version names with the whole path', async (t) => {
    const { workspace, other, root, daemon, id, path } = await scene(t);
    await daemon.end('SIGTERM');
    const layout = layoutOf(workspace, STATE_DIR);
    const file = join(layout.worktrees, `${id}.json`);
    const { seal: _seal, ...record } = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, sealedText(layout, file, { ...record, path }));
    renameSync(workspace, other);
    await assertKept(await again(t, other, root), id, other, root);
  });

  it('has the daemon that runs continue at the new place, and has nothing written at the old one', async (t) => {
    if (process.platform !== 'linux') return t.skip('only Linux tells where a directory is');
    const { home, workspace, other, root, id, api } = await scene(t);
    renameSync(workspace, other);
    const said = async () => {
      const { code, stdout } = await dossier(t, 'path', 'One', '--workspace', other);
      assert.equal(code, 0);
      assert.ok(stdout.startsWith(other), stdout);
    };
    await eventually(said);
    await assertKept(api, id, other, root);
    const made = await dossier(t, 'new', 'Another', '--workspace', other);
    assert.equal(made.code, 0, made.stderr);
    if (existsSync(workspace))
      assert.fail(execFileSync('find', [workspace, '-ls'], { encoding: 'utf8' }));
    assert.deepEqual(readdirSync(home), ['second']);
  });

  it('ends a start that it is moved under with a sentence, unless it continues at the new place', async (t) => {
    if (process.platform !== 'linux') return t.skip('only Linux tells where a directory is');
    if (!canTrace(t)) return;
    const { workspace, other, daemon } = await scene(t);
    await daemon.end('SIGTERM');
    const slow = '--inject=openat:delay_enter=3000000';
    const secrets = join(workspace, '.dossier/secrets');
    const strace = ['-f', '-qq', '-o', '/dev/null', '-P', secrets, slow, process.execPath];
    const serve = [DOSSIER, 'serve', '--port', '0', '--workspace', workspace];
    const child = spawn('strace', [...strace, ...serve], { stdio: ['ignore', 'pipe', 'pipe'] });
    killAtEnd(t, child);
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await firstUrl(child);
    renameSync(workspace, other);
    // At which step it is moved is chance.
    await eventually(async () => {
      if (child.exitCode !== null) return;
      assert.equal((await dossier(t, 'status', '--workspace', other)).code, 0);
    });
    if (child.exitCode === null) return;
    assert.equal(child.exitCode, 1);
    assert.match(
      said,
      /^dossier: The workspace \S+first was moved to \S+second\. Start .* again\.$/m,
    );
  });

  it('has nothing written into a directory that is made in its place', async (t) => {
    if (process.platform !== 'linux') return t.skip('only Linux tells where a directory is');
    const { workspace, other, api } = await scene(t);
    renameSync(workspace, other);
    mkdirSync(workspace);
    const made: string[] = [];
    await eventually(async () => {
      const { id } = await api.call('POST /cases', { body: { title: 'Another', type: 'bug' } });
      made.push(id);
    });
    assert.deepEqual(readdirSync(workspace), []);
    const all = await api.call('GET /cases');
    assert.deepEqual(
      made,
      all.filter(({ title }) => title === 'Another').map(({ id }) => id),
    );
    assert.equal(readdirSync(join(other, 'cases'), { recursive: true }).length, 5);
  });
});

describe('a copy of a workspace', () => {
  it('does not take the worktrees of the one that it was copied from', async (t) => {
    const { workspace, other, root, daemon, id, path } = await scene(t);
    await daemon.end('SIGTERM');
    execFileSync('cp', ['-r', workspace, other]);
    const api = await again(t, other, root);
    const refused = api.call('GET /api/cases/{id}/worktree', { id });
    await assert.rejects(refused, { code: 'worktree_elsewhere' });
    assert.ok(git(root, 'worktree', 'list').includes(path));
    assert.equal(git(path, 'status', '--porcelain'), '?? work.txt\n');

    // The original goes while the copy's daemon runs.
    rmSync(workspace, { recursive: true });
    const trusted = await dossier(t, 'trust', '--all', '--workspace', other);
    assert.equal(trusted.code, 0, trusted.stderr);
    await assertKept(api, id, other, root);
  });
});

describe('dossier path', () => {
  it('fails where the worktree is not there', async (t) => {
    const { workspace, path } = await scene(t);
    rmSync(path, { recursive: true });
    const { code, stdout, stderr } = await dossier(t, 'path', 'One', '--workspace', workspace);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /is missing/);
  });
});
