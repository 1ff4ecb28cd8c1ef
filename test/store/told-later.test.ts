/** What follows from a change and could not be told when it was made: told once at the next comparison, without a restart. */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { resolveAbsent } from '../../store/reconcile/missing.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { AttentionItem } from '../../store/records/attention.ts';
import type { Case } from '../../store/records/case.ts';
import type { Proof } from '../../store/records/proof.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { inject } from '../helpers/faults.ts';
import type { Running } from '../helpers/service.ts';
import { type SessionTest, withCase as withSession } from '../helpers/sessions.ts';
import { told, withCase } from '../helpers/work-item.ts';

const JOURNAL = 'fdatasync:error=EIO';

/** Does something while no line of the journal can be written; false where that cannot be made so. */
const untold = async (t: TestContext, work: () => Promise<void>): Promise<boolean> => {
  const faults = await inject(t, process.pid, JOURNAL);
  if (faults === undefined) return false;
  await work();
  await faults.end();
  return true;
};

const sweep = async ({ service: { store } }: Pick<Running, 'service'>): Promise<void> => {
  await sweepWorkspace(store);
  await resolveAbsent(store);
};

const OF_INTEREST = /^(case|proof|session|agent|problem)_/;

const toldBy = (running: Running): string[] =>
  told(running.told).filter((one) => OF_INTEREST.test(one));

/** That these were told, and that neither another comparison nor a restart tells one of them again. */
const assertToldOnce = async (running: Running, events: string[]): Promise<void> => {
  await sweep(running);
  await eventually(() => assert.deepEqual(toldBy(running).toSorted(), events.toSorted()));
  await sweep(running);
  await running.restart();
  assert.deepEqual(toldBy(running).toSorted(), events.toSorted(), 'once');
};

describe('a Work item that is closed by its proof while the journal cannot be written', () => {
  it('is told once, the verification and the closing', async (t) => {
    const { running, call, at } = await withCase(t, {}, { watch: true });
    const { body: proof } = await call<Proof>('POST', `${at}/proof`, { type: 'log', content: 'x' });
    for (const state of ['INVESTIGATING', 'IMPLEMENTING', 'VERIFYING'])
      assert.equal((await call('PUT', `${at}/state`, { state })).status, 200, state);
    running.told.length = 0;
    const isDone = await untold(t, async () => {
      assert.equal((await call('PUT', `${at}/proof/${proof.id}/verify`)).status, 200);
    });
    if (!isDone) return;
    await assertToldOnce(running, ['proof_updated true', 'case_state_changed VERIFYING RESOLVED']);
  });
});

describe('a Work item that its proof closes while its file cannot be written', () => {
  it('is closed at the next comparison, without another change', async (t) => {
    const { running, call, at, dir, read, write } = await withCase(t);
    await call('POST', `${at}/proof`, { type: 'log', content: 'x' });
    for (const state of ['INVESTIGATING', 'IMPLEMENTING', 'VERIFYING'])
      assert.equal((await call('PUT', `${at}/state`, { state })).status, 200, state);
    // What is replaced is kept by a link.
    const faults = await inject(t, process.pid, 'link,linkat:error=EIO');
    if (faults === undefined) return;
    const [name = ''] = readdirSync(join(dir, 'proof'));
    const file = join('proof', name);
    write(file, read(file).replace('verified: false', 'verified: true'));
    await sweep(running);
    assert.equal((await call<Case>('GET', at)).body.state, 'VERIFYING');
    await eventually(() =>
      assert.match(running.logged.map(({ message }) => message).join(), /completing .*\.md/),
    );
    await faults.end();
    // The comparison of the start may still be at it: then this one has nothing to do.
    await eventually(async () => {
      await sweep(running);
      assert.equal((await call<Case>('GET', at)).body.state, 'RESOLVED');
    });
  });
});

const GO = '```sh\nwhile [ ! -e go ]; do sleep 0.02; done\n```\n';

/** A session that works until `go` is called. */
const working = async (t: TestContext) => {
  const work = await withSession(t, GO, { watch: true, settings: 'max_sessions: 1' });
  const { id } = await work.planned();
  const other = await another(work);
  assert.equal((await work.post(`/sessions/${id}/approve`)).status, 200);
  await work.untilEvent(id, 'tool_call');
  const { body } = await work.running.call<{ path: string }>('GET', `/api${work.at}/worktree`);
  // Or it is told a moment later, and the journal is spoiled by that alone.
  await eventually(async () => {
    const { headers } = await work.running.call('GET', '/attention');
    const etags = work.running.told.flatMap((body) =>
      body.event_type === 'attention_changed' ? body.payload.etag : [],
    );
    assert.equal(etags.at(-1), String(headers.etag).replaceAll('"', ''));
  });
  work.running.told.length = 0;
  const status = async (): Promise<string> =>
    (await work.running.call<Session>('GET', `${work.at}/sessions/${id}`)).body.status;
  return { work, id, other, status, go: () => writeFileSync(join(body.path, 'go'), '') };
};

