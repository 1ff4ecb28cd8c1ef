/** Where a Work item is worked on, and which processes a start ends: records of `.dossier/` that this machine wrote, alone. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { AttentionItem } from '../../store/records/attention.ts';
import type { Session } from '../../store/records/session.ts';
import type { WaitingValue } from '../../store/records/trust.ts';
import { atEnd } from '../helpers/at-end.ts';
import { DOSSIER } from '../helpers/daemon.ts';
import { until } from '../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { startOn } from '../helpers/service.ts';
import { type SessionTest, withCase, withScript } from '../helpers/sessions.ts';
import { assertProblem } from '../helpers/work-item.ts';

const fileOf = ({ running, item }: SessionTest): string =>
  join(running.workspace, '.dossier/worktrees', `${item.id}.json`);

const planned = async (t: TestContext) => {
  const it = await withCase(t, undefined, { watch: true });
  const { id } = await it.planned();
  return { it, id };
};

/** Another repository of the operator's, with a linked worktree, as whoever writes the record would name it. */
const elsewhere = (t: TestContext) => {
  const other = makeRepository(t);
  const path = join(temporaryDirectory(t), 'tree');
  other.git('worktree', 'add', '--quiet', '-b', 'theirs', path);
  const git_dir = other.git('-C', path, 'rev-parse', '--absolute-git-dir').trim();
  const common_dir = join(other.root, '.git');
  return { path, git_dir, common_dir, repository: other.root, branch: 'theirs' };
};

const rewrite = (path: string, change: object): void => {
  const record = JSON.parse(readFileSync(path, 'utf8')) as object;
  writeFileSync(path, JSON.stringify({ ...record, ...change }));
};

const waiting = async ({ running }: Pick<SessionTest, 'running'>): Promise<WaitingValue[]> =>
  (await running.call<WaitingValue[]>('GET', '/trust')).body;

describe('a record of a worktree that this machine did not write', () => {
  it('has no approved plan run where it says, and is told everywhere', async (t) => {
    const { it, id } = await planned(t);
    const before = readFileSync(fileOf(it), 'utf8');
    const there = elsewhere(t);
    rewrite(fileOf(it), there);
    assertProblem(await it.post(`/sessions/${id}/approve`), 409, 'worktree_elsewhere');
    for (const call of ['GET status', 'GET health', 'POST setup', 'POST verify-isolation']) {
      const [method = '', what] = call.split(' ');
      const answer = await it.running.call(method, `/api/worktrees/${it.item.id}/${what}`);
      assertProblem(answer, 409, 'worktree_elsewhere');
    }
    const [claim] = await waiting(it);
    assert.deepEqual([claim?.kind, claim?.key], ['worktree', `worktrees/${it.item.id}`]);
    assert.match(JSON.stringify(claim?.value), /theirs/);
    await until(async () => {
      const { body } = await it.running.call<AttentionItem[]>('GET', '/attention');
      return body.some(({ kind, title }) => kind === 'trust' && title === 'Say hello');
    });
    await until(async () =>
      (await it.running.call('GET', '/api/diagnostics')).text.includes('worktrees/'),
    );
    const args = ['check', '--workspace', it.running.workspace];
    const checked = spawnSync(process.execPath, [DOSSIER, ...args], { encoding: 'utf8' });
    assert.match(checked.stdout + checked.stderr, /\.dossier\/worktrees\/\S+\.json.*trust_needed/);
    assert.ok(!existsSync(join(there.path, 'hello.txt')));
    writeFileSync(fileOf(it), before);
    await it.post(`/sessions/${id}/approve`);
    await it.until(id, 'completed');
    assert.deepEqual(await waiting(it), []);
  });

  it('counts once the operator confirms what it says, and no other', async (t) => {
    const { it, id } = await planned(t);
    const there = elsewhere(t);
    rewrite(fileOf(it), there);
    const [{ key = '', hash = '' } = {}] = await waiting(it);
    rewrite(fileOf(it), { branch: 'another' });
    const stale = await it.running.call('POST', '/trust', { values: [{ key, hash }] });
    assertProblem(stale, 412, 'precondition_failed');
    const [now] = await waiting(it);
    await it.running.call('POST', '/trust', { values: [{ key, hash: now?.hash }] });
    assert.deepEqual(await waiting(it), []);
    const { body } = await it.running.call<{ path: string }>(
      'GET',
      `/api/cases/${it.item.id}/worktree`,
    );
    assert.equal(body.path, there.path);
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
  });

  it('is let go without a touch to what it names, or written over by a worktree made anew', async (t) => {
    const { it, id } = await planned(t);
    const there = elsewhere(t);
    rewrite(fileOf(it), there);
    const removed = await it.running.call('DELETE', `/api/cases/${it.item.id}/worktree?force=true`);
    assert.equal(removed.status, 204);
    assert.ok(existsSync(join(there.path, '.git')));
    const { path: own } = (
      await it.running.call<{ path: string }>('POST', '/api/worktrees', { case_id: it.item.id })
    ).body;
    rewrite(fileOf(it), there);
    const made = await it.running.call<{ path: string }>('POST', '/api/worktrees', {
      case_id: it.item.id,
    });
    assert.deepEqual([made.status, made.body.path], [201, own]);
    assert.deepEqual(await waiting(it), []);
    await it.post(`/sessions/${id}/approve`);
    await it.until(id, 'completed');
    assert.ok(existsSync(join(own, 'hello.txt')));
  });

  it('leaves a session that ended with its daemon paused, with the reason, until its worktree is known', async (t) => {
    const settings = withScript(t, { plan: 'echo begun > "$HOME/begun"; sleep 600' });
    const it = await withCase(t, undefined, settings);
    const { id } = await it.start();
    await until(() => existsSync(join(settings.env?.HOME ?? '', 'begun')));
    await it.running.stop();
    const before = readFileSync(fileOf(it), 'utf8');
    rewrite(fileOf(it), elsewhere(t));
    await it.running.restart();
    const { body } = await it.running.call<Session>('GET', `${it.at}/sessions/${id}`);
    assert.equal(body.status, 'paused');
    assert.match(body.error ?? '', /was not written on this machine/);
    assert.doesNotMatch(body.error ?? '', /dossier trust/, 'which is not true for long');
    const { detail } = assertProblem(await it.control('resume'), 409, 'worktree_elsewhere');
    assert.match(detail, /dossier trust/);
    writeFileSync(fileOf(it), before);
    assert.equal((await it.control('resume')).status, 200);
    await it.until(id, 'planning');
  });

  it('is none after a rename of the workspace, and is one in a copy', async (t) => {
    const { it } = await planned(t);
    const { workspace } = it.running;
    await it.running.stop();
    const copy = join(temporaryDirectory(t), 'copy');
    spawnSync('cp', ['-r', workspace, copy]);
    const moved = join(temporaryDirectory(t), 'moved');
    renameSync(workspace, moved);
    const kinds = async (root: string): Promise<string[]> => {
      const running = await startOn(root);
      const found = (await waiting({ running } as SessionTest)).map(({ kind }) => kind);
      await running.stop();
      return found;
    };
    assert.deepEqual(await kinds(moved), []);
    assert.ok((await kinds(copy)).includes('worktree'));
    renameSync(moved, workspace);
  });
});

