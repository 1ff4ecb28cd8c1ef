/** A real process, killed while an agent without a sandbox writes in Plan mode, and started again on the same files. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { sealedText } from '../../store/consent/seal.ts';
import { layoutOf } from '../../store/layout.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { gitIn, makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { withAgent } from '../helpers/sessions.ts';
import { STATE_DIR } from '../helpers/state-dir.ts';
import { clientOf } from '../helpers/stream.ts';

/** A session in Plan mode whose agent has done what it does; its daemon is dead. */
const killedInPlanMode = async (
  t: TestContext,
  behaviour: string,
  word: RegExp,
  state = 'INVESTIGATING',
) => {
  const { settings, env = {}, files = {} } = withAgent(t, behaviour);
  const repository = await makeRepository(t, { files });
  repository.git('tag', 'v1');
  const workspace = temporaryDirectory(t);
  mkdirSync(join(env.HOME ?? '', '.test-agent'));
  writeFileSync(join(workspace, 'workspace.md'), `---\n${settings}\n---\n`);
  const args = ['--workspace', workspace, '--repo', repository.root];
  const daemon = await startDaemon(t, args, env);
  const client = clientOf(daemon.url);
  const task = { title: 'Think', type: 'chore', description: 'Change a.txt.' };
  const { id: caseId, path } = await client.post('/cases', task);
  const { id } = await client.post(`/cases/${caseId}/sessions`, { type: 'implementing' });
  const sessions = join(workspace, String(path), 'sessions');
  const dir = (): string =>
    join(sessions, readdirSync(sessions).find((each) => /^\d{4}-/.test(each)) ?? '');
  await eventually(() => assert.match(readFileSync(join(dir(), 'events.ndjson'), 'utf8'), word));
  const item = join(workspace, String(path), 'case.md');
  await eventually(() =>
    assert.match(readFileSync(item, 'utf8'), new RegExp(`^state: ${state}$`, 'm')),
  );
  const git = gitIn(join(workspace, '.dossier/worktrees', basename(String(path))));
  const found = git('rev-parse', '--git-dir').trim();
  await daemon.end('SIGKILL');
  return {
    ...{ repository, workspace, git, dir, caseId },
    gitDir: found,
    baseline: join(workspace, '.dossier/baselines', `${caseId}.json`),
    again: async () => {
      const next = await startDaemon(t, args, env);
      const { get, post } = clientOf(next.url);
      return {
        errors: next.errors,
        session: () => get(`/cases/${caseId}/sessions/${id}`),
        told: () => toldRefs(join(dir(), 'events.ndjson')),
        item: () => get(`/cases/${caseId}`),
        resume: () => post(`/api/cases/${caseId}/session/resume`),
      };
    },
  };
};

