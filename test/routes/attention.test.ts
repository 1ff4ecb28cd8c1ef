/** What needs the operator: each kind is told, and goes away by exactly the call that it names. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createAttention } from '../../lib/events/inbox/attention.ts';
import { signal } from '../../store/base/async.ts';
import { notifyItemChanged } from '../../store/reconcile/items.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { AttentionItem } from '../../store/records/attention.ts';
import { eventually } from '../helpers/eventually.ts';
import { withHost } from '../helpers/linked.ts';
import { openReceiver } from '../helpers/receiver.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { newestSession, type Running, startForTest } from '../helpers/service.ts';
import { type SessionTest, withAgent, withCase } from '../helpers/sessions.ts';
import { withPull } from '../helpers/with-pull.ts';
import { rebaseScene } from '../lib/work/conflicts/fixture.ts';

type Calls = Pick<Running, 'call'>;

const list = async ({ call }: Calls): Promise<AttentionItem[]> =>
  (await call<AttentionItem[]>('GET', '/attention')).body;

const kindsOf = async (running: Calls): Promise<string[]> =>
  (await list(running)).map(({ kind }) => kind);

/** Resolves with the one thing of this kind that waits. */
const waits = (running: Calls, kind: string): Promise<AttentionItem> =>
  eventually(async () => {
    const all = await list(running);
    const [found, ...others] = all.filter((one) => one.kind === kind);
    assert.ok(found, `no ${kind} among ${JSON.stringify(all)}`);
    assert.deepEqual(others, []);
    assert.ok(Math.abs(Date.now() - Date.parse(found.since)) < 3_600_000, found.since);
    return found;
  });

/** Makes the call that it names, which works, and after which it waits no more. */
const answer = async (running: Calls, { id, answer: how }: AttentionItem): Promise<void> => {
  const { status, text } = await running.call(how.method, how.path, how.body);
  assert.ok(status >= 200 && status < 300, `${how.method} ${how.path}: ${text}`);
  await eventually(async () =>
    assert.equal(
      (await list(running)).some((one) => one.id === id),
      false,
    ),
  );
};

const failing = (t: TestContext): Promise<SessionTest> =>
  withCase(t, 'Fail:\n\n```sh\nexit 1\n```\n', { settings: 'sandbox: off' });

const runToEnd = async (it: SessionTest, status: string): Promise<string> => {
  const { id } = await it.worked(status);
  return id;
};

