/** A real process, killed at each step of closing the backlog of a receiver that was dead for too long. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { Delivery } from '../../store/records/delivery.ts';
import { eventually } from '../helpers/eventually.ts';
import { openReceiver, type TestReceiver } from '../helpers/receiver.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { type Running, startOn } from '../helpers/service.ts';
import { canTrace, killedAt, startTraced, type TracedDaemon } from '../helpers/strace.ts';

const EVENTS = 5;

const send = async <T>(
  { url }: Pick<TracedDaemon, 'url'>,
  method: string,
  path: string,
  body?: object,
) => {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as T;
};

interface Scene {
  workspace: string;
  receiver: TestReceiver;
  daemon: TracedDaemon;
  item: string;
  /** The path of the registration. */
  hook: string;
}

/** Five events wait for a receiver that says nothing to the first. Where that fails, all are too old at once. */
const scene = async (t: TestContext): Promise<Scene> => {
  const workspace = temporaryDirectory(t);
  writeFileSync(
    join(workspace, 'workspace.md'),
    '---\nwebhooks: { retention_hours: 0.000001 }\n---\n',
  );
  const receiver = await openReceiver(t);
  receiver.script('silence');
  const daemon = await startTraced(t, ['--workspace', workspace]);
  const { id: item } = await send<Case>(daemon, 'POST', '/cases', { title: 'x', type: 'bug' });
  const events = ['case_updated'];
  const hook = await send<{ id: string }>(daemon, 'POST', '/webhooks', {
    url: receiver.url,
    events,
  });
  for (let n = 1; n <= EVENTS; n += 1)
    await send(daemon, 'PUT', `/cases/${item}`, { title: `Title ${n}` });
  await receiver.atLeast(1);
  return { workspace, receiver, daemon, item, hook: `/webhooks/${hook.id}` };
};

interface Problem {
  code: string;
}

const isClosed = (problems: readonly Problem[]): boolean =>
  problems.some(({ code }) => code === 'backlog_closed');

/** False when it was not killed: there are fewer such calls. */
const killOnce = async (t: TestContext, call: string, nth: number): Promise<boolean> => {
  const all = await scene(t);
  const { daemon, receiver } = all;
  await daemon.attach([...killedAt(call, nth), '--output=/dev/null']);
  await receiver.close();
  await eventually(async () => {
    if (!daemon.alive()) return;
    const problems = await send<Problem[]>(daemon, 'GET', '/api/diagnostics').catch(() => []);
    assert.ok(isClosed(problems));
  });
  const survived = await daemon.kill();
  const again = await openReceiver(t, Number(new URL(receiver.url).port));
  const next = await startOn(all.workspace);
  try {
    await assertWhole(next, all, again, survived);
  } finally {
    await next.stop();
  }
  await again.close();
  return !survived;
};

/** Each event is delivered, or closed and told so, and can be sent; what comes later is sent. */
const assertWhole = async (
  life: Running,
  { hook, item }: Scene,
  { received }: TestReceiver,
  survived: boolean,
): Promise<void> => {
  const deliveries = async () => (await life.call<Delivery[]>('GET', `${hook}/deliveries`)).body;
  const problems = async () => (await life.call<Problem[]>('GET', '/api/diagnostics')).body;
  const ids = () => received.map(({ headers }) => String(headers['webhook-id']));
  await life.call('PUT', `/cases/${item}`, { title: 'Later' });
  const all = await eventually(async () => {
    const known = await deliveries();
    assert.equal(known.at(-1)?.status, 'delivered', 'what comes later is sent');
    return known;
  });
  assert.equal(all.length, EVENTS + 1);
  const closed = all.filter(({ status }) => status === 'closed');
  const sent = all.filter(({ status }) => status === 'delivered').map(({ id }) => id);
  assert.deepEqual(ids(), sent, 'what is closed is not sent, all else once');
  // All or none: one that no life has seen fail is tried by the next.
  assert.ok(closed.length === EVENTS || (closed.length === 0 && !survived), `${closed.length}`);
  assert.equal(sent.length, all.length - closed.length);
  assert.equal(isClosed(await problems()), closed.length > 0, 'and that is told');
  for (const { id } of closed) {
    const { status } = await life.call('POST', `${hook}/deliveries/${id}/redeliver`);
    assert.equal(status, 200);
  }
  assert.deepEqual(ids(), [...sent, ...closed.map(({ id }) => id)]);
  assert.equal(isClosed(await problems()), false);
};

describe('a daemon that is killed while it closes a backlog', () => {
  for (const call of ['pwrite64', 'fdatasync', 'fsync'])
    it(`loses none of it, and says what it did not send (${call})`, async (t) => {
      if (!canTrace(t)) return;
      let killed = 0;
      while (await killOnce(t, call, killed + 1)) killed += 1;
      assert.ok(killed > 0);
    });
});
