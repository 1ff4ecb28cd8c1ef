/** What needs the operator: each kind says what it is and since when, and is answered, or led to, by keyboard. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { sweepWorkspace } from '../../../store/reconcile/sweep.ts';
import { ATTENTION_KINDS, type AttentionItem } from '../../../store/records/attention.ts';
import type { Session } from '../../../store/records/session.ts';
import { assertAccessible, look, noBrowser } from '../../helpers/browser.ts';
import { eventually } from '../../helpers/eventually.ts';
import { finished } from '../../helpers/finished.ts';
import { withHost } from '../../helpers/linked.ts';
import { openReceiver } from '../../helpers/receiver.ts';
import { writeFiles } from '../../helpers/repository.ts';
import { type Running, startForTest } from '../../helpers/service.ts';
import { withAgent, withCase } from '../../helpers/sessions.ts';
import { withPull } from '../../helpers/with-pull.ts';
import { rebaseScene } from '../../lib/work/conflicts/fixture.ts';

type Kind = AttentionItem['kind'];

interface Scene {
  running: Pick<Running, 'call' | 'url'>;
  /** Pressed in its row, one after the other. */
  keys: string[];
  /** Where that leads; else it is answered. */
  leads?: RegExp;
}

const ANSWERED = ['a'];
const listen = true;

const failed = async (t: TestContext): Promise<Scene> => {
  const it = await withCase(t, 'Fail:\n\n```sh\nexit 1\n```\n', { listen });
  await it.worked('failed');
  return { running: it.running, keys: ANSWERED };
};

const plan = async (t: TestContext): Promise<Scene> => {
  const it = await withCase(t, undefined, { listen });
  await it.planned();
  return { running: it.running, keys: ['p', 'a'] };
};

const permission = async (t: TestContext): Promise<Scene> => {
  const it = await withCase(t, 'Ask.', { ...withAgent(t, 'permission', 'auto'), listen });
  const { id } = await it.planned();
  await it.post(`/sessions/${id}/approve`);
  return { running: it.running, keys: ['1'] };
};

const question = async (t: TestContext): Promise<Scene> => {
  const options = withAgent(t, 'asks', 'auto');
  const asked = {
    message: 'Which\u202e?',
    requestedSchema: { properties: { port: { type: 'integer' } } },
  };
  writeFiles(join(options.env?.HOME ?? '', '.test-agent'), {
    'questions.json': JSON.stringify([asked]),
  });
  const it = await withCase(t, 'Ask.', { ...options, listen });
  await it.start();
  return { running: it.running, keys: ANSWERED };
};

const blocked = async (t: TestContext): Promise<Scene> => {
  const it = await withCase(t, undefined, { listen });
  const lock = `/api/worktrees/${it.item.id}/lock`;
  await it.running.call('POST', lock);
  await it.start();
  await it.running.call('PUT', `${it.at}/state`, { state: 'BLOCKED' });
  await it.running.call('DELETE', lock);
  return { running: it.running, keys: ANSWERED };
};

const paused = async (t: TestContext): Promise<Scene> => {
  const it = await withCase(t, '```sh\nsleep 100\n```\n', { listen });
  const { id } = await it.planned();
  await it.post(`/sessions/${id}/approve`);
  await it.untilEvent(id, 'tool_call');
  await it.running.restart();
  return { running: it.running, keys: ANSWERED };
};

const manual = async (t: TestContext): Promise<Scene> => {
  const it = await withCase(t, 'Text.', { settings: 'provider: manual', listen });
  const { id } = await it.start();
  await it.until(id, 'planning');
  return { running: it.running, keys: ANSWERED, leads: /\/sessions\/[^/]+\/plan$/ };
};

const conflict = async (t: TestContext): Promise<Scene> => {
  const { running, post } = await rebaseScene(t, {
    ...{ start: { 'a.txt': 'one\n' }, listen },
    ...{ base: [{ 'a.txt': 'base\n' }], branch: [{ 'a.txt': 'branch\n' }] },
  });
  await post('pr/rebase', {});
  return { running, keys: ANSWERED, leads: /\/conflicts$/ };
};

const reviewed = async (t: TestContext) => {
  const scene = await withPull(t, { listen });
  const comments = [{ path: 'src/a.ts', line: 2, body: 'Use three.' }];
  await scene.host.pulls.review(scene.number, { by: 'reviewer', comments });
  await scene.api('GET', 'pr/reviews');
  return scene;
};

const feedback = async (t: TestContext): Promise<Scene> => {
  const { api, running } = await reviewed(t);
  const { body } = await api<{ id: string }[]>('GET', 'pr/reviews?local=true');
  await api('POST', `pr/reviews/${encodeURIComponent(body[0]?.id ?? '')}/add-to-feedback`);
  return { running, keys: ANSWERED };
};