/** A program of the operator's that was left no HOME, as a service is, and stands in a directory. */
const homeless = (t: TestContext, cwd: string) => {
  const child = spawn('sleep', ['600'], { cwd, env: { PATH: process.env.PATH } });
  atEnd(t, () => void child.kill());
  return child;
};

describe('records of what runs that this machine did not write', () => {
  it('end no process at the next start, and nothing of them is taken in', async (t) => {
    const { it } = await planned(t);
    const { workspace } = it.running;
    await it.running.stop();
    const [dir, marker] = [temporaryDirectory(t), randomUUID()];
    const child = homeless(t, dir);
    const started_at = '2026-11-20T10:00:00Z';
    const at = (...names: string[]): string => join(workspace, '.dossier', ...names);
    for (const name of ['unsandboxed', 'language-servers', 'repositories', 'baselines'])
      mkdirSync(at(name), { recursive: true });
    writeFileSync(at('unsandboxed', marker), JSON.stringify({ dir, started_at }));
    const [ownMark, server] = [randomUUID(), randomUUID()];
    const marked = [ownMark, server].map((DOSSIER_RUN) => {
      const one = spawn('sleep', ['600'], { env: { ...process.env, DOSSIER_RUN } });
      atEnd(t, () => void one.kill());
      return one;
    });
    writeFileSync(at('language-servers', server), '');
    const setup = { status: 'running', started_at, ended_at: null, error: null };
    const done = { copied: [], skipped: [], commands: [] };
    rewrite(fileOf(it), { path: dir, setup: { ...setup, ...done }, setup_marker: ownMark });
    const turn = {
      ...{ case_id: it.item.id, session_id: null, marker: ownMark, pointed: false },
      ...{ worktree_created_at: started_at, ref: 'HEAD', head: null, operation: {} },
      index: '0'.repeat(64),
    };
    writeFileSync(at('repositories', `${it.item.id}.json`), JSON.stringify(turn));
    await it.running.restart();
    for (const one of [child, ...marked]) assert.equal(one.signalCode ?? one.exitCode, null);
    assert.ok(existsSync(at('repositories', `${it.item.id}.json`)));
  });
});
