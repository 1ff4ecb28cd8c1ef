/** Pause, revise, the queue and the session lock: what the operator does to sessions. */

import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { sha256 } from '../../store/base/sha256.ts';
import type { AttentionItem } from '../../store/records/attention.ts';
import type { Case } from '../../store/records/case.ts';
import type { Lock } from '../../store/records/lock.ts';
import type { Session } from '../../store/records/session.ts';
import { blocksFile } from '../../store/sessions/told.ts';
import { eventually } from '../helpers/eventually.ts';
import { alive } from '../helpers/processes.ts';
import { newestSession } from '../helpers/service.ts';
import { type Problem, type SessionTest, withAgent, withCase } from '../helpers/sessions.ts';

const LONG = [
  ['```sh', 'echo first >> done.txt', '```'],
  ['```sh', 'echo second >> done.txt', '[ -e go ] || sleep 300', '```'],
]
  .map((lines) => `${lines.join('\n')}\n`)
  .join('\n');

const worktreeOf = ({ running, item }: SessionTest): string =>
  join(running.workspace, '.dossier/worktrees', basename(item.path));

const working = async (t: TestContext) => {
  const it = await withCase(t, LONG);
  const { id } = await it.planned();
  assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
  const done = join(worktreeOf(it), 'done.txt');
  await eventually(() => assert.match(readFileSync(done, 'utf8'), /second/));
  return { it, id, done };
};

const agentAt = async (t: TestContext, behaviour: string): Promise<SessionTest> => {
  const options = withAgent(t, behaviour);
  mkdirSync(join(options.env?.HOME ?? '', '.test-agent'));
  return withCase(t, 'Change a.txt.', options);
};