const sync = async (t: TestContext): Promise<Scene> => {
  const { imported, host, call, running } = await withHost(t, { listen });
  const one = await imported({ title: 'One' });
  await host.issues.edit(one.number, { title: 'Theirs' });
  await call('PUT', `/cases/${one.item.id}`, { title: 'Ours' });
  await one.sync();
  return { running, keys: ['r'] };
};

const webhook = async (t: TestContext): Promise<Scene> => {
  const running = await startForTest(t, { listen });
  const receiver = await openReceiver(t);
  const { body: item } = await running.call('POST', '/cases', { title: 'A', type: 'bug' });
  receiver.script(410);
  await running.call('POST', '/webhooks', { url: receiver.url });
  await running.call('PUT', `/cases/${item.id}`, { title: 'B' });
  return { running, keys: ANSWERED };
};

const trust = async (t: TestContext): Promise<Scene> => {
  const running = await startForTest(t, { trust: false, watch: true, listen });
  writeFileSync(join(running.workspace, 'workspace.md'), '---\nsandbox: off\n---\n');
  return { running, keys: ANSWERED };
};

const waiting = async (t: TestContext): Promise<Scene> => {
  const options = withAgent(t, 'deaf', 'auto');
  const settings = `${options.settings}\nlimits:\n  quiet_seconds: 0.2`;
  const it = await withCase(t, 'Do it.', { ...options, settings, listen });
  const { id } = await it.start();
  // First it waits for its agent.
  await eventually(async () => {
    const { body } = await it.running.call<Session>('GET', `${it.at}/sessions/${id}`);
    assert.equal(body.waiting?.for, 'model');
  });
  return { running: it.running, keys: ANSWERED, leads: new RegExp(`/sessions/${id}$`) };
};

const done = async (t: TestContext): Promise<Scene> => {
  const it = await withCase(t, undefined, { listen });
  await it.worked();
  return { running: it.running, keys: ANSWERED };
};

const overlap = async (t: TestContext): Promise<Scene> => {
  const running = await startForTest(t, { listen });
  for (const title of ['Mine', 'Yours']) await finished(running, title, { 'new.txt': title });
  return { running, keys: ANSWERED };
};

const held = async (t: TestContext): Promise<Scene> => {
  const it = await withCase(t, undefined, { listen });
  const { runs, store } = it.service;
  const run = runs.enter({ marker: randomUUID(), loopback: false, sandboxed: false });
  t.after(() => runs.leave(run));
  const file = join(it.workspace, it.item.path, 'case.md');
  writeFileSync(file, readFileSync(file, 'utf8').replace('OPEN', 'VERIFYING'));
  await sweepWorkspace(store);
  return { running: it.running, keys: ANSWERED };
};

const unreadable = async (t: TestContext): Promise<Scene> => {
  const it = await withCase(t, 'Text.', { watch: true, listen });
  const file = join(it.workspace, it.item.path, 'case.md');
  writeFileSync(file, readFileSync(file, 'utf8').replace('title:', 'title: ['));
  return { running: it.running, keys: ANSWERED, leads: /\/cases\/[^/]+$/ };
};

/** One of each: a kind that is new has to have its own. */
const SCENES: Readonly<Record<Kind, (t: TestContext) => Promise<Scene>>> = {
  ...{
    plan,
    done,
    waiting,
    permission,
    question,
    failed,
    blocked,
    paused,
    manual,
    conflict,
    overlap,
  },
  ...{ feedback, sync, webhook, held, trust, file: unreadable },
  review: async (t) => ({ running: (await reviewed(t)).running, keys: ANSWERED }),
};

describe('what waits, in the inbox', { skip: noBrowser }, () => {
  for (const kind of ATTENTION_KINDS)
    it(`is told and answered by keyboard: ${kind}`, async (t) => {
      const { running, keys, leads } = await SCENES[kind](t);
      const waiting = await eventually(async () => {
        const { body } = await running.call<AttentionItem[]>('GET', '/attention');
        const found = body.find((one) => one.kind === kind);
        assert.ok(found, JSON.stringify(body));
        return { ...found, count: body.length };
      });
      const { page, complaints } = await look(t, `${running.url}/dashboard`);
      const row = page.locator(`[data-row=${JSON.stringify(waiting.id)}]`);
      assert.equal(await row.locator('time').getAttribute('datetime'), waiting.since);
      assert.equal(await row.locator('.message').textContent(), waiting.message);
      assert.equal(await page.title(), `(${waiting.count}) Inbox · Dossier`);
      await assertAccessible(page);
      await row.focus();
      for (const key of keys) {
        await row.locator(`[data-key=${JSON.stringify(key)}]`).waitFor();
        await page.keyboard.press(key);
      }
      if (leads === undefined) await row.waitFor({ state: 'detached' });
      else await page.waitForURL(leads);
      assert.equal(await page.getByRole('alert').count(), 0);
      assert.deepEqual(complaints, []);
    });
});
