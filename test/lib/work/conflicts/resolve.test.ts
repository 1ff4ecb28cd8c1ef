import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Case } from '../../../../store/records/case.ts';
import type { Session } from '../../../../store/records/session.ts';
import { eventually } from '../../../helpers/eventually.ts';
import type { Answered } from '../../../helpers/service.ts';
import { forgetAnswer } from '../../../helpers/unanswered.ts';
import { type Answer, read, rebaseScene, type Scene } from './fixture.ts';

interface Waiting extends Scene {
  resolve: (body?: object) => Promise<Answered<Session & Answer>>;
  until: (id: string, status: string) => Promise<Session>;
  /** Replaces the plan by one with these commands, and approves it. */
  approve: (id: string, script: string) => Promise<void>;
}

const conflicted = async (t: TestContext, settings?: string): Promise<Waiting> => {
  const scene = await rebaseScene(t, {
    start: { 'a.txt': 'one\n', 'b.txt': 'one\n' },
    base: [{ 'a.txt': 'base\n', 'b.txt': 'base\n' }],
    branch: [{ 'a.txt': 'branch\n', 'b.txt': 'branch\n' }],
    ...(settings !== undefined && { settings }),
  });
  const { running, item } = scene;
  await scene.post('pr/rebase');
  const at = `/cases/${item.id}/sessions`;
  const until = (id: string, status: string): Promise<Session> =>
    eventually(async () => {
      const { body } = await running.call<Session>('GET', `${at}/${id}`);
      assert.equal(body.status, status, body.error ?? undefined);
      return body;
    });
  return {
    ...scene,
    until,
    resolve: (body) =>
      running.call('POST', `/api/cases/${item.id}/conflicts/resolve-with-agent`, body),
    approve: async (id, script) => {
      await until(id, 'plan_ready');
      const plan = `Resolve it:\n\n\`\`\`sh\n${script}\n\`\`\`\n`;
      await running.call('PUT', `${at}/${id}/plan`, plan);
      const approved = await running.call('POST', `${at}/${id}/approve`);
      assert.equal(approved.status, 200, approved.text);
    },
  };
};

const unmerged = ({ git }: Scene): string => git('diff', '--name-only', '--diff-filter=U');

