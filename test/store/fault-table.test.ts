/**
 * Every errno at every step of every kind of call: what is answered is so. A call that says it is done is done, one that
 * says that nothing was changed changed nothing, one that cannot know says what to read; each change is told once; and
 * what a client does next works.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { resolveAbsent } from '../../store/reconcile/missing.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { Case } from '../../store/records/case.ts';
import type { Proof } from '../../store/records/proof.ts';
import { inject } from '../helpers/faults.ts';
import { type Answered, type Running, startForTest } from '../helpers/service.ts';
import { told } from '../helpers/work-item.ts';

interface Kind {
  /** What a call may be refused with. */
  codes: string[];
  /** The system calls that it is met at. A file is opened, filled, put in its place, and told of. */
  steps: string[];
  modes?: string[];
}

/** From then on; and every second time, so that each call meets one that fails and then one that does not, or the reverse. */
const ON = '';
const ODD = ':when=1+2';
const EVEN = ':when=2+2';

const ROOM = ['mkdir', 'fsync', 'rename,link', 'pwrite64', 'fdatasync'];

const ERRORS: Record<string, Kind> = {
  EIO: { codes: ['disk_failed'], steps: ['openat', 'unlink', ...ROOM], modes: [ON, ODD, EVEN] },
  ENOSPC: { codes: ['disk_full'], steps: ROOM },
  EDQUOT: { codes: ['disk_full'], steps: ROOM },
  EROFS: { codes: ['read_only'], steps: ['mkdir', 'rename,link', 'unlink'] },
  EACCES: {
    codes: ['access_denied', 'unreadable_record'],
    steps: ['openat', 'mkdir', 'rename,link', 'unlink'],
  },
  EMFILE: { codes: ['unavailable'], steps: ['openat', 'fdatasync'], modes: [ON, ODD, EVEN] },
  ENFILE: { codes: ['unavailable'], steps: ['openat'] },
  // What is interrupted is done again by the runtime itself: from then on it would be done for ever.
  EINTR: { codes: [], steps: ['openat', 'fsync', 'rename,link', 'fdatasync'], modes: [ODD] },
};

interface Target {
  at: string;
  id: string;
  proof: string;
}

interface Operation {
  name: string;
  send: (call: Running['call'], target: Target) => Promise<Answered>;
  /** Whether it is there; undefined for what only reads. */
  isDone?: (call: Running['call'], target: Target) => Promise<boolean>;
  events?: string[];
}

const caseAt = async (call: Running['call'], at: string): Promise<Partial<Case>> =>
  (await call<Case>('GET', at)).body;

const countOf = async (call: Running['call'], path: string): Promise<number> =>
  (await call<unknown[]>('GET', path)).body.length;

const newTitle = ({ id }: Target): string => `Made by ${id}`;

const madeBy = async (call: Running['call'], target: Target): Promise<Case[]> =>
  (await call<Case[]>('GET', '/cases?limit=500')).body.filter(
    ({ title }) => title === newTitle(target),
  );

const OPERATIONS: Operation[] = [
  { name: 'read', send: (call, { at }) => call('GET', at) },
  { name: 'list', send: (call) => call('GET', '/cases') },
  { name: 'proofs', send: (call, { at }) => call('GET', `${at}/proof`) },
  {
    name: 'title',
    send: (call, { at }) => call('PUT', at, { title: 'New' }),
    isDone: async (call, { at }) => (await caseAt(call, at)).title === 'New',
    events: ['case_updated'],
  },
  {
    name: 'state',
    send: (call, { at }) => call('PUT', `${at}/state`, { state: 'BLOCKED' }),
    isDone: async (call, { at }) => (await caseAt(call, at)).state === 'BLOCKED',
    events: ['case_state_changed OPEN BLOCKED'],
  },
  {
    name: 'proof',
    send: (call, { at }) => call('POST', `${at}/proof`, { type: 'log', content: 'seen' }),
    isDone: async (call, { at }) => (await countOf(call, `${at}/proof`)) === 2,
    events: ['proof_created'],
  },
  {
    name: 'verify',
    send: (call, { at, proof }) => call('PUT', `${at}/proof/${proof}/verify`),
    isDone: async (call, { at, proof }) =>
      (await call<Proof>('GET', `${at}/proof/${proof}`)).body.verified,
    events: ['proof_updated true'],
  },
  {
    name: 'memory',
    send: (call, { at }) => call('PUT', `${at}/memory/notes.md`, 'notes'),
    isDone: async (call, { at }) => (await call('GET', `${at}/memory/notes.md`)).status === 200,
  },
  {
    name: 'webhook',
    send: (call, { at }) => call('POST', `${at}/webhooks`, { url: 'http://127.0.0.1:9/x' }),
    isDone: async (call, { at }) => (await countOf(call, `${at}/webhooks`)) === 1,
  },
  {
    name: 'create',
    send: (call, target) => call('POST', '/cases', { title: newTitle(target), type: 'bug' }),
    isDone: async (call, target) => (await madeBy(call, target)).length === 1,
  },
  {
    name: 'delete',
    send: (call, { at }) => call('DELETE', at),
    isDone: async (call, { at }) => (await call('GET', at)).status === 404,
    events: ['case_deleted'],
  },
];