describe('POST /api/cases/{id}/session/pause', () => {
  it('ends every process, keeps what was done, and resume goes on where it stopped', async (t) => {
    const { it, id, done } = await working(t);
    const marker = it.running.service.engine.live.get(id)?.run_marker ?? '';
    assert.equal(await alive(marker), true);
    const paused = await it.control('pause');
    assert.deepEqual([paused.status, paused.body.status], [200, 'paused'], paused.text);
    assert.equal(await alive(marker), false);
    assert.equal(it.running.service.engine.live.size, 0);
    const lock = await it.running.call<Lock>('GET', `/api/worktrees/${it.item.id}/lock`);
    assert.equal(lock.body.holder?.session_id, id);
    writeFileSync(join(worktreeOf(it), 'go'), '');
    assert.equal((await it.control('resume')).status, 200);
    await it.until(id, 'completed');
    // The block that was done is not run again; the one that was interrupted is.
    assert.equal(readFileSync(done, 'utf8'), 'first\nsecond\nsecond\n');
  });

  it('is not needed where the disk keeps a later block from being noted: the session is paused, and is resumed', async (t) => {
    const [one, two] = ['echo 1 > one; until [ -e go ]; do sleep 0.05; done', 'echo 2 > two'];
    const it = await withCase(t, `\`\`\`sh\n${one}\n\`\`\`\n\n\`\`\`sh\n${two}\n\`\`\`\n`);
    const { id } = await it.planned();
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    const at = (name: string) => join(worktreeOf(it), name);
    await eventually(() => assert.equal(existsSync(at('one')), true));
    const record = blocksFile(it.running.service.store.layout, id);
    const kept = readFileSync(record);
    rmSync(record);
    mkdirSync(record);
    writeFileSync(at('go'), '');
    const { error, pause_reason } = await it.until(id, 'paused');
    assert.match(error ?? '', /^Block 2 of 2 was not run: .* Block 1 ran to its end: resume with/);
    assert.deepEqual([pause_reason, existsSync(at('two'))], ['interrupted', false]);
    rmdirSync(record);
    writeFileSync(record, kept);
    // What the disk has last is that the first began.
    assert.equal((await it.control('resume')).body.code, 'choice_needed');
    const from = { from: 'next' };
    const resume = `/api/cases/${it.item.id}/session/resume`;
    assert.equal((await it.running.call('POST', resume, from)).status, 200);
    await it.until(id, 'completed');
    assert.equal(readFileSync(at('two'), 'utf8'), '2\n');
  });

  it('runs each block of a session that was paused before the first, whatever its stream says', async (t) => {
    const it = await withCase(t, LONG);
    const { id } = await it.planned();
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    assert.equal((await it.control('pause')).status, 200);
    const data = { tool_call_id: 'block-1', title: 'x', kind: 'execute', status: 'completed' };
    const events = join(newestSession(it.running, it.item), 'events.ndjson');
    const last = JSON.parse(readFileSync(events, 'utf8').trimEnd().split('\n').at(-1) ?? '');
    await it.running.restart();
    appendFileSync(
      events,
      `${JSON.stringify({ ...last, id: last.id + 100, event: 'tool_call', data })}\n`,
    );
    await it.running.restart();
    writeFileSync(join(worktreeOf(it), 'go'), '');
    assert.equal((await it.control('resume')).status, 200);
    await it.until(id, 'completed');
    assert.match(readFileSync(join(worktreeOf(it), 'done.txt'), 'utf8'), /^first\n/);
  });

  it('pauses the session that works, also where git brought an older one back as open', async (t) => {
    const it = await withCase(t, LONG);
    await it.planned();
    const record = join(newestSession(it, it.item), 'session.md');
    const open = readFileSync(record);
    assert.equal((await it.control('abort')).status, 200);
    writeFileSync(record, open);
    const { id } = await it.planned();
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    const paused = await it.control('pause');
    assert.deepEqual([paused.status, paused.body.id, paused.body.status], [200, id, 'paused']);
  });

  for (const what of ['pause', 'abort'] as const)
    it(`tells of the block that a ${what} cuts off that it was killed`, async (t) => {
      const { it, id } = await working(t);
      assert.equal((await it.control(what)).status, 200);
      const calls = (await it.eventsOf(id)).filter(({ event }) => event === 'tool_call');
      assert.deepEqual(
        calls.map(({ data }) => data.status),
        ['in_progress', 'completed', 'in_progress', 'killed'],
      );
      const record = readFileSync(join(newestSession(it.running, it.item), 'session.md'), 'utf8');
      assert.match(record, /second >> done\.txt … and 1 more line {2}killed$/m);
      assert.doesNotMatch(record, /txt {2}failed/);
    });

  it('stops an agent in Plan mode, which plans anew when it is resumed', async (t) => {
    const it = await agentAt(t, 'hang');
    const { id } = await it.start();
    await it.untilEvent(id, 'message');
    assert.equal((await it.control('pause')).body.status, 'paused');
    assert.equal(await it.state(), 'INVESTIGATING');
    const from = await it.running.call<Problem>('POST', `/api/cases/${it.item.id}/session/resume`, {
      from: 'next',
    });
    assert.deepEqual([from.status, from.body.code], [422, 'invalid_state']);
    assert.equal((await it.control('resume')).body.status, 'planning');
    assert.equal((await it.control('abort')).body.status, 'aborted');
  });

  it('withdraws what the agent asked, and the Work item is blocked no more', async (t) => {
    const it = await agentAt(t, 'permission');
    const { id } = await it.planned();
    await it.post(`/sessions/${id}/approve`);
    const { data } = await it.untilEvent(id, 'permission_request');
    await eventually(async () => assert.equal(await it.state(), 'BLOCKED'));
    assert.equal((await it.control('pause')).status, 200);
    assert.equal(await it.state(), 'IMPLEMENTING');
    const resolved = (await it.eventsOf(id)).find(
      (each) => each.event === 'permission_resolved' && each.data.request_id === data.request_id,
    );
    assert.equal(resolved?.data.option_id, null);
    assert.equal((await it.control('abort')).status, 200);
  });

  it('has one winner, of it and an abort', async (t) => {
    const { it, id } = await working(t);
    const [paused, aborted] = await Promise.all([it.control('pause'), it.control('abort')]);
    assert.equal(aborted.body.status, 'aborted');
    assert.ok([200, 422].includes(paused.status), paused.text);
    await it.until(id, 'aborted');
    assert.equal(it.running.service.engine.live.size, 0);
  });
});