describe('GET /attention', () => {
  it('has nothing where nothing waits, with an ETag', async (t) => {
    const running = await startForTest(t);
    const { status, body, headers } = await running.call<unknown>('GET', '/attention');
    assert.deepEqual([status, body], [200, []]);
    const again = await running.call('GET', '/attention', undefined, {
      'if-none-match': String(headers.etag),
    });
    assert.equal(again.status, 304);
  });

  it('has a plan until it is approved, tells of it, and what waits longest first', async (t) => {
    const it = await withCase(t);
    const { id } = await it.planned();
    const plan = await waits(it, 'plan');
    assert.deepEqual([plan.case_id, plan.session_id, plan.title], [it.item.id, id, 'Say hello']);
    await eventually(() => assert.equal(changesOf(it.running).at(-1), 1));
    const { body: other } = await it.running.call('POST', '/cases', { title: 'B', type: 'bug' });
    const { body: second } = await it.running.call('POST', `/cases/${other.id}/sessions`, {
      type: 'implementing',
      provider: 'runbook',
    });
    assert.ok(second.id);
    await eventually(async () => {
      const since = (await list(it)).map((one) => one.since);
      assert.equal(since.length, 2);
      assert.deepEqual(since, since.toSorted());
    });
    await answer(it, plan);
    await it.until(id, 'completed');
  });

  it('has a session that waits for the lock of one that git took away', async (t) => {
    const it = await withCase(t);
    const { id } = await it.planned();
    const dir = newestSession(it.running, it.item);
    const away = join(temporaryDirectory(t), 'away');
    renameSync(dir, away);
    await sweepWorkspace(it.service.store);
    const next = await it.start();
    const { session_id, message } = await waits(it, 'waiting');
    assert.equal(session_id, next.id);
    assert.match(message, new RegExp(`${id}.* has no record here.*/sessions/lock\\.md`));
    renameSync(away, dir);
    await sweepWorkspace(it.service.store);
    await eventually(async () => assert.deepEqual(await kindsOf(it), ['plan']));
  });

  it('has a session that waits for the lock of an operator, until that is released', async (t) => {
    const it = await withCase(t);
    const lock = `/api/worktrees/${it.item.id}/lock`;
    await it.running.call('POST', lock, { name: 'Ann' });
    const { id } = await it.start();
    const { session_id, message } = await waits(it, 'waiting');
    assert.equal(session_id, id);
    assert.match(message, /queued, and Ann holds the session lock\. Release it/);
    await it.running.call('DELETE', lock);
    await it.until(id, 'plan_ready');
    await eventually(async () => assert.deepEqual(await kindsOf(it), ['plan']));
  });

  it('has what an agent asks, with the options, until it is answered', async (t) => {
    const it = await withCase(t, 'Ask.', withAgent(t, 'permission'));
    const { id } = await it.planned();
    await it.post(`/sessions/${id}/approve`);
    const asked = await waits(it, 'permission');
    assert.deepEqual([asked.session_id, await kindsOf(it)], [id, ['permission']]);
    assert.deepEqual(asked.options?.map(({ option_id }) => option_id).slice(0, 2), ['yes', 'no']);
    await answer(it, asked);
    await it.until(id, 'completed');
    assert.deepEqual(await kindsOf(it), ['done']);
  });

  it('has what an agent wants to know, with the fields, until it is answered', async (t) => {
    const options = withAgent(t, 'asks');
    const port = { type: 'integer' };
    const question = { message: 'Which\u202e?', requestedSchema: { properties: { port } } };
    writeFiles(join(options.env?.HOME ?? '', '.test-agent'), {
      'questions.json': JSON.stringify([question]),
    });
    const it = await withCase(t, 'Ask.', options);
    const { id } = await it.start();
    const asked = await waits(it, 'question');
    assert.deepEqual([asked.session_id, await kindsOf(it)], [id, ['question']]);
    assert.equal(asked.message, 'Which⟦U+202E⟧?');
    assert.deepEqual(asked.fields, [{ name: 'port', type: 'integer', required: false }]);
    await answer(it, asked);
    await it.until(id, 'plan_ready');
  });

  it('has a failed session until another is begun', async (t) => {
    const it = await failing(t);
    const id = await runToEnd(it, 'failed');
    const failed = await waits(it, 'failed');
    assert.deepEqual([failed.session_id, await kindsOf(it)], [id, ['failed']]);
    assert.match(failed.message, /exit|1/);
    await answer(it, failed);
    await waits(it, 'plan');
  });

  it('has a failed session until its Work item is moved on', async (t) => {
    const it = await failing(t);
    await runToEnd(it, 'failed');
    await waits(it, 'failed');
    await it.running.call('PUT', `${it.at}/state`, { state: 'NON_ISSUE' });
    await eventually(async () => assert.deepEqual(await list(it), []));
  });

  it('lets a session go on that waits behind one that failed', async (t) => {
    const it = await failing(t);
    const first = await it.start();
    await it.until(first.id, 'plan_ready');
    const second = await it.start();
    await it.post(`/sessions/${first.id}/approve`);
    await it.until(first.id, 'failed');
    await answer(it, await waits(it, 'failed'));
    await it.until(second.id, 'plan_ready');
  });

  it('has a session that waits behind a Work item that is BLOCKED', async (t) => {
    const it = await withCase(t);
    const lock = `/api/worktrees/${it.item.id}/lock`;
    await it.running.call('POST', lock);
    const { id } = await it.start();
    await it.running.call('PUT', `${it.at}/state`, { state: 'BLOCKED' });
    await it.running.call('DELETE', lock);
    const blocked = await waits(it, 'blocked');
    assert.equal(blocked.session_id, id);
    await answer(it, blocked);
    await it.until(id, 'plan_ready');
  });

  it('has a session that the operator paused, or a restart interrupted', async (t) => {
    const sign = join(temporaryDirectory(t), 'sign');
    const plan = `\`\`\`sh\nuntil test -e ${sign}; do sleep 0.02; done\n\`\`\`\n`;
    const it = await withCase(t, plan, { settings: 'sandbox: off' });
    const { id } = await it.planned();
    await it.post(`/sessions/${id}/approve`);
    await it.untilEvent(id, 'tool_call');
    await it.control('pause');
    await it.until(id, 'paused');
    const own = await waits(it, 'paused');
    assert.match(own.message, /^You paused the session/);
    await answer(it, own);
    await it.until(id, 'working');
    await it.running.restart();
    const paused = await waits(it, 'paused');
    assert.match(paused.message, /daemon stopped/);
    await answer(it, paused);
    writeFileSync(sign, '');
    await it.until(id, 'completed');
  });

  it('has a rebase that stopped, until it is applied', async (t) => {
    const scene = await rebaseScene(t, {
      start: { 'a.txt': 'one\n' },
      base: [{ 'a.txt': 'base\n' }],
      branch: [{ 'a.txt': 'branch\n' }],
    });
    assert.equal((await scene.post('pr/rebase', {})).body.status, 'conflicted');
    const conflict = await waits(scene.running, 'conflict');
    assert.match(conflict.message, /a\.txt/);
    writeFileSync(join(scene.worktree.path, 'a.txt'), 'both\n');
    await answer(scene.running, conflict);
  });

  it('has a review that asks for changes, then that reviews are queued', async (t) => {
    const scene = await withPull(t);
    const { host, number, running } = scene;
    await host.pulls.review(number, {
      by: 'reviewer',
      comments: [{ path: 'src/a.ts', line: 2, body: 'Use three.' }],
    });
    await scene.api('GET', 'pr/reviews');
    const review = await waits(running, 'review');
    assert.match(review.message, /reviewer asks for changes on src\/a\.ts: Use three\./);
    await answer(running, review);
    await answer(running, await waits(running, 'feedback'));
  });

  it('has a session by hand until its plan is written, then until its work is finished', async (t) => {
    const it = await withCase(t, 'Text.', { settings: 'provider: manual' });
    const { id } = await it.start();
    const plan = await waits(it, 'manual');
    assert.deepEqual([plan.session_id, plan.answer.method], [id, 'PUT']);
    await answer(it, { ...plan, answer: { ...plan.answer, body: 'Do it.\n' } });
    await it.until(id, 'plan_ready');
    await answer(it, await waits(it, 'plan'));
    const work = await waits(it, 'manual');
    assert.match(work.message, /finish the work of its plan/);
    await answer(it, work);
    await it.until(id, 'completed');
    const done = await waits(it, 'done');
    assert.equal(done.session_id, id);
    await answer(it, done);
    assert.deepEqual(await list(it), []);
  });

  it('has completed work until its branch is merged', async (t) => {
    const block = '```sh\necho one > a.txt\n```\n';
    const it = await withCase(t, `Write:\n\n${block}`, { settings: 'sandbox: off' });
    const id = await runToEnd(it, 'completed');
    const done = await waits(it, 'done');
    assert.equal(done.session_id, id);
    for (const [command, message] of [
      ['test -e b.txt', /^A check failed: `test -e b\.txt` \(exit 1\)\. The work is completed/],
      ['touch b.txt', /^A check failed: `test/],
      ['test -e b.txt', /^The work is completed/],
    ] as const) {
      // A check has the lock of the session until a moment after its result.
      await eventually(async () => {
        const run = await it.running.call('POST', `/cases/${it.item.id}/proof/run`, { command });
        assert.equal(run.status, 202, run.text);
      });
      await eventually(async () => assert.match((await waits(it, 'done')).message, message));
    }
    const { git, root } = it.running.repository;
    const { body: worktree } = await it.running.call('GET', `/api/cases/${it.item.id}/worktree`);
    // All at once: the daemon never sees the branch merged.
    git('-C', root, 'merge', '--quiet', String(worktree.branch));
    git('-C', root, 'worktree', 'remove', '-f', '-f', String(worktree.path));
    git('-C', root, 'branch', '--quiet', '-d', String(worktree.branch));
    // The daemon looks each minute; a change of the Work item makes it look at once.
    await it.running.call('PUT', `/cases/${it.item.id}`, { title: 'Merged' });
    await eventually(async () => assert.deepEqual(await list(it), []));
  });

  it('has an issue that changed here and on the host, until one is preferred', async (t) => {
    const scene = await withHost(t);
    const one = await scene.imported({ title: 'One' });
    await scene.host.issues.edit(one.number, { title: 'Theirs' });
    await scene.call('PUT', `/cases/${one.item.id}`, { title: 'Ours' });
    assert.equal((await one.sync()).status, 409);
    const conflict = await waits(scene, 'sync');
    assert.deepEqual([conflict.case_id, conflict.title], [one.item.id, 'Ours']);
    await answer(scene, conflict);
    assert.equal((await one.case()).title, 'Ours');
  });

  for (const scope of ['', '/cases/:id'])
    it(`has a receiver that wants no more of ${scope}/webhooks, until it is removed`, async (t) => {
      const { call, told } = await startForTest(t);
      const receiver = await openReceiver(t);
      const { body: item } = await call('POST', '/cases', { title: 'A', type: 'bug' });
      const path = `${scope.replace(':id', String(item.id))}/webhooks`;
      receiver.script(410);
      const made = await call('POST', path, { url: receiver.url });
      await call('PUT', `/cases/${item.id}`, { title: 'B' });
      const disabled = await waits({ call }, 'webhook');
      assert.deepEqual(
        [disabled.case_id, disabled.file],
        [scope === '' ? undefined : item.id, `webhooks/${made.body.id}.md`],
      );
      await eventually(() => assert.deepEqual(changesOf({ told }).at(-1), 1));
      await answer({ call }, disabled);
    });

  it('has a setting that is not trusted, and what the file says then', async (t) => {
    const running = await startForTest(t, { trust: false, watch: true });
    writeFileSync(join(running.workspace, 'workspace.md'), '---\nsandbox: off\n---\n');
    const waiting = await waits(running, 'trust');
    assert.match(waiting.message, /sandbox/);
    await eventually(() =>
      assert.ok(running.told.some(({ event_type }) => event_type === 'trust_needed')),
    );
    await answer(running, waiting);
    assert.deepEqual((await running.call('GET', '/trust')).body, []);
  });

  it('has what files say while a program runs that no sandbox holds', async (t) => {
    const it = await withCase(t);
    const { runs, store } = it.service;
    const run = runs.enter({ marker: randomUUID(), loopback: true, sandboxed: false });
    t.after(() => runs.leave(run));
    const file = join(it.workspace, it.item.path, 'case.md');
    writeFileSync(file, readFileSync(file, 'utf8').replace('OPEN', 'VERIFYING'));
    await sweepWorkspace(store);
    const held = await waits(it, 'held');
    assert.equal(await it.state(), 'OPEN');
    await answer(it, held);
    assert.equal(await it.state(), 'VERIFYING');
  });

  it('has a file that cannot be read, until it is mended', async (t) => {
    const it = await withCase(t, 'Text.', { watch: true });
    const file = join(it.workspace, it.item.path, 'case.md');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('title:', 'title: ['));
    const broken = await waits(it, 'file');
    assert.deepEqual(
      [broken.file, broken.case_id, broken.title],
      [`${it.item.path}/case.md`, it.item.id, 'Say hello'],
    );
    assert.ok(broken.line !== undefined);
    writeFileSync(file, text);
    await answer(it, broken);
    const told = it.running.told.map(({ event_type }) => event_type);
    assert.ok(told.includes('problem_found') && told.includes('problem_mended'));
  });

  it('has an id of its own for each that is wrong with one file', async (t) => {
    const running = await startForTest(t, { settings: 'max_sessions: "4"\nsandbox: of' });
    const ids = await eventually(async () => {
      const all = (await list(running)).filter(({ kind }) => kind === 'file');
      assert.equal(all.length, 2);
      return all.map(({ id }) => id);
    });
    assert.equal(new Set(ids).size, 2);
  });

  it('is told of once, and not again by a restart', async (t) => {
    const it = await failing(t);
    await runToEnd(it, 'failed');
    await eventually(() => assert.equal(changesOf(it.running).at(-1), 1));
    const before = await it.running.call('GET', '/attention');
    const count = changesOf(it.running).length;
    await it.running.restart();
    await eventually(async () => {
      const { headers } = await it.running.call('GET', '/attention');
      assert.equal(headers.etag, before.headers.etag);
    });
    assert.equal(changesOf(it.running).length, count);
  });
});

describe('what looks after it', () => {
  it('looks at nothing any more once it is closed', async (t) => {
    const { service, call } = await startForTest(t);
    const { body } = await call('POST', '/cases', { title: 'A', type: 'bug' });
    let looks = 0;
    const attention = createAttention(service.store, () => {
      looks += 1;
      return service;
    });
    attention.start();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    notifyItemChanged(service.store, String(body.id));
    t.mock.timers.tick(1000);
    assert.ok(looks > 0);
    await attention.close();
    looks = 0;
    notifyItemChanged(service.store, String(body.id));
    t.mock.timers.tick(1000);
    assert.equal(looks, 0);
  });

  it('tells of one list once, however long the journal takes', async (t) => {
    const it = await failing(t);
    await runToEnd(it, 'failed');
    await eventually(() => assert.equal(changesOf(it.running).at(-1), 1));
    const { service } = it.running;
    // One of its own, whose timers are all mocked.
    await service.attention.close();
    const attention = createAttention(service.store, () => service);
    const { journal } = service.store;
    (journal.told as Map<string, unknown>).delete('attention');
    const { append } = journal;
    const journaled = signal();
    let appended = 0;
    t.mock.method(journal, 'append', async (entry: Parameters<typeof append>[0]) => {
      appended += 1;
      await journaled.raised;
      return append(entry);
    });
    t.mock.timers.enable({ apis: ['setTimeout'] });
    for (const _ of [1, 2]) {
      attention.update(it.item.id);
      t.mock.timers.tick(1000);
      await nextTurn();
    }
    assert.equal(appended, 1);
    journaled.raise();
    await attention.close();
  });
});

/** How many things waited, each time that this was told. */
const changesOf = ({ told }: Pick<Running, 'told'>): number[] =>
  told.flatMap(({ event_type, payload }) =>
    event_type === 'attention_changed' ? [payload.count] : [],
  );