/** The path of another session, whose plan is ready, and which has no place to run while the first works. */
const another = async ({ running }: SessionTest): Promise<string> => {
  const wanted = { title: 'Wait', type: 'feature', description: '```sh\ntrue\n```\n' };
  const { body: item } = await running.call<Case>('POST', '/cases', wanted);
  const begin = { type: 'implementing' };
  const made = await running.call<Session>('POST', `/cases/${item.id}/sessions`, begin);
  const path = `/cases/${item.id}/sessions/${made.body.id}`;
  await eventually(async () =>
    assert.equal((await running.call<Session>('GET', path)).body.status, 'plan_ready'),
  );
  return path;
};

const COMPLETED = [
  'agent_completed',
  'case_state_changed IMPLEMENTING VERIFYING',
  'session_completed',
];

describe('a session that goes on while the journal cannot be written', () => {
  it('is told to have completed, once', async (t) => {
    const { work, go, status } = await working(t);
    const isDone = await untold(t, async () => {
      go();
      await eventually(async () => assert.equal(await status(), 'completed'));
      await eventually(() => assert.equal(work.running.service.engine.live.size, 0));
    });
    if (!isDone) return;
    await assertToldOnce(work.running, COMPLETED);
  });

  it('is told to have started once it was approved, though it has completed by then', async (t) => {
    const { work, other, go, id } = await working(t);
    const isDone = await untold(t, async () => {
      const answer = await work.running.call<Session>('POST', `${other}/approve`);
      assert.deepEqual([answer.status, answer.body.status], [200, 'working'], answer.text);
    });
    if (!isDone) return;
    go();
    await work.until(id, 'completed');
    await eventually(async () =>
      assert.equal((await work.running.call<Session>('GET', other)).body.status, 'completed'),
    );
    await assertToldOnce(work.running, [
      ...COMPLETED,
      'session_started',
      'case_state_changed PLANNING IMPLEMENTING',
      ...COMPLETED,
    ]);
  });

  it('is told to be aborted, once', async (t) => {
    const { work, status } = await working(t);
    const isDone = await untold(t, async () => {
      const answer = await work.control('abort');
      assert.deepEqual([answer.status, answer.body.status], [200, 'aborted'], answer.text);
    });
    if (!isDone) return;
    assert.equal(await status(), 'aborted');
    await assertToldOnce(work.running, ['agent_completed', 'case_state_changed IMPLEMENTING OPEN']);
  });

  it('is paused at the next comparison where its end could not be written, and is aborted then', async (t) => {
    const { work, id } = await working(t);
    const isDone = await untold(t, async () => {
      await work.running.call('PUT', `${work.at}`, { title: 'Spoilt' });
      assert.equal((await work.control('abort')).status, 503);
    });
    if (!isDone) return;
    await sweep(work.running);
    assert.match((await work.until(id, 'paused')).error ?? '', /EIO/);
    await assertToldOnce(work.running, ['case_updated', 'agent_completed', 'session_paused']);
    assert.equal((await work.control('abort')).body.status, 'aborted');
  });

  it('is listed in the inbox until its end can be written', async (t) => {
    const { work, id } = await working(t);
    const listed = async (): Promise<string[]> => {
      const { body } = await work.running.call<AttentionItem[]>('GET', '/attention');
      return body
        .filter(({ session_id }) => session_id === id)
        .map(({ kind, message }) => `${kind} ${message}`);
    };
    const isDone = await untold(t, async () => {
      await work.running.call('PUT', `${work.at}`, { title: 'Spoilt' });
      assert.equal((await work.control('abort')).status, 503);
      const [entry = '', ...others] = await listed();
      assert.match(entry, /^waiting The session does not run, and .* not be written: EIO/);
      assert.deepEqual(others, []);
    });
    if (!isDone) return;
    await sweep(work.running);
    await work.until(id, 'paused');
    await eventually(async () =>
      assert.deepEqual(
        (await listed()).map((one) => one.split(' ')[0]),
        ['paused'],
      ),
    );
  });

  it('has comments that are told once', async (t) => {
    const { work, other } = await working(t);
    const isDone = await untold(t, async () => {
      const answer = await work.running.call('PUT', `${other}/comments`, '> true\n\nWhy?\n');
      assert.equal(answer.status, 200, answer.text);
    });
    if (!isDone) return;
    await sweep(work.running);
    await eventually(() => assert.deepEqual(toldBy(work.running), ['session_comments_changed']));
    await sweep(work.running);
    assert.deepEqual(toldBy(work.running), ['session_comments_changed'], 'once');
  });
});

describe('a file that cannot be read while the journal cannot be written', () => {
  it('is told once, and once that it was mended', async (t) => {
    const { running, read, write } = await withCase(t, {}, { watch: true });
    running.told.length = 0;
    const text = read('case.md');
    const isDone = await untold(t, async () => {
      write('case.md', text.replace(/^state: .*$/m, 'state: NONSENSE'));
      await eventually(() => assert.equal(running.service.store.problems.all().length, 1));
    });
    if (!isDone) return;
    await sweep(running);
    await eventually(() => assert.deepEqual(toldBy(running), ['problem_found']));
    write('case.md', text);
    await assertToldOnce(running, ['problem_found', 'problem_mended']);
  });
});