describe('a call about the active session that names the one it means', () => {
  const CALLS = ['pause', 'resume', 'abort'] as const;
  const name = (it: SessionTest, what: string, session_id: string) =>
    it.running.call<Session & Problem & { session_id?: string }>(
      'POST',
      `/api/cases/${it.item.id}/session/${what}`,
      { session_id },
    );

  it('does nothing to another one', async (t) => {
    const it = await withCase(t);
    const old = await it.start({ provider: 'manual' });
    assert.equal((await it.control('abort')).status, 200);
    const { id } = await it.start({ provider: 'manual' });
    const waits = await it.start({ provider: 'manual' });
    for (const [what, other] of [
      ...CALLS.map((call) => [call, old.id] as const),
      ['pause', waits.id],
      ['resume', waits.id],
    ] as const) {
      const answer = await name(it, what, other);
      assert.deepEqual([answer.status, answer.body.code], [409, 'other_session_active']);
      assert.equal(answer.body.session_id, id);
      assert.match(answer.body.detail, new RegExp(id));
    }
    for (const what of CALLS) {
      const nobody = await name(it, what, it.item.id);
      assert.deepEqual([nobody.status, nobody.body.code], [404, 'not_found']);
    }
    assert.equal((await it.until(id, 'planning')).status, 'planning');
    assert.equal((await it.until(waits.id, 'queued')).status, 'queued');
    assert.equal((await name(it, 'pause', id)).body.status, 'paused');
    assert.equal((await name(it, 'resume', id)).body.status, 'planning');
    assert.equal((await name(it, 'abort', id)).body.status, 'aborted');
    await it.until(waits.id, 'planning');
    assert.equal((await name(it, 'abort', id)).body.code, 'other_session_active');
    assert.equal((await name(it, 'abort', waits.id)).body.status, 'aborted');
    assert.equal((await name(it, 'abort', waits.id)).body.code, 'invalid_state');
  });

  it('ends a queued one beside others, and leaves them and the Work item as they are', async (t) => {
    const it = await withCase(t);
    const { id } = await it.start({ provider: 'manual' });
    const [waits, next] = [await it.start(), await it.start({ provider: 'manual' })];
    const aborted = await name(it, 'abort', waits.id);
    assert.deepEqual([aborted.status, aborted.body.status], [200, 'aborted'], aborted.text);
    assert.equal((await it.eventsOf(waits.id)).at(-1)?.event, 'complete');
    assert.equal((await it.until(id, 'planning')).status, 'planning');
    assert.equal(await it.state(), 'INVESTIGATING');
    const lock = await it.running.call<Lock>('GET', `/api/worktrees/${it.item.id}/lock`);
    assert.equal(lock.body.holder?.session_id, id);
    assert.equal((await name(it, 'abort', id)).status, 200);
    await it.until(next.id, 'planning');
    assert.equal((await it.until(waits.id, 'aborted')).status, 'aborted');
    await it.control('abort');
  });

  it('ends one that lost its lock to another, beside which the Work item keeps its state', async (t) => {
    const it = await withCase(t);
    const { id } = await it.planned();
    rmSync(join(newestSession(it, it.item), '../lock.md'));
    const next = await it.planned();
    assert.equal((await name(it, 'abort', id)).body.status, 'aborted');
    assert.equal(await it.state(), 'INVESTIGATING');
    assert.equal((await it.control('abort')).body.id, next.id);
  });

  it('ends that one alone, however often it is made while the next begins', async (t) => {
    const it = await withCase(t);
    const { id } = await it.start({ provider: 'manual' });
    const next = await it.start({ provider: 'manual' });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => name(it, 'abort', id)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    for (const { status } of answers) assert.ok([200, 409, 422].includes(status), String(status));
    assert.equal((await it.until(next.id, 'planning')).status, 'planning');
    await it.control('abort');
  });
});

