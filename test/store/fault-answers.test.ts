/** What a call answers when the disk fails on its way, and what is told of it: at which step decides, not which error. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, renameSync, utimesSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { resolveAbsent } from '../../store/reconcile/missing.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { Case } from '../../store/records/case.ts';
import type { Proof } from '../../store/records/proof.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { inject } from '../helpers/faults.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import type { Answered } from '../helpers/service.ts';
import { assertProblem, told, type WithCase, withCase } from '../helpers/work-item.ts';

/** One call while these system calls fail; undefined where none can be made to. */
const during = async (
  t: TestContext,
  fault: string,
  call: () => Promise<Answered>,
): Promise<Answered | undefined> => {
  const faults = await inject(t, process.pid, ...fault.split(' '));
  if (faults === undefined) return undefined;
  const answer = await call();
  await faults.end();
  return answer;
};

const sweep = async ({ running }: WithCase): Promise<void> => {
  const { store } = running.service;
  await sweepWorkspace(store);
  await resolveAbsent(store);
};

/** What was told of Work items and proofs. */
const toldOf = ({ running }: WithCase): string[] =>
  told(running.told).filter((each) => /^(case|proof)_/.test(each));

interface Change {
  name: string;
  send: (work: WithCase) => Promise<Answered>;
  /** Whether it is there. */
  isDone: (work: WithCase) => Promise<boolean>;
  events: string[];
}

const titled =
  (title: string) =>
  async ({ call }: WithCase) =>
    (await call<Case[]>('GET', '/cases')).body.some((item) => item.title === title);

const CHANGES: Change[] = [
  {
    name: 'POST /cases',
    send: ({ call }) => call('POST', '/cases', { title: 'New', type: 'bug' }),
    isDone: titled('New'),
    events: ['case_created'],
  },
  {
    name: 'PUT /cases/:id',
    send: ({ call, at }) => call('PUT', at, { title: 'New' }),
    isDone: titled('New'),
    events: ['case_updated'],
  },
  {
    name: 'PUT /cases/:id/state',
    send: ({ call, at }) => call('PUT', `${at}/state`, { state: 'BLOCKED' }),
    isDone: async ({ call, at }) => (await call<Case>('GET', at)).body.state === 'BLOCKED',
    events: ['case_state_changed OPEN BLOCKED'],
  },
  {
    name: 'POST /cases/:id/proof',
    send: ({ call, at }) => call('POST', `${at}/proof`, { type: 'log', content: 'seen' }),
    isDone: async ({ call, at }) => (await call<Proof[]>('GET', `${at}/proof`)).body.length === 1,
    events: ['proof_created'],
  },
  {
    name: 'PUT /cases/:id/memory/:filename',
    send: ({ call, at }) => call('PUT', `${at}/memory/notes.md`, 'notes'),
    isDone: async ({ call, at }) => (await call('GET', `${at}/memory/notes.md`)).status === 200,
    events: [],
  },
  {
    name: 'POST /cases/:id/webhooks',
    send: ({ call, at }) => call('POST', `${at}/webhooks`, { url: 'http://127.0.0.1:9/x' }),
    isDone: async ({ call, at }) =>
      (await call<unknown[]>('GET', `${at}/webhooks`)).body.length === 1,
    events: [],
  },
  {
    name: 'DELETE /cases/:id',
    send: ({ call, at }) => call('DELETE', at),
    isDone: async ({ call, at }) => (await call('GET', at)).status === 404,
    events: ['case_deleted'],
  },
];

describe('a write whose event the journal cannot take', () => {
  for (const { name, send, isDone, events } of CHANGES)
    for (const fault of ['pwrite64:error=EIO', 'fdatasync:error=ENOSPC', 'fdatasync:error=EMFILE'])
      it(`${name} is answered as done, and told once at the next comparison (${fault})`, async (t) => {
        const work = await withCase(t, {}, { watch: true });
        work.running.told.length = 0;
        const answer = await during(t, fault, () => send(work));
        if (answer === undefined) return;
        assert.ok(answer.status < 300, answer.text);
        assert.ok(await isDone(work));
        await sweep(work);
        assert.deepEqual(toldOf(work), events);
        await sweep(work);
        await work.running.restart();
        assert.deepEqual(toldOf(work), events, 'once');
        assert.ok(await isDone(work));
      });

  it('keeps the next write from being made until the journal can be written again', async (t) => {
    const work = await withCase(t, {}, { watch: true });
    const { call, at } = work;
    let first: Answered | undefined;
    const second = await during(t, 'fdatasync:error=EIO', async () => {
      first = await call('PUT', at, { title: 'first' });
      return call('POST', '/cases', { title: 'second', type: 'bug' });
    });
    if (second === undefined) return;
    assert.equal(first?.status, 200);
    assert.match(assertProblem(second, 503, 'disk_failed').detail, /^Nothing was changed\./);
    assert.equal((await call<Case[]>('GET', '/cases')).body.length, 1);
    assert.equal((await call('POST', '/cases', { title: 'third', type: 'bug' })).status, 201);
    await sweep(work);
    assert.deepEqual(toldOf(work).toSorted(), ['case_created', 'case_created', 'case_updated']);
  });

  it('is told without a request or a restart: a deletion too', async (t) => {
    const work = await withCase(t, {}, { watch: true });
    const answer = await during(t, 'pwrite64:error=EIO', () => work.call('DELETE', work.at));
    if (answer === undefined) return;
    assert.equal(answer.status, 204);
    const { store } = work.running.service;
    assert.ok(store.journal.seen.has(work.item.id));
    await sweep(work);
    assert.deepEqual(toldOf(work).slice(-1), ['case_deleted']);
  });
});