const targetFor = async (call: Running['call']): Promise<Target> => {
  const { id } = (await call<Case>('POST', '/cases', { title: 'Old', type: 'bug' })).body;
  const at = `/cases/${id}`;
  const body = { type: 'log', content: 'old' };
  return { at, id, proof: (await call<Proof>('POST', `${at}/proof`, body)).body.id };
};

interface Sent {
  operation: Operation;
  target: Target;
  answer: Answered;
}

const assertClaim = async (running: Running, sent: Sent, codes: string[]): Promise<boolean> => {
  const { call } = running;
  const { operation, target, answer } = sent;
  const done = (await operation.isDone?.(call, target)) === true;
  if (answer.status < 300) {
    assert.equal(done, operation.isDone !== undefined, `${answer.status}, and it is not done`);
    return done;
  }
  const { code, detail, read } = answer.body as { code: string; detail: string; read?: string };
  if (code === 'may_be_written') {
    assert.doesNotMatch(detail, /Nothing was changed|try again/);
    assert.ok([200, 404].includes((await call('GET', read ?? '')).status), `${read} can be read`);
    return done;
  }
  assert.ok(codes.includes(code), answer.text);
  assert.equal(done, false, `${answer.text}, and it is done`);
  const saysSo = /Nothing was changed|was not changed/.test(detail);
  assert.equal(saysSo, operation.isDone !== undefined, detail);
  return false;
};

const toldSince = ({ told: all }: Running, from: number, id: string): string[] =>
  told(all.slice(from).filter(({ payload }) => (payload as { case_id?: string }).case_id === id))
    .filter((each) => /^(case|proof)_/.test(each))
    .toSorted();

const sweep = async ({ service: { store } }: Running): Promise<void> => {
  await sweepWorkspace(store);
  await resolveAbsent(store);
};

// What was made, and what was not, is worked with as ever.
const goOn = async ({ call }: Running, { at }: Target): Promise<void> => {
  const { status } = await call('GET', at);
  if (status === 404) return;
  assert.equal((await call('PUT', at, { title: 'Last' })).status, 200);
  assert.equal((await call('DELETE', at)).status, 204);
  assert.equal((await call('GET', at)).status, 404);
};

/** Rejects as `work` does, and says where. */
const locate = async <T>(where: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    throw new Error(`${where}: ${cause}`, { cause });
  }
};

const assertTold = async (
  running: Running,
  { operation, target }: Sent,
  done: boolean,
  from: number,
) => {
  const expected = done ? (operation.events ?? []) : [];
  assert.deepEqual(toldSince(running, from, target.id), expected);
  for (const { id } of await madeBy(running.call, target)) {
    assert.deepEqual(toldSince(running, from, id), ['case_created']);
    await goOn(running, { ...target, at: `/cases/${id}` });
  }
  await goOn(running, target);
};

const assertAll = async (running: Running, all: Sent[], from: number, codes: string[]) => {
  const done: boolean[] = [];
  for (const sent of all)
    done.push(await locate(sent.operation.name, () => assertClaim(running, sent, codes)));
  await sweep(running);
  for (const [index, sent] of all.entries())
    await locate(`${sent.operation.name} ${sent.answer.text}`, () =>
      assertTold(running, sent, done[index] === true, from),
    );
};

/** One column of the table: every operation while these calls fail. False where none can be made to. */
const column = async (t: TestContext, running: Running, fault: string, codes: string[]) => {
  const { call } = running;
  const targets = await Promise.all(OPERATIONS.map(() => targetFor(call)));
  const from = running.told.length;
  const faults = await inject(t, process.pid, fault);
  if (faults === undefined) return false;
  const all: Sent[] = [];
  for (const [index, operation] of OPERATIONS.entries()) {
    const target = targets[index] as Target;
    all.push({ operation, target, answer: await operation.send(call, target) });
  }
  await faults.end();
  await assertAll(running, all, from, codes);
  return true;
};

const columnsOf = (error: string): string[] => {
  const { steps = [], modes = [ON, ODD] } = ERRORS[error] ?? {};
  return steps.flatMap((step) => modes.map((mode) => `${step}:error=${error}${mode}`));
};

// Nothing is told twice, and nothing lies around.
const assertCalm = async (running: Running): Promise<void> => {
  await sweep(running);
  const known = told(running.told);
  await running.restart();
  assert.deepEqual(told(running.told), known, 'a restart tells nothing');
  assert.deepEqual((await running.call<Case[]>('GET', '/cases')).body, []);
  for (const name of ['tmp', 'trash', 'secrets'])
    assert.deepEqual(readdirSync(join(running.workspace, '.dossier', name)), [], name);
};

describe('a file system that fails', () => {
  for (const [error, { codes }] of Object.entries(ERRORS))
    it(`is told as it is, whatever it fails at (${error})`, async (t) => {
      const running = await startForTest(t, { watch: true });
      for (const fault of columnsOf(error))
        if (!(await locate(fault, () => column(t, running, fault, codes)))) return;
      await assertCalm(running);
    });
});