describe('POST /cases/{id}/sessions/{sid}/revise', () => {
  it('has the agent plan again, with its plan and the comment', async (t) => {
    const it = await agentAt(t, 'echo');
    const { id } = await it.planned();
    const revised = await it.post(`/sessions/${id}/revise`, { comment: 'Use tabs, please.' });
    assert.deepEqual([revised.status, revised.body.status], [200, 'planning'], revised.text);
    await it.until(id, 'plan_ready');
    const plan = await it.running.call('GET', `${it.at}/sessions/${id}/plan`);
    assert.match(plan.text, /Your proposed plan[\s\S]*Requested changes[\s\S]*Use tabs, please\./);
    const record = readFileSync(join(newestSession(it.running, it.item), 'session.md'), 'utf8');
    assert.doesNotMatch(record, /Use tabs/);
  });

  it('is remembered over a restart', async (t) => {
    const it = await agentAt(t, 'hang-on-feedback');
    const { id } = await it.planned();
    await it.post(`/sessions/${id}/revise`, { comment: 'Use tabs,\nplease.' });
    const record = join(newestSession(it.running, it.item), 'session.md');
    assert.match(readFileSync(record, 'utf8'), /Use tabs,\n\s+please\./);
    await it.running.restart();
    await it.until(id, 'paused');
    await it.control('resume');
    await eventually(async () => {
      const said = (await it.eventsOf(id)).filter(({ event }) => event === 'message');
      assert.match(String(said.at(-1)?.data.text), /please\./);
    });
    await it.control('abort');
  });

  it('is refused where there is no plan to send back', async (t) => {
    const { it, id } = await working(t);
    const active = await it.post(`/sessions/${id}/revise`, { comment: 'No.' });
    assert.deepEqual([active.status, active.body.code], [409, 'work_mode_active']);
    await it.control('abort');
    const ended = await it.post(`/sessions/${id}/revise`, { comment: 'No.' });
    assert.deepEqual([ended.status, ended.body.code], [422, 'plan_not_ready']);
    const empty = await it.post(`/sessions/${id}/revise`, { comment: '  ' });
    assert.deepEqual([empty.status, empty.body.code], [400, 'bad_request']);
  });

  it('has one winner, of it and an approval', async (t) => {
    const it = await withCase(t);
    const { id } = await it.planned();
    const [approved, revised] = await Promise.all([
      it.post(`/sessions/${id}/approve`),
      it.post(`/sessions/${id}/revise`, { comment: 'Again.' }),
    ]);
    assert.deepEqual(
      [approved.status, revised.status].filter((status) => status === 200).length,
      1,
    );
  });
});

describe('PUT /cases/{id}/sessions/{sid}/plan', () => {
  it('is refused while an agent plans, whose plan would replace it', async (t) => {
    const it = await agentAt(t, 'hang');
    const { id } = await it.start();
    await it.untilEvent(id, 'message');
    const path = `${it.at}/sessions/${id}/plan`;
    const refused = await it.running.call<Problem>('PUT', path, 'Mine.');
    assert.deepEqual([refused.status, refused.body.code], [422, 'invalid_state']);
    assert.match(refused.body.detail, /still planning/);
    await it.control('abort');
  });
});

describe('GET /cases/{id}/usage', () => {
  it('adds up what the sessions used, turn by turn, and tells null where nobody told', async (t) => {
    const it = await agentAt(t, 'plan');
    const usage = async () => (await it.running.call('GET', `${it.at}/usage`)).body;
    const none = { input_tokens: null, output_tokens: null, cost_usd: null };
    assert.deepEqual(await usage(), { sessions: 0, ...none });
    const first = await it.start();
    await it.until(first.id, 'plan_ready');
    const once = { input_tokens: 30, output_tokens: 4, cost_usd: 0.5 };
    assert.deepEqual(await usage(), { sessions: 1, ...once });
    await it.post(`/sessions/${first.id}/revise`, { comment: 'Again.' });
    await it.until(first.id, 'plan_ready');
    await it.control('abort');
    const second = await it.start();
    await it.until(second.id, 'plan_ready');
    // The agent tells what its conversation has cost so far: 0.5 again is nothing more.
    const thrice = { input_tokens: 90, output_tokens: 12, cost_usd: 1 };
    assert.deepEqual(await usage(), { sessions: 2, ...thrice });
    assert.equal((await it.running.call('GET', `${it.at}x/usage`)).status, 404);
  });
});