/** The directory whose sync fails: the name is in its place by then. */
const placeOf = ({ dir }: WithCase, name: string): string => {
  if (name === 'POST /cases') return dirname(dir);
  if (name === 'DELETE /cases/:id') return dirname(dir);
  if (name.endsWith('/proof')) return join(dir, 'proof');
  if (name.includes('/memory/')) return join(dir, 'memory');
  if (name.endsWith('/webhooks')) return join(dir, 'webhooks');
  return dir;
};

describe('a write whose name is in place when the disk fails', () => {
  for (const { name, send, isDone, events } of CHANGES)
    for (const error of ['EDQUOT', 'EIO'])
      it(`${name} says that it may be written, and what to read (fsync of the directory: ${error})`, async (t) => {
        const work = await withCase(t, {}, { watch: true });
        const place = placeOf(work, name);
        if (name !== 'POST /cases' && name !== 'DELETE /cases/:id') await prepare(work);
        work.running.told.length = 0;
        const answer = await during(t, `fsync:error=${error}:-P${place}`, () => send(work));
        if (answer === undefined) return;
        const { detail } = assertProblem(answer, 503, 'may_be_written');
        assert.doesNotMatch(detail, /try again|Nothing was changed/);
        const { read = '' } = answer.body as { read?: string };
        assert.match(detail, new RegExp(`Read GET ${read} `));
        assert.ok([200, 404].includes((await work.call('GET', read)).status), read);
        assert.ok(await isDone(work), 'it is there');
        await sweep(work);
        await eventually(() => assert.deepEqual(toldOf(work), events));
        await work.running.restart();
        assert.deepEqual(toldOf(work), events, 'once');
      });
});

// The directories are there: what fails is the sync of a name in them.
const prepare = async ({ call, at, dir }: WithCase): Promise<void> => {
  await call('PUT', `${at}/memory/other.md`, 'x');
  const { body } = await call<Proof>('POST', `${at}/proof`, { type: 'log', content: 'x' });
  await call('DELETE', `${at}/proof/${body.id}`);
  const made = await call<{ id: string }>('POST', `${at}/webhooks`, { url: 'http://127.0.0.1:9/' });
  await call('DELETE', `${at}/webhooks/${made.body.id}`);
  assert.ok(readdirSync(dir).length > 0);
};

describe('a plan that is approved while the state directory is full', () => {
  it('is not approved: nothing was changed, and it can be approved once there is room', async (t) => {
    const state = join(temporaryDirectory(t), 'state');
    const { call, at } = await withCase(t, {}, { state });
    const body = { type: 'implementing', provider: 'manual' };
    const { id } = (await call<Session>('POST', `${at}/sessions`, body)).body;
    const session = `${at}/sessions/${id}`;
    await call('PUT', `${session}/plan`, 'By hand.\n');
    const status = async (): Promise<string> => (await call<Session>('GET', session)).body.status;
    await eventually(async () => assert.equal(await status(), 'plan_ready'));
    const [log = ''] = readdirSync(state, { recursive: true }).filter((name) =>
      `${name}`.endsWith('consent.log'),
    );
    const full = `write:error=ENOSPC:-P${join(state, `${log}`)}`;
    const answer = await during(t, full, () => call('POST', `${session}/approve`));
    if (answer === undefined) return;
    const { detail } = assertProblem(answer, 507, 'disk_full');
    assert.match(detail, /^Nothing was changed\. .* state directory /);
    assert.equal(await status(), 'plan_ready');
    assert.equal((await call('GET', `${session}/plan?which=approved`)).status, 404);
    assert.equal((await call('POST', `${session}/approve`)).status, 200);
  });
});

