import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { EventBody } from '../../store/records/event.ts';
import { startHere } from '../helpers/daemon-here.ts';
import { eventually } from '../helpers/eventually.ts';
import { NOBODY } from '../helpers/nobody.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { type Answered, type Running, startForTest } from '../helpers/service.ts';
import { withCase } from '../helpers/sessions.ts';
import { clientOf, openStream } from '../helpers/stream.ts';
import { assertProblem } from '../helpers/work-item.ts';

interface Told {
  id: number;
  event: string;
  data: EventBody;
}

const get = ({ call }: Pick<Running, 'call'>, query = ''): Promise<Answered<Told[]>> =>
  call<Told[]>('GET', `/events${query}`);

const make = async ({ call }: Running, title: string): Promise<Case> =>
  (await call<Case>('POST', '/cases', { title, type: 'bug' })).body;

const block = async ({ call }: Running, { id }: Case): Promise<void> => {
  assert.equal((await call('PUT', `/cases/${id}/state`, { state: 'BLOCKED' })).status, 200);
};

const namesOf = (told: readonly Told[]): string[] => told.map(({ event }) => event);

const two = async (t: TestContext) => {
  const running = await startForTest(t);
  const [one, other] = [await make(running, 'One'), await make(running, 'Other')];
  for (const item of [one, other]) await block(running, item);
  return { running, one, other };
};

describe('GET /events as JSON', () => {
  it('has all that happened in order, each as a webhook would be sent it', async (t) => {
    const { running, one, other } = await two(t);
    const { status, headers, body } = await get(running);
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
    assert.deepEqual(
      body.map(({ id, event, data }) => [id, event, data.payload.case_id]),
      [
        [1, 'case_created', one.id],
        [2, 'case_created', other.id],
        [3, 'case_state_changed', one.id],
        [4, 'case_state_changed', other.id],
      ],
    );
    assert.deepEqual(
      body.map(({ data }) => data),
      running.told,
    );
  });

  it('goes on after an event, a page at a time, with the filter in the link', async (t) => {
    const { running, one } = await two(t);
    const first = await get(running, `?case_id=${one.id}&limit=1`);
    assert.deepEqual(namesOf(first.body), ['case_created']);
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(String(first.headers.link)) ?? [];
    const second = await running.call<Told[]>('GET', next);
    assert.deepEqual(namesOf(second.body), ['case_state_changed']);
    assert.equal(second.headers.link, undefined);
    assert.deepEqual((await get(running, '?after=4')).body, []);
    assert.deepEqual((await get(running, '?after=now')).body, []);
  });

  it('has only what is asked for, of several types and Work items', async (t) => {
    const { running, one, other } = await two(t);
    const ids = async (query: string): Promise<number[]> =>
      (await get(running, query)).body.map(({ id }) => id);
    assert.deepEqual(await ids('?types=case_created'), [1, 2]);
    assert.deepEqual(
      await ids('?types=case_created,case_deleted,case_state_changed'),
      [1, 2, 3, 4],
    );
    assert.deepEqual(await ids('?types=case_created&types=case_deleted'), [1, 2]);
    assert.deepEqual(await ids(`?case_id=${one.id},${NOBODY}`), [1, 3]);
    assert.deepEqual(await ids(`?case_id=${one.id},${other.id}&types=case_created`), [1, 2]);
  });

  it('refuses what is no type, no id and no position, and names the types', async (t) => {
    const running = await startForTest(t);
    const problem = assertProblem(await get(running, '?types=case_made'), 400, 'bad_request');
    assert.match(problem.detail, /case_created/);
    for (const query of ['?case_id=x', '?after=x', '?limit=0', '?types=']) {
      assertProblem(await get(running, query), 400, 'bad_request');
    }
  });

  it('has the way of a session', async (t) => {
    const it = await withCase(t);
    const { id } = await it.start();
    const { plan_sha256 } = await it.until(id, 'plan_ready');
    const found = await eventually(async () => {
      const { body } = await get(it.running, '?types=session_plan_ready,session_failed');
      assert.equal(body.length, 1);
      return body[0] as Told;
    });
    assert.deepEqual(found.data.payload, { case_id: it.item.id, session_id: id, plan_sha256 });
  });

  it('tells what is not there any more, and numbers go on behind it', async (t) => {
    const { running } = await two(t);
    await running.stop();
    rmSync(join(running.workspace, '.dossier/journal'), { recursive: true });
    await running.restart();
    await make(running, 'Third');
    const [gap, ...rest] = (await get(running, '?after=3&types=case_created')).body;
    assert.deepEqual([gap?.event, namesOf(rest)], ['gap', ['case_created']]);
    const { reason, from, to } = (gap as Told).data.payload as unknown as Record<string, unknown>;
    assert.deepEqual([reason, from, to], ['not_readable', 4, 1001]);
  });
});

describe('GET /events as a stream', () => {
  it('tells what happens, by hand too, and goes on over a restart of the daemon', async (t) => {
    const workspace = temporaryDirectory(t);
    const first = await startHere(t, ['--workspace', workspace]);
    const accept = 'text/event-stream';
    const reader = await openStream(t, `${first.url}/events`, { accept });
    const item = await clientOf(first.url).post('/cases', { title: 'One', type: 'bug' });
    const created = await reader.until((event) => event === 'case_created');
    await first.end();
    const file = join(workspace, String(item.path), 'case.md');
    writeFileSync(file, readFileSync(file, 'utf8').replace('OPEN', 'BLOCKED'));
    const second = await startHere(t, ['--workspace', workspace]);
    const again = await openStream(t, `${second.url}/events`, {
      ...{ accept, 'last-event-id': String(created.id) },
    });
    const changed = await again.until(() => true);
    assert.deepEqual([changed.event, changed.id], ['case_state_changed', created.id + 1]);
    writeFileSync(file, readFileSync(file, 'utf8').replace('One', 'Two'));
    assert.equal((await again.until(() => true)).event, 'case_updated');
  });

  it('begins with a place to come back to, and with `now` tells nothing of before', async (t) => {
    const workspace = temporaryDirectory(t);
    const { url } = await startHere(t, ['--workspace', workspace]);
    const client = clientOf(url);
    await client.post('/cases', { title: 'Before', type: 'bug' });
    const answer = await fetch(`${url}/events?after=now`, {
      headers: { accept: 'text/event-stream' },
    });
    const text = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    assert.equal((await text?.read())?.value, 'id: 1\n\n');
    await client.post('/cases', { title: 'After', type: 'bug' });
    const { value = '' } = (await text?.read()) ?? {};
    assert.match(value, /^id: 2\nevent: case_created\ndata: \{.*"title":"After"/);
    await text?.cancel();
  });
});
