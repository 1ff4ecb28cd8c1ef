/** Calls with an Idempotency-Key, sent again after the disk failed on their way: one thing is made, and told once. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { resolveAbsent } from '../../store/reconcile/missing.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import { inject } from '../helpers/faults.ts';
import type { Answered } from '../helpers/service.ts';
import { assertProblem, told, type WithCase, withCase } from '../helpers/work-item.ts';

interface Keyed {
  path: string;
  body: object;
  /** What lists them. */
  list: string;
  events: string[];
}

const CALLS: Record<string, (at: string) => Keyed> = {
  'POST /cases': () => ({
    path: '/cases',
    body: { title: 'Once', type: 'bug' },
    list: '/cases',
    events: ['case_created'],
  }),
  'POST /cases/:id/proof': (at) => ({
    path: `${at}/proof`,
    body: { type: 'log', content: 'seen' },
    list: `${at}/proof`,
    events: ['proof_created'],
  }),
  'POST /webhooks': () => ({
    path: '/webhooks',
    body: { url: 'http://127.0.0.1:9/x' },
    list: '/webhooks',
    events: [],
  }),
};

const FAULTS = [
  'fdatasync:error=EIO',
  'fdatasync:error=ENOSPC',
  'pwrite64:error=EIO',
  'fsync:error=EIO',
  'fsync:error=EIO:when=1+2',
  'fsync:error=EDQUOT:when=2+2',
  'rename:error=ENOSPC',
  'rename:error=EIO:when=2+',
  'link:error=EIO',
  'unlink:error=EIO',
  'openat:error=EMFILE:when=3+2',
];

const KEY = { 'content-type': 'application/json', 'idempotency-key': 'the same' };

const idsIn = async ({ call }: WithCase, list: string): Promise<string[]> =>
  (await call<{ id: string }[]>('GET', list)).body.map(({ id }) => id);

const sentWhile = async (
  t: TestContext,
  fault: string,
  send: () => Promise<Answered<{ id: string }>>,
): Promise<Answered<{ id: string }> | undefined> => {
  const faults = await inject(t, process.pid, fault);
  if (faults === undefined) return undefined;
  const answer = await send();
  await faults.end();
  return answer;
};

type Of = (typeof CALLS)[string];

const makesOne = async (t: TestContext, of: Of, fault: string): Promise<void> => {
  const work = await withCase(t, {}, { watch: true });
  const { call, at, running } = work;
  const { path, body, list, events } = of(at);
  const before = await idsIn(work, list);
  running.told.length = 0;
  const send = () => call<{ id: string }>('POST', path, body, KEY);
  const first = await sentWhile(t, fault, send);
  if (first === undefined) return;
  const again = await send();
  assert.equal(again.status, 201, again.text);
  if (first.status === 201) assert.equal(again.body.id, first.body.id);
  await sweepWorkspace(running.service.store);
  await resolveAbsent(running.service.store);
  const made = async () => (await idsIn(work, list)).filter((id) => !before.includes(id));
  assert.deepEqual(await made(), [again.body.id]);
  const toldOf = () => told(running.told).filter((each) => /^(case|proof)_/.test(each));
  assert.deepEqual(toldOf(), events);
  await running.restart();
  assert.equal((await send()).body.id, again.body.id);
  assert.deepEqual(await made(), [again.body.id]);
  assert.deepEqual(toldOf(), events);
  assertSwept(running.workspace, path === '/webhooks' ? 1 : 0);
};

// Each secret has its registration, and no temporary file stays.
const assertSwept = (workspace: string, secrets: number): void => {
  const below = (name: string): string[] => readdirSync(join(workspace, '.dossier', name));
  assert.equal(below('secrets').length, secrets);
  assert.deepEqual(below('tmp'), []);
};

describe('a call with an Idempotency-Key that a disk failed', () => {
  for (const [name, of] of Object.entries(CALLS))
    for (const fault of FAULTS)
      it(`${name} makes one, however often it is sent (${fault})`, (t) => makesOne(t, of, fault));

  it('says what to do where it may be written: to send it again, or to look', async (t) => {
    const { call, dir } = await withCase(t, {}, { watch: true });
    const send = () => call<{ id: string }>('POST', '/cases', { title: 'Once', type: 'bug' }, KEY);
    const first = await sentWhile(t, `fsync:error=EIO:-P${join(dir, '..')}`, async () => {
      await send();
      return send();
    });
    if (first === undefined) return;
    const { detail } = assertProblem(first, 503, 'may_be_written');
    assert.match(
      detail,
      /Read GET \/cases .* or send the call again with the same Idempotency-Key/,
    );
    const other = await call('POST', '/cases', { title: 'Another', type: 'bug' }, KEY);
    assertProblem(other, 422, 'idempotency_mismatch');
    assert.equal((await send()).status, 201);
  });
});