describe('a session that ends while the state directory is away', () => {
  it('ends whole, and its consent once the directory is back', async (t) => {
    const state = temporaryDirectory(t);
    const { call, at, item, dir } = await withCase(t, undefined, { state });
    await call('POST', `${at}/sessions`, { type: 'implementing', provider: 'manual' });
    await eventually(async () => assert.match((await call('GET', '/attention')).text, FOR_PLAN));
    const lock = join(dir, 'sessions/lock.md');
    assert.ok(existsSync(lock));
    renameSync(state, `${state}.away`);
    const aborted = await call('POST', `/api/cases/${item.id}/session/abort`);
    const isLocked = existsSync(lock);
    renameSync(`${state}.away`, state);
    assert.deepEqual([aborted.status, aborted.body.status, isLocked], [200, 'aborted', false]);
  });
});

describe('a session whose file cannot be read for a moment', () => {
  const withSession = async (t: TestContext) => {
    const { call, at, item, running } = await withCase(t);
    const body = { type: 'implementing', provider: 'manual' };
    const { path } = (await call<Session>('POST', `${at}/sessions`, body)).body;
    await eventually(async () => assert.match((await call('GET', '/attention')).text, FOR_PLAN));
    const file = join(running.workspace, path, 'session.md');
    return { call, at, id: item.id, running, file };
  };

  it('is not taken for one that is not there, by the list or the inbox', async (t) => {
    const { call, at, id, running, file } = await withSession(t);
    const faults = await inject(t, process.pid, `openat:error=EIO:-P${file}`);
    if (faults === undefined) return;
    const list = await call('GET', `${at}/sessions`);
    running.service.attention.update(id);
    const inbox = await call('GET', '/attention');
    await faults.end();
    assertProblem(list, 503, 'disk_failed');
    assert.match(inbox.text, FOR_PLAN);
    assert.equal((await call('POST', `/api/cases/${id}/session/abort`)).body.status, 'aborted');
    assert.equal((await call('GET', '/attention')).text, '[]');
  });

  it('is left out of the sessions once it has ended, and hides and stops no other', async (t) => {
    const { call, at, id, running, file } = await withSession(t);
    await call('POST', `/api/cases/${id}/session/abort`);
    const body = { type: 'implementing', provider: 'manual' };
    const open = (await call<Session>('POST', `${at}/sessions`, body)).body;
    const faults = await inject(t, process.pid, `openat:error=EIO:-P${file}`);
    if (faults === undefined) return;
    const list = await call<Session[]>('GET', `${at}/sessions`);
    const trust = await call('GET', '/trust');
    const aborted = await call('POST', `/api/cases/${id}/session/abort`);
    // So that it is read again.
    utimesSync(file, new Date(), new Date(0));
    const problems = await call('GET', '/api/diagnostics');
    await faults.end();
    assert.deepEqual(
      list.body.map((one) => one.id),
      [open.id],
    );
    assert.deepEqual([trust.status, trust.body], [200, []]);
    assert.equal(aborted.body.status, 'aborted', aborted.text);
    assert.ok(problems.text.includes(relative(running.workspace, file)), problems.text);
  });

  it('is missed where it decides, and at a limit of the machine', async (t) => {
    const { call, at, id, file } = await withSession(t);
    const [session] = (await call<Session[]>('GET', `${at}/sessions`)).body;
    await call('POST', `/api/cases/${id}/session/abort`);
    const proof = { type: 'log', content: 'x', session_id: session?.id };
    const failing = await inject(t, process.pid, `openat:error=EIO:-P${file}`);
    if (failing === undefined) return;
    const attached = await call('POST', `${at}/proof`, proof);
    await failing.end();
    const full = await inject(t, process.pid, `openat:error=EMFILE:-P${file}`);
    const list = await call('GET', `${at}/sessions`);
    await full?.end();
    assertProblem(attached, 503, 'disk_failed');
    assertProblem(list, 503, 'unavailable');
    assert.equal((await call('POST', `${at}/proof`, proof)).status, 201);
  });

  it('hides and keeps nothing but itself: lists of all, the editor and the deletion go on', async (t) => {
    const { call, at, id, file } = await withSession(t);
    await call('POST', `/api/cases/${id}/session/abort`);
    const faults = await inject(t, process.pid, `openat:error=EIO:-P${file}`);
    if (faults === undefined) return;
    const board = await call('GET', `/api/sessions/newest?case_ids=${id}`);
    const stale = await call('GET', '/api/worktrees/stale');
    const graph = await call<{ dangling: { kind: string }[] }>('GET', '/api/codehost/traceability');
    const edited = await call('POST', `${at}/editor/files`, { path: 'new.txt', content: 'x' });
    const deleted = await call('DELETE', `${at}?force=true`);
    await faults.end();
    assert.equal(board.status, 200, board.text);
    assert.equal(stale.status, 200, stale.text);
    assert.deepEqual(
      graph.body.dangling.map(({ kind }) => kind),
      ['case-has-session'],
    );
    assert.equal(edited.status, 201, edited.text);
    assert.equal(deleted.status, 204, deleted.text);
  });
});

const FOR_PLAN = /waits for your plan/;