/** An approved session of another Work item, which waits for the place that the session of the first one has. */
const waitingForPlace = async (t: TestContext) => {
  const it = await withCase(t, LONG, { settings: 'max_sessions: 1' });
  const { call } = it.running;
  const { body: other } = await call<Case>('POST', '/cases', {
    title: 'Another',
    type: 'bug',
    description: '```sh\necho other > other.txt\n```\n',
  });
  const mine = await it.start();
  await it.until(mine.id, 'plan_ready');
  const { body: theirs } = await call<Session>('POST', '/api/sessions/queue', {
    case_id: other.id,
  });
  const at = `/cases/${other.id}/sessions/${theirs.id}`;
  const statusOf = async (): Promise<string> => (await call<Session>('GET', at)).body.status;
  await eventually(async () => assert.equal(await statusOf(), 'plan_ready'));
  await it.post(`/sessions/${mine.id}/approve`);
  await it.untilEvent(mine.id, 'tool_call');
  assert.equal((await call('POST', `${at}/approve`)).status, 200);
  return { it, call, other, mine, theirs, at, statusOf };
};

describe('the queue of all Work items', () => {
  it('lists who waits and who is active, and lets the next go when a lock is released', async (t) => {
    const it = await withCase(t);
    const { call } = it.running;
    const lock = `/api/worktrees/${it.item.id}/lock`;
    const taken = await call<Lock & { token: string }>('POST', lock, { name: 'Ann' });
    assert.equal(taken.status, 201, taken.text);
    const queued = await call<Session>('POST', '/api/sessions/queue', { case_id: it.item.id });
    assert.deepEqual([queued.status, queued.body.status], [201, 'queued'], queued.text);
    assert.deepEqual([queued.body.type, queued.body.case_id], ['implementing', it.item.id]);
    const ids = async (which: string): Promise<string[]> =>
      (await call<Session[]>('GET', `/api/sessions/${which}`)).body.map(({ id }) => id);
    assert.deepEqual([await ids('queue'), await ids('active')], [[queued.body.id], []]);
    assert.equal((await call('DELETE', lock)).status, 204);
    await it.until(queued.body.id, 'plan_ready');
    assert.deepEqual([await ids('queue'), await ids('active')], [[], [queued.body.id]]);
    await it.control('abort');
    assert.deepEqual([await ids('queue'), await ids('active')], [[], []]);
  });

  it('leaves the Work item as it is where one that waits is aborted', async (t) => {
    const it = await withCase(t);
    await it.worked();
    const lock = `/api/worktrees/${it.item.id}/lock`;
    assert.equal((await it.running.call('POST', lock)).status, 201);
    assert.equal((await it.start()).status, 'queued');
    assert.equal((await it.control('abort')).body.status, 'aborted');
    assert.equal(await it.state(), 'VERIFYING');
    const { body } = await it.running.call<AttentionItem[]>('GET', '/attention');
    assert.deepEqual(
      body.map(({ kind }) => kind),
      ['done'],
    );
  });

  it('goes on in the order of arrival over restarts', async (t) => {
    const it = await withCase(t);
    const sessions = [await it.start(), await it.start(), await it.start()];
    await it.running.restart();
    const { body } = await it.running.call<Session[]>('GET', '/api/sessions/queue');
    assert.deepEqual(
      body.map(({ id }) => id),
      sessions.slice(1).map(({ id }) => id),
    );
  });

  it('lets an approved session wait for its place among max_sessions, and says so', async (t) => {
    const { it, call, mine, theirs, at, statusOf } = await waitingForPlace(t);
    const told = await call('GET', `${at}/stream`, undefined, { accept: 'application/json' });
    assert.match(told.text, /"waits_for":"max_sessions"/);
    assert.doesNotMatch(told.text, /tool_call/);
    const waits = (await call<Session>('GET', at)).body;
    assert.deepEqual([waits.status, waits.waits_for], ['queued', 'max_sessions']);
    const ids = async (list: string) =>
      (await call<Session[]>('GET', `/api/sessions/${list}`)).body.map(({ id }) => id);
    assert.deepEqual(await ids('queue'), [theirs.id]);
    assert.deepEqual(await ids('active'), [mine.id]);
    await eventually(async () => {
      const { body } = await call<AttentionItem[]>('GET', '/attention');
      const row = body.find(({ kind }) => kind === 'waiting');
      assert.equal(row?.session_id, theirs.id);
      assert.match(row?.message ?? '', /max_sessions allows 1 at a time/);
    });
    await it.control('abort');
    await eventually(async () => assert.equal(await statusOf(), 'completed'));
  });

  it('does not start an approved session whose Work item was closed while it waited for its place', async (t) => {
    const { it, call, other, at, statusOf } = await waitingForPlace(t);
    const closed = await call('PUT', `/cases/${other.id}/state`, { state: 'NON_ISSUE' });
    assert.equal(closed.status, 200);
    await it.control('abort');
    await eventually(async () => assert.equal(await statusOf(), 'paused'));
    const { body } = await call<Session>('GET', at);
    assert.match(body.error ?? '', /closed while it waited .* Reopen .* resume/);
    const told = await call('GET', `${at}/stream`, undefined, { accept: 'application/json' });
    assert.doesNotMatch(told.text, /tool_call/);
    await call('PUT', `/cases/${other.id}/state`, { state: 'OPEN' });
    assert.equal((await call('POST', `/api/cases/${other.id}/session/resume`)).status, 200);
    await eventually(async () => assert.equal(await statusOf(), 'completed'));
  });

  it('says that nothing was run of an approved session that waited when the daemon stopped', async (t) => {
    const { it, call, other, mine, at, statusOf } = await waitingForPlace(t);
    await it.running.restart();
    const { body } = await call<Session>('GET', at);
    assert.equal(body.status, 'paused');
    assert.match(body.error ?? '', /waited for one of the max_sessions slots, so nothing was run/);
    const ran = (await call<Session>('GET', `${it.at}/sessions/${mine.id}`)).body.error;
    assert.match(ran ?? '', /stopped while the session was running/);
    assert.equal((await call('POST', `/api/cases/${other.id}/session/resume`)).status, 200);
    await eventually(async () => assert.equal(await statusOf(), 'completed'));
  });

  it('commits no file of the operator as work of a session that only waited when the daemon was killed', async (t) => {
    const { it, call, other, theirs, at, statusOf } = await waitingForPlace(t);
    // As at a kill, its run records nothing.
    it.service.engine.live.delete(theirs.id);
    await it.running.restart();
    assert.equal(await statusOf(), 'paused');
    const { body } = await call<{ path: string }>('GET', `/api/cases/${other.id}/worktree`);
    writeFileSync(join(body.path, 'mine.txt'), 'mine\n');
    assert.equal((await call('POST', `/api/cases/${other.id}/session/resume`)).status, 200);
    await eventually(async () => assert.equal(await statusOf(), 'completed'));
    const { commit } = (await call<Session>('GET', at)).body;
    const names = it.running.repository.git('-C', body.path, 'show', '--format=', '--name-only');
    assert.deepEqual([commit?.files, names.trim()], [1, 'other.txt']);
  });
});

