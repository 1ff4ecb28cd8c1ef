/** What commands came to is told first, wherever a session is shown. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { AttentionItem } from '../../store/records/attention.ts';
import type { Gate, Proof } from '../../store/records/proof.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { writeFiles } from '../helpers/repository.ts';
import { type SessionTest, withAgent, withCase } from '../helpers/sessions.ts';
import { assertProblem } from '../helpers/work-item.ts';

const ran = (id: string, title: string, exit_code: number, output = '') => ({
  ...{ id, title, kind: 'execute', status: exit_code === 0 ? 'completed' : 'failed' },
  rawOutput: { output, exit_code },
});

/** A session whose agent told these tool calls, and then that all is well. */
const told = async (t: TestContext, updates: readonly object[], status = 'completed') => {
  const options = withAgent(t, 'tells');
  writeFiles(join(options.env?.HOME ?? '', '.test-agent'), {
    'updates.json': JSON.stringify(updates),
  });
  const work = await withCase(t, 'Do it.', options);
  const { id } = await work.planned();
  assert.equal((await work.post(`/sessions/${id}/approve`)).status, 200);
  const session = await work.until(id, status);
  const file = readFileSync(join(work.workspace, session.path, 'session.md'), 'utf8');
  return { ...extended(work), work, session, file };
};

const extended = (work: SessionTest) => ({
  done: async (): Promise<AttentionItem[]> =>
    (await work.running.call<AttentionItem[]>('GET', '/attention')).body,
  gate: async (): Promise<Gate> =>
    (await work.running.call<Gate>('GET', `${work.at}/proof/gate`)).body,
});

const TESTS_FAIL = [
  ran('1', 'npm ci', 0),
  ran('2', 'npm test', 1, `${'ok\n'.repeat(500)}2 failing`),
  ran('3', 'npm run lint', 0),
];
const SENTENCE = '1 of 3 approved commands failed: `npm test` (exit 1)';

describe('a command that failed', () => {
  it('leads the session, its summary, the gate and what needs the operator', async (t) => {
    const { session, file, done, gate, work } = await told(t, TESTS_FAIL);
    assert.equal(session.commands?.message, SENTENCE);
    const [failed] = session.commands?.failed ?? [];
    assert.deepEqual([failed?.command, failed?.exit_code], ['npm test', 1]);
    assert.match(failed?.output ?? '', /^(?:ok\n){9}2 failing$/);
    const [, summary = ''] = file.split('## How it ended');
    assert.ok(summary.indexOf(SENTENCE) < summary.indexOf('## What was asked'), file);
    assert.match(summary, /2 failing\n```/);
    assert.match(file, /npm test {2}failed \(exit 1\)/);
    assert.match(file, /npm ci {2}completed \(exit 0\)/);
    assert.equal((await gate()).failed_commands?.message, SENTENCE);
    const [waits] = await done();
    assert.equal(waits?.kind, 'done');
    assert.ok(waits?.message.startsWith(SENTENCE), waits?.message);
    assert.match(waits?.output ?? '', /2 failing$/);
    const events = await work.eventsOf(session.id);
    const codes = events.flatMap(({ event, data }) =>
      event === 'tool_call' ? [data.exit_code] : [],
    );
    assert.deepEqual(codes, [0, 1, 0]);
    const end = events.at(-1)?.data.commands as Session['commands'];
    assert.equal(end?.message, SENTENCE);
  });

  it('is none once the same command has passed', async (t) => {
    const { session, gate } = await told(t, [...TESTS_FAIL, ran('4', 'npm test', 0)]);
    assert.deepEqual(session.commands, { run: 3, failed_count: 0, failed: [], message: null });
    assert.equal((await gate()).failed_commands, undefined);
  });

  it('is told by the exit code, whatever its agent calls it', async (t) => {
    const { session } = await told(t, [{ ...ran('1', 'make', 2), status: 'completed' }]);
    assert.equal(session.commands?.message, '1 of 1 approved command failed: `make` (exit 2)');
  });

  it('of a runbook is told with its exit code', async (t) => {
    const text = 'Try:\n\n```sh\necho begin\n```\n\n```sh\necho oh no; exit 3\n```\n';
    const work = await withCase(t, text, { settings: 'sandbox: off' });
    const { id } = await work.planned();
    await work.post(`/sessions/${id}/approve`);
    const { commands } = await work.until(id, 'failed');
    assert.deepEqual(commands?.failed, [
      { command: 'echo oh no; exit 3', exit_code: 3, output: 'oh no' },
    ]);
    assert.equal(
      commands?.message,
      '1 of 2 approved commands failed: `echo oh no; exit 3` (exit 3)',
    );
    const [waits] = await extended(work).done();
    assert.equal(waits?.message, `${commands?.message}. The session failed.`);
    assert.equal(waits?.output, 'oh no');
  });
});

describe('a session whose every edit failed', () => {
  const edit = (status: string) => ({ id: 'e', title: 'Edit a.txt', kind: 'edit', status });

  it('has failed, though its agent says that all is well', async (t) => {
    const { session } = await told(t, [edit('failed')], 'failed');
    assert.match(session.error ?? '', /^Every edit of the agent failed.*Edit a\.txt/);
  });

  it('is completed where a later edit of it worked', async (t) => {
    await told(t, [edit('failed'), { ...edit('completed'), id: 'f' }]);
  });
});

describe('POST /cases/:id/sessions/:sid/dismiss', () => {
  it('takes completed work out of what needs the operator, once', async (t) => {
    const { work, session, done } = await told(t, TESTS_FAIL);
    const [waits] = await done();
    assert.equal(waits?.answer.path, `${work.at}/sessions/${session.id}/dismiss`);
    const dismiss = () => work.post(`/sessions/${session.id}/dismiss`);
    const [one, other] = await Promise.all([dismiss(), dismiss()]);
    assert.deepEqual([one.status, other.status], [200, 200]);
    assert.ok(one.body.dismissed_at);
    assert.equal(one.body.dismissed_at, other.body.dismissed_at);
    await eventually(async () => assert.deepEqual(await done(), []));
    assert.equal(await work.state(), 'VERIFYING');
  });

  it('is 422 for a session that is not completed, and 404 for none', async (t) => {
    const work = await withCase(t);
    const { id } = await work.planned();
    const refused = await work.post(`/sessions/${id}/dismiss`);
    assertProblem(refused, 422, 'invalid_state');
    assert.match(refused.body.detail, /plan_ready.*Approve its plan/);
    assertProblem(await work.post(`/sessions/${randomUUID()}/dismiss`), 404, 'not_found');
  });
});

describe('completed work in GET /attention', () => {
  it('is there after a restart, and leaves with a verified proof or another session', async (t) => {
    const { work, done } = await told(t, TESTS_FAIL);
    await work.running.restart();
    assert.deepEqual(
      (await done()).map(({ kind }) => kind),
      ['done'],
    );
    const { call } = work.running;
    const task = '- [ ] something else\n';
    writeFiles(join(work.workspace, work.item.path), { 'proof/checklist.md': task });
    const { body } = await call<Proof>('POST', `${work.at}/proof`, { type: 'log', content: 'ok' });
    await call('PUT', `${work.at}/proof/${body.id}/verify`);
    assert.equal(await work.state(), 'VERIFYING');
    await eventually(async () => assert.deepEqual(await done(), []));
  });

  it('leaves with another session', async (t) => {
    const { work, done } = await told(t, TESTS_FAIL);
    await work.planned();
    await eventually(async () =>
      assert.deepEqual(
        (await done()).map(({ kind }) => kind),
        ['plan'],
      ),
    );
  });
});