// What the session's events say of refs, as code and names.
const toldRefs = (file: string): [code: string, refs: string[]][] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"refs":['))
    .map((line) => (JSON.parse(line) as { data: { code: string; refs: { ref: string }[] } }).data)
    .map(({ code, refs }) => [code, refs.map(({ ref }) => ref)]);

const assertAsBefore = (git: ReturnType<typeof gitIn>, workspace: string): void => {
  assert.equal(git('status', '--porcelain', '--branch').trim(), `## ${branchIn(workspace)}`);
  assert.equal(git('log', '--format=%s').trim(), 'start');
  assert.equal(git('show', 'HEAD:a.txt'), 'one\n');
};

const branchIn = (workspace: string): string => {
  const dir = join(workspace, '.dossier/worktrees');
  const name = readdirSync(dir).find((each) => each.endsWith('.json')) ?? '';
  return (JSON.parse(readFileSync(join(dir, name), 'utf8')) as { branch: string }).branch;
};

describe('a daemon that is killed in Plan mode', () => {
  it('takes back at the next start what its agent asked, and tells so', async (t) => {
    const it = await killedInPlanMode(t, 'asks', /question_request/, 'BLOCKED');
    const { session, item, resume } = await it.again();
    await eventually(async () => assert.equal((await session()).status, 'paused'));
    assert.equal((await item()).state, 'INVESTIGATING');
    const events = readFileSync(join(it.dir(), 'events.ndjson'), 'utf8');
    const resolved = events.split('\n').filter((line) => line.includes('"question_resolved"'));
    assert.equal(resolved.length, 1);
    assert.match(resolved[0] ?? '', /"action":"cancel","by":"daemon"/);
    const record = readFileSync(join(it.dir(), 'session.md'), 'utf8');
    assert.match(record, /Which\?[\s\S]*It was not answered:[\s\S]*The daemon ended/);
    await resume();
    await eventually(async () => {
      const { waiting } = (await session()) as { waiting?: { for: string } };
      assert.equal(waiting?.for, 'operator');
    });
  });

  it('undoes at the next start what the agent changed, keeps it, and fails the session', async (t) => {
    const it = await killedInPlanMode(t, 'scribble-on', /Scribbled/);
    assert.match(it.git('status', '--porcelain'), /staged\.txt/);
    const { session, item } = await it.again();
    assertAsBefore(it.git, it.workspace);
    const { status, error } = await session();
    assert.equal(status, 'failed');
    assert.match(String(error), /^plan_mode_violation: .*a\.txt.*plan-mode-violation\.patch/);
    assert.equal((await item()).state, 'BLOCKED');
    const patch = readFileSync(join(it.dir(), 'plan-mode-violation.patch'), 'utf8');
    assert.match(patch, /\+by shell[\s\S]*\+new[\s\S]*\+staged/);
    const refs = it.repository.git('for-each-ref', '--format=%(refname)', 'refs/dossier');
    assert.match(
      refs,
      /^(refs\/dossier\/undone\/[-\w]+(\/heads\/elsewhere)?\n){2}$/,
      'its commit and its branch are kept, the snapshot is not',
    );
    assert.match(it.repository.git('log', '--format=%s', ...refs.trim().split('\n')), /^sly$/m);
    assert.deepEqual(readdirSync(join(it.workspace, '.dossier/baselines')), []);
  });

  it('pauses the session of an agent that changed nothing', async (t) => {
    const it = await killedInPlanMode(t, 'stubborn', /Working on it/);
    const { session } = await it.again();
    assert.equal((await session()).status, 'paused');
    assertAsBefore(it.git, it.workspace);
    assert.ok(!readdirSync(it.dir()).includes('plan-mode-violation.patch'));
    assert.equal(it.repository.git('for-each-ref', 'refs/dossier'), '');
    assert.deepEqual(readdirSync(join(it.workspace, '.dossier/baselines')), []);
  });

  it('tells of refs that the operator changed since, leaves them, and pauses the session', async (t) => {
    const it = await killedInPlanMode(t, 'stubborn', /Working on it/);
    const { git } = it.repository;
    git('commit', '--quiet', '--allow-empty', '--message', 'mine');
    git('branch', 'mine');
    git('tag', '--delete', 'v1');
    const { session, told } = await it.again();
    assert.equal((await session()).status, 'paused');
    const names = ['refs/heads/main', 'refs/tags/v1', 'refs/heads/mine'];
    assert.deepEqual(told(), [['refs_changed', names]]);
    assert.equal(git('log', '-1', '--format=%s', 'mine', '--').trim(), 'mine');
    assert.match(git('for-each-ref', 'refs/dossier'), /undone\/[-\w]+\/tags\/v1\n$/);
    assert.deepEqual(readdirSync(join(it.workspace, '.dossier/baselines')), []);
  });

  it('undoes what the agent did to refs, though the operator changed others since', async (t) => {
    const it = await killedInPlanMode(t, 'stubborn', /Working on it/);
    const { signed_as } = JSON.parse(readFileSync(it.baseline, 'utf8')) as { signed_as: string };
    const { root, git } = it.repository;
    const tree = git('rev-parse', 'main^{tree}').trim();
    const other = git('commit-tree', '-m', 'other', tree).trim();
    const env = {
      ...{ PATH: process.env.PATH, HOME: root },
      ...{ GIT_COMMITTER_NAME: 'Dossier agent', GIT_COMMITTER_EMAIL: signed_as },
    };
    for (const args of [
      ['branch', 'sly'],
      ['update-ref', '--create-reflog', 'refs/tags/v1', other],
    ])
      execFileSync('git', args, { cwd: root, env });
    git('branch', 'mine', other);
    const { session, told } = await it.again();
    assert.match(String((await session()).error), /^plan_mode_violation: .*sly.*v1|v1.*sly/);
    assert.deepEqual(told(), [
      ['plan_mode_violation', ['refs/tags/v1', 'refs/heads/sly']],
      ['refs_changed', ['refs/heads/mine']],
    ]);
    const refs = git('for-each-ref', '--format=%(refname:short)', 'refs/heads', 'refs/tags');
    assert.match(refs, /^main\nmine\nwork\/[-\w]+\nv1\n$/);
    assert.equal(git('rev-parse', 'v1'), git('rev-parse', 'main'));
  });

  it('fails the session as well when it died between undoing and saying so', async (t) => {
    const it = await killedInPlanMode(t, 'stubborn', /Working on it/);
    const { seal: _seal, ...baseline } = JSON.parse(readFileSync(it.baseline, 'utf8'));
    const layout = layoutOf(it.workspace, STATE_DIR);
    writeFileSync(it.baseline, sealedText(layout, it.baseline, { ...baseline, violated: true }));
    const { status, error } = await (await it.again()).session();
    assert.equal(status, 'failed');
    assert.match(String(error), /^plan_mode_violation/);
  });

  it('does not lose the comparison when it cannot be made: it is made at the resume', async (t) => {
    const it = await killedInPlanMode(t, 'scribble-on', /Scribbled/);
    const lock = join(it.gitDir, 'index.lock');
    writeFileSync(lock, '');
    const { session, resume } = await it.again();
    const paused = await session();
    assert.equal(paused.status, 'paused');
    assert.match(String(paused.error), /could not be compared.*index\.lock/);
    rmSync(lock);
    await resume();
    await eventually(async () => assert.equal((await session()).status, 'failed'));
    assert.match(String((await session()).error), /^plan_mode_violation/);
    assertAsBefore(it.git, it.workspace);
  });
});