describe('POST /api/cases/{id}/conflicts/resolve-with-agent', () => {
  it('has an agent resolve what the operator approves, and stages nothing', async (t) => {
    const scene = await conflicted(t);
    const { status, body, headers, text } = await scene.resolve();
    assert.equal(status, 202, text);
    assert.deepEqual([body.type, body.mode], ['conflict', 'plan']);
    assert.equal(headers.location, `/cases/${scene.item.id}/sessions/${body.id}`);
    await scene.until(body.id, 'plan_ready');
    assert.equal(unmerged(scene), 'a.txt\nb.txt\n');
    assert.match(read(scene, 'a.txt'), /<<<<<<< /);
    assert.equal(await scene.state(), 'BLOCKED');
    await scene.approve(
      body.id,
      'echo both > a.txt; echo both > b.txt; git add --all 2>&1 || true',
    );
    await scene.until(body.id, 'completed');
    assert.equal(unmerged(scene), 'a.txt\nb.txt\n');
    assert.equal(read(scene, 'a.txt') + read(scene, 'b.txt'), 'both\nboth\n');
    assert.equal(await scene.state(), 'BLOCKED');
    const done = await scene.post('conflicts/apply');
    assert.equal(done.body.status, 'clean', done.text);
    assert.equal(await scene.state(), 'OPEN');
  });

  it('names the files that it left with markers, in the stream and in the summary', async (t) => {
    const scene = await conflicted(t);
    const { body } = await scene.resolve();
    await scene.approve(body.id, 'echo both > a.txt');
    await scene.until(body.id, 'completed');
    const at = `/cases/${scene.item.id}/sessions/${body.id}`;
    const accept = { accept: 'application/json' };
    const { text } = await scene.running.call('GET', `${at}/stream`, undefined, accept);
    const sessions = join(scene.running.workspace, scene.item.path, 'sessions');
    const [dir = ''] = readdirSync(sessions).filter((name) => name.endsWith(body.id.slice(0, 8)));
    const summary = readFileSync(join(sessions, dir, 'session.md'), 'utf8');
    for (const told of [text, summary])
      assert.match(told, /Conflict markers remain in 1 file: b\.txt\. Resolve/);
    assert.equal(await scene.state(), 'BLOCKED');
    assert.equal((await scene.post('conflicts/apply')).body.code, 'markers_remain');
  });

  it('starts one session, also when the daemon died before it had answered', async (t) => {
    const { running, item } = await conflicted(t);
    const path = `/api/cases/${item.id}/conflicts/resolve-with-agent`;
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
    const send = () => running.call<Session>('POST', path, {}, headers);
    const first = await send();
    forgetAnswer(running.workspace, 'k');
    const again = await send();
    assert.deepEqual([again.status, again.body.id], [202, first.body.id], again.text);
    const { body } = await running.call<Session[]>('GET', `/cases/${item.id}/sessions`);
    assert.equal(body.length, 1);
  });

  it('is one at a time, and neither apply nor abort comes in between', async (t) => {
    const scene = await conflicted(t);
    const answers = await Promise.all([scene.resolve(), scene.resolve({})]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [202, 409]);
    const [begun] = answers.flatMap(({ status, body }) => (status === 202 ? [body.id] : []));
    await scene.until(begun ?? '', 'plan_ready');
    for (const what of ['apply', 'abort', 'push-rebased', 'resolve-with-agent']) {
      const refused = await scene.post(`conflicts/${what}`);
      assert.deepEqual([refused.status, refused.body.code], [409, 'session_active'], what);
    }
    await scene.running.call('POST', `/api/cases/${scene.item.id}/session/abort`);
    assert.equal(await scene.state(), 'BLOCKED');
    assert.equal((await scene.post('conflicts/abort')).status, 200);
    assert.equal(await scene.state(), 'OPEN');
  });

  it('starts as soon as there is a place, and before what waited for the worktree already', async (t) => {
    const scene = await conflicted(t, 'max_sessions: 1');
    const { running, item } = scene;
    await scene.post('conflicts/abort');
    const { body: other } = await running.call<Case>('POST', '/cases', { title: 'O', type: 'bug' });
    const busy = `/cases/${other.id}/sessions`;
    await running.call('POST', busy, { type: 'implementing', provider: 'manual' });
    const at = `/cases/${item.id}/sessions`;
    const earlier = await running.call<Session>('POST', at, { type: 'implementing' });
    assert.equal(earlier.body.status, 'queued', earlier.text);
    await scene.post('pr/rebase');
    const { body, text } = await scene.resolve();
    assert.equal(body.status, 'queued', text);
    const second = await scene.resolve();
    assert.deepEqual([second.status, second.body.code], [409, 'session_active']);
    await running.call('POST', `/api/cases/${other.id}/session/abort`);
    await scene.until(body.id, 'plan_ready');
    await scene.until(earlier.body.id, 'queued');
    await running.call('POST', `/api/cases/${item.id}/session/abort`);
    assert.equal((await scene.post('conflicts/abort')).status, 200);
    await scene.until(earlier.body.id, 'plan_ready');
  });

  it('fails when an agent goes on with the rebase by itself, and an abort brings all back', async (t) => {
    // Where an agent is held by the operating system, it cannot: here nothing holds it.
    const scene = await conflicted(t, 'sandbox: off');
    const original = (await scene.history())[0]?.orig_head;
    const { body, text } = await scene.resolve();
    assert.ok(body.id, text);
    const go = 'git -c user.name=A -c user.email=a@b -c core.editor=true rebase --continue';
    await scene.approve(body.id, `echo x > a.txt; echo x > b.txt; git add -A; ${go}`);
    const ended = await scene.until(body.id, 'failed');
    assert.match(ended.error ?? '', /continued or ended the rebase itself/);
    assert.equal((await scene.history())[0]?.step, 'interrupted');
    assert.equal((await scene.post('conflicts/abort')).status, 200);
    assert.equal(scene.git('rev-parse', 'HEAD').trim(), original);
  });

  it('puts back what an agent staged that nothing holds, and says so', async (t) => {
    const scene = await conflicted(t, 'sandbox: off');
    const { body } = await scene.resolve();
    await scene.approve(
      body.id,
      'echo both > a.txt; rm b.txt; git add -A; echo new > c.txt; git add c.txt',
    );
    await scene.until(body.id, 'completed');
    assert.equal(unmerged(scene), 'a.txt\nb.txt\n');
    assert.match(scene.git('status', '--porcelain'), /^\?\? c\.txt$/m);
    assert.match(
      (await scene.history())[0]?.log ?? '',
      /The agent staged files\. They were unstaged/,
    );
    const stream = `/cases/${scene.item.id}/sessions/${body.id}/stream`;
    const events = await scene.running.call('GET', stream, undefined, {
      accept: 'application/json',
    });
    assert.match(events.text, /The agent staged files/);
    const done = await scene.post('conflicts/apply');
    assert.equal(done.body.status, 'clean', done.text);
    assert.equal(scene.git('status', '--porcelain'), '?? c.txt\n');
  });

  it('tells the agent the conflict, in Plan mode and in Work mode', async (t) => {
    const settings =
      'providers:\n  tell: { kind: command, plan: [cat], work: [cat], output: text }';
    const scene = await conflicted(t, settings);
    const { body, text } = await scene.resolve({ provider: 'tell' });
    assert.ok(body.id, text);
    await scene.until(body.id, 'plan_ready');
    const path = `/cases/${scene.item.id}/sessions/${body.id}/plan`;
    const plan = (await scene.running.call('GET', path)).text;
    assert.match(plan, /## The conflict\n\nThe branch work\/\S+ is being rebased onto main\./);
    assert.match(plan, /both_modified {2}a\.txt\nboth_modified {2}b\.txt/);
    assert.match(plan, /\+\+<<<<<<< HEAD/);
    assert.match(plan, /Stage and commit nothing/);
  });

  it('is refused where there is nothing to resolve', async (t) => {
    const scene = await conflicted(t);
    scene.git('checkout', '--ours', '--', 'a.txt', 'b.txt');
    scene.git('add', 'a.txt', 'b.txt');
    const staged = await scene.resolve();
    assert.deepEqual([staged.status, staged.body.code], [422, 'invalid_state']);
    await scene.post('conflicts/abort');
    const session = await scene.running.call<Answer>('POST', `/cases/${scene.item.id}/sessions`, {
      type: 'conflict',
    });
    const answers = [await scene.resolve(), session, await scene.resolve({ provider: 3 })];
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.code]),
      [
        [422, 'invalid_state'],
        [422, 'invalid_state'],
        [400, 'bad_request'],
      ],
    );
  });
});