describe('the queue', () => {
  it('is in the order of the calls, also of those that come at once', async (t) => {
    const it = await withCase(t, LONG, { settings: 'max_sessions: 1' });
    const { call } = it.running;
    const mine = await it.start();
    await it.until(mine.id, 'plan_ready');
    await it.post(`/sessions/${mine.id}/approve`);
    await it.untilEvent(mine.id, 'tool_call');
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        call<Case>('POST', '/cases', { title: `Item ${at}`, type: 'bug' }),
      ),
    );
    const queued = await Promise.all(
      made.map(({ body }) => call<Session>('POST', '/api/sessions/queue', { case_id: body.id })),
    );
    const listed = (await call<Session[]>('GET', '/api/sessions/queue')).body;
    assert.deepEqual(
      listed.map(({ case_id }) => case_id),
      made.map(({ body }) => body.id),
    );
    assert.deepEqual(
      queued.map(({ body }) => body.status),
      made.map(() => 'queued'),
    );
    await it.control('abort');
  });
});

describe('GET /api/sessions/newest', () => {
  it('has one session of each Work item that is named and has any', async (t) => {
    const it = await withCase(t);
    const newest = (ids: string) =>
      it.running.call<Session[]>('GET', `/api/sessions/newest?case_ids=${ids}`);
    assert.deepEqual((await newest(`nobody,${it.item.id}`)).body, []);
    const older = await it.start();
    await it.until(older.id, 'plan_ready');
    await it.control('abort');
    assert.deepEqual(
      (await newest(it.item.id)).body.map(({ id, status }) => [id, status]),
      [[older.id, 'aborted']],
    );
    const { id } = await it.start({ type: 'verifying' });
    assert.deepEqual(
      (await newest(`nobody,${it.item.id}`)).body.map((one) => one.id),
      [id],
    );
    assert.equal((await newest('')).status, 200);
  });
});

