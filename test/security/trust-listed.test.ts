/** One list shows all that waits for the operator: with and without a daemon, in words that say what it is about. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { reportedProblems } from '../../store/reconcile/problem-events.ts';
import type { AttentionItem } from '../../store/records/attention.ts';
import type { WaitingValue } from '../../store/records/trust.ts';
import { DOSSIER, startDaemon } from '../helpers/daemon.ts';
import { until } from '../helpers/eventually.ts';
import { forge, planned, rewrite } from '../helpers/forged.ts';
import { makeRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import type { SessionTest } from '../helpers/sessions.ts';

const dossier = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [DOSSIER, ...args], {
    env: { ...process.env, DOSSIER_TRUST: '' },
    encoding: 'utf8',
  });
  return { status, said: stdout + stderr };
};

const waiting = async ({ running }: SessionTest): Promise<WaitingValue[]> =>
  (await running.call<WaitingValue[]>('GET', '/trust')).body;

/** A session that was never begun here, as a pull brings it. */
const plant = ({ running, item }: SessionTest, status: string): string => {
  const id = randomUUID();
  const dir = join(
    running.workspace,
    item.path,
    'sessions',
    `2026-11-20T10-00-00Z-${id.slice(0, 8)}`,
  );
  mkdirSync(dir, { recursive: true });
  const head = { id, type: 'implementing', mode: 'plan', status, provider: 'runbook' };
  const lines = Object.entries({ ...head, created_at: '2026-11-20T10:00:00Z' });
  const text = lines.map(([name, value]) => `${name}: ${value}\n`).join('');
  writeFileSync(join(dir, 'session.md'), `---\n${text}---\n`);
  return id;
};

describe('the list of what waits', () => {
  it('names the Work item of a session, and has the text of a plan that waits', async (t) => {
    const { it, dir } = await planned(t);
    rewrite(dir, { provider: 'manual' });
    const [claim] = await waiting(it);
    assert.deepEqual([claim?.kind, claim?.title], ['session', 'Say hello']);
    assert.equal(claim?.case_id, it.item.id);
    assert.match(JSON.stringify(claim?.value), /Make the file/);
  });

  it('has sessions that were planted, whatever their status', async (t) => {
    const { it } = await planned(t);
    const ids = ['planning', 'plan_ready', 'queued', 'paused'].map((status) => plant(it, status));
    plant(it, 'completed');
    const keys = (await waiting(it)).map(({ key }) => key);
    assert.deepEqual(keys.toSorted(), ids.map((id) => `sessions/${id}`).toSorted());
  });

  it('is in the inbox for a session that was planted while the daemon runs, or while it was down', async (t) => {
    const { it, id } = await planned(t);
    const rows = async () =>
      (await it.running.call<AttentionItem[]>('GET', '/attention')).body.filter(
        ({ kind, session_id }) => kind === 'trust' && session_id !== id,
      );
    const first = plant(it, 'planning');
    await until(async () => (await rows()).length === 1);
    await it.running.stop();
    const second = plant(it, 'paused');
    plant(it, 'completed');
    await it.running.restart();
    await until(async () => (await rows()).length === 2);
    const found = await rows();
    assert.deepEqual(found.map((row) => row.session_id).toSorted(), [first, second].toSorted());
    assert.ok(found.every(({ message }) => message.startsWith('Started elsewhere')));
    const [{ answer: { method, path, body } = {} } = {}] = found;
    const answered = await it.running.call(`${method}`, `${path}`, body);
    assert.equal(answered.status, 200);
    await until(async () => (await rows()).length === 1);
  });

  it('is the same without a daemon, where a plan is approved, too', async (t) => {
    const { it, id, dir } = await planned(t);
    forge(dir);
    plant(it, 'planning');
    const listed = await waiting(it);
    await it.running.stop();
    const place = ['--workspace', it.running.workspace];
    const offline = dossier('trust', '--list', '--json', ...place);
    assert.deepEqual(
      (JSON.parse(offline.said) as WaitingValue[]).map(({ key, hash }) => [key, hash]).toSorted(),
      listed.map(({ key, hash }) => [key, hash]).toSorted(),
    );
    assert.match(dossier('trust', '--list', ...place).said, /Say hello/);
    assert.match(dossier('check', ...place).said, /session\.md.*This plan, approved elsewhere/);
    assert.match(dossier('doctor', ...place).said, new RegExp(`sessions/${id}`));
    const all = dossier('trust', '--all', ...place);
    assert.match(all.said, /1 plan approved elsewhere/);
    await it.running.restart();
    const left = await waiting(it);
    assert.deepEqual(
      left.map(({ kind }) => kind),
      ['approval'],
    );
    assert.ok(
      it.running.logged.some(({ message }) =>
        /plan approvals that were not made on this machine wait/.test(message),
      ),
    );
  });

  it('has one row for a forged approval', async (t) => {
    const { it, dir } = await planned(t);
    forge(dir);
    const rows = async () => (await it.running.call<AttentionItem[]>('GET', '/attention')).body;
    await until(async () => (await rows()).some(({ kind }) => kind === 'trust'));
    writeFileSync(join(dir, 'plan.md'), 'Another.\n');
    writeFileSync(join(dir, 'approved.md'), 'A third.\n');
    await it.running.restart();
    const { store } = it.running.service;
    await until(() => reportedProblems(store).some(({ code }) => code === 'approval_mismatch'));
    await until(async () => (await rows()).some(({ kind }) => kind === 'trust'));
    assert.deepEqual(
      (await rows()).map(({ kind }) => kind),
      ['trust'],
    );
  });
});

describe('a command that cannot do what it was asked', () => {
  it('is refused with another --state-dir than the daemon has', async (t) => {
    const dir = temporaryDirectory(t);
    writeFiles(dir, { 'workspace.md': '---\nsandbox: off\n---\n' });
    await startDaemon(t, ['--workspace', dir], { DOSSIER_TRUST: '' });
    const other = join(temporaryDirectory(t), 'state');
    const { status, said } = dossier('trust', '--all', '--workspace', dir, '--state-dir', other);
    assert.equal(status, 1, said);
    assert.match(said, /stores your decisions in \S+, not in \S+state/);
    assert.match(dossier('trust', '--list', '--workspace', dir).said, /sandbox/);
  });

  it('says the whole command that approves a plan where nobody can be asked', async (t) => {
    const dir = temporaryDirectory(t);
    const { url } = await startDaemon(t, ['--workspace', dir, '--repo', makeRepository(t).root], {
      DOSSIER_TRUST: '1',
    });
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      const sent = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await (await fetch(`${url}${path}`, sent)).json()) as { id: string; status: string };
    };
    const item = await post('/cases', { title: 'Look', type: 'bug', description: 'Look.' });
    await post(`/cases/${item.id}/sessions`, { type: 'investigation' });
    const id = item.id.slice(0, 8);
    let said = '';
    await until(async () => {
      said = dossier('approve', id, '--workspace', dir).said;
      return said.includes('--hash');
    });
    const command =
      /To approve it: dossier (approve .* --hash [0-9a-f]{64} .*)\. See/.exec(said)?.[1] ?? '';
    const done = dossier(...command.split(' '));
    assert.equal(done.status, 0, said + done.said);
  });
});