describe('the session lock', () => {
  it('is taken once, told, and released', async (t) => {
    const { running, item } = await withCase(t);
    const { call } = running;
    const path = `/api/worktrees/${item.id}/lock`;
    assert.deepEqual((await call<Lock>('GET', path)).body, {
      case_id: item.id,
      locked: false,
      holder: null,
      acquired_at: null,
    });
    const none = await call<Problem>('DELETE', path);
    assert.deepEqual([none.status, none.body.code], [404, 'not_found']);
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) =>
        call<Lock & { token: string } & Problem>('POST', path, { name: `No ${n}` }),
      ),
    );
    const taken = answers.filter(({ status }) => status === 201);
    assert.equal(taken.length, 1);
    const refused = answers.find(({ status }) => status !== 201);
    assert.deepEqual([refused?.status, refused?.body.code], [409, 'lock_held']);
    assert.match(refused?.body.detail ?? '', /^No \d has held the session lock since /);
    const file = join(running.workspace, item.path, 'sessions/lock.md');
    const token = taken[0]?.body.token ?? '';
    assert.match(readFileSync(file, 'utf8'), new RegExp(sha256(token)));
    assert.doesNotMatch(readFileSync(file, 'utf8'), new RegExp(token));
    assert.equal((await call('DELETE', path)).status, 204);
    assert.equal(existsSync(file), false);
  });

  it('of a session that goes on is released by its abort alone', async (t) => {
    const it = await withCase(t);
    const { id } = await it.planned();
    const path = `/api/worktrees/${it.item.id}/lock`;
    const taken = await it.running.call<Problem>('POST', path);
    assert.deepEqual([taken.status, taken.body.code], [409, 'lock_held']);
    assert.match(taken.body.detail, new RegExp(id));
    const refused = await it.running.call<Problem>('DELETE', path);
    assert.deepEqual([refused.status, refused.body.code], [409, 'session_active']);
    await it.control('abort');
    assert.equal((await it.running.call('POST', path)).status, 201);
  });

  it('of a session that is gone is released like any other', async (t) => {
    const it = await withCase(t);
    const { id } = await it.planned();
    rmSync(newestSession(it.running, it.item), { recursive: true });
    const path = `/api/worktrees/${it.item.id}/lock`;
    assert.equal((await it.running.call<Lock>('GET', path)).body.holder?.session_id, id);
    assert.equal((await it.running.call('DELETE', path)).status, 204);
  });
});
