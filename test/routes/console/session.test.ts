import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { connect } from '../../../lib/client/client.ts';
import { assertAccessible, assertFits, look, noBrowser } from '../../helpers/browser.ts';
import { untilLive } from '../../helpers/chromium.ts';
import { startDaemon } from '../../helpers/daemon.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { writeEndedSession } from '../../helpers/ended-session.ts';
import { eventually, until } from '../../helpers/eventually.ts';
import { NOBODY } from '../../helpers/nobody.ts';
import { makeRepository, temporaryDirectory, writeFiles } from '../../helpers/repository.ts';
import { withAgent } from '../../helpers/sessions.ts';

interface Wish {
  /** Of the small agent; without one the description is run. */
  behaviour?: string;
  description?: string;
  questions?: object[];
  /** Its daemon is a process of its own, which can be killed. */
  isApart?: boolean;
}

/** A daemon with one Work item and one session of it. */
const start = async (t: TestContext, wish: Wish = {}) => {
  const { behaviour, description = '```sh\necho done\n```\n', questions = [], isApart } = wish;
  const { root } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
  const workspace = temporaryDirectory(t);
  // A daemon of this process takes what calls it for a run of its own, where no sandbox tells them apart.
  const { settings, env } = withAgent(t, behaviour ?? 'plan', isApart === true ? 'off' : 'auto');
  // In the sandbox there is another /tmp.
  const lines = behaviour === undefined ? 'sandbox: off' : settings;
  writeFileSync(join(workspace, 'workspace.md'), `---\n${lines}\n---\n`);
  writeFiles(join(env?.HOME ?? '', '.test-agent'), { 'questions.json': JSON.stringify(questions) });
  const args = ['--workspace', workspace, '--repo', root];
  const own = { HOME: env?.HOME ?? '' };
  const apart = isApart === true ? await startDaemon(t, args, own) : undefined;
  const daemon = apart ?? (await startHere(t, args, own));
  const dossier = connect({ url: daemon.url });
  const body = { title: 'Say hello', type: 'chore', description } as const;
  const item = await dossier.call('POST /cases', { body });
  const { id } = item;
  const { id: sid } = await dossier.call('POST /cases/{id}/sessions', {
    id,
    body: { type: 'implementing' },
  });
  const session = () => dossier.call('GET /cases/{id}/sessions/{sid}', { id, sid });
  const is = (status: string) =>
    eventually(async () => assert.equal((await session()).status, status));
  const approve = async () => {
    await is('plan_ready');
    await dossier.call('POST /cases/{id}/sessions/{sid}/approve', { id, sid });
  };
  const again = () => {
    const { port } = new URL(daemon.url);
    return startDaemon(t, [...args, '--port', port], own);
  };
  const at = `${daemon.url}/dashboard/cases/${id}/sessions/${sid}`;
  const kill = () => apart?.end('SIGKILL');
  return { kill, dossier, workspace, item, id, sid, session, is, approve, again, at };
};

const BLOCKS = (dir: string): string =>
  ['first', 'second']
    .map(
      (name) =>
        `\`\`\`sh\nprintf '${name} said'\nuntil test -e "${join(dir, name)}"; do sleep 0.02; done\n\`\`\`\n`,
    )
    .join('\n');

const status = (page: Page) => page.locator('.session > .line .tag');

/** Text of what happened, as it is seen. */
const log = async (page: Page): Promise<string> => (await page.locator('.log').textContent()) ?? '';

describe('the page of a session', { skip: noBrowser }, () => {
  it('has what happens while it happens, over a reload and a restart of the daemon', async (t) => {
    const signs = temporaryDirectory(t);
    const { at, approve, kill, again, is } = await start(t, {
      description: BLOCKS(signs),
      isApart: true,
    });
    const { page } = await look(t, at);
    await approve();
    const calls = page.locator('.entry.call');
    await calls.first().getByText('Running').waitFor();
    await calls.first().locator('summary').click();
    await calls.first().locator('pre').getByText('first said').waitFor();
    writeFileSync(join(signs, 'first'), '');
    await calls.nth(1).getByText('Running').waitFor();
    await calls.first().getByText('Completed').waitFor();
    await page.reload();
    await calls.nth(1).getByText('Running').waitFor();
    assert.equal(await calls.count(), 2);
    await kill();
    await again();
    await page.getByText('The session was interrupted. All changes are kept.').waitFor();
    // Without a click: to resume alone is refused.
    await page.getByRole('button', { name: 'Run block again' }).click();
    await eventually(async () => assert.equal(await status(page).textContent(), 'Working'));
    writeFileSync(join(signs, 'second'), '');
    await page.getByText('The session is completed.').waitFor();
    await is('completed');
    await until(async () => (await page.getByText('The session has ended.').count()) === 1);
    assert.equal((await log(page)).split('Approved by').length, 2);
    assert.equal((await log(page)).split('The session is completed.').length, 2);
  });

  it('says that its stream is refused, and asks for it again', async (t) => {
    const { at, approve } = await start(t);
    const { page } = await look(t, at);
    const full = { title: 'Too many requests', status: 429, detail: 'Too many streams are open.' };
    let refusals = 1;
    await page.route('**/stream?*', (route) =>
      refusals-- > 0 ? route.fulfill({ status: 429, json: full }) : route.fallback(),
    );
    await page.reload();
    await page.locator('.foot').getByText(full.detail).waitFor();
    await approve();
    await page.locator('.log').getByText('The session is completed.').waitFor();
  });

  it('follows no session of another machine', async (t) => {
    const { at, is, session, workspace } = await start(t, { behaviour: 'plan' });
    await is('plan_ready');
    const file = join(workspace, (await session()).path, 'session.md');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/^machine: .*$/m, `machine: ${NOBODY}`));
    await eventually(async () => assert.equal((await session()).elsewhere, true));
    const { page, complaints } = await look(t, at);
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('/stream') && asked.push(request.url()));
    await page.reload();
    await page.getByText('This session runs on another machine.').waitFor();
    await untilLive(page);
    assert.deepEqual([asked, complaints], [[], []]);
  });

  it('has a box for messages, which are in the log, and beside the diff', async (t) => {
    const { at, is, approve, sid } = await start(t, { behaviour: 'work-hang' });
    await approve();
    await is('working');
    const { page } = await look(t, at);
    await page.getByText('At work.').waitFor();
    const box = page.getByLabel('Message to the agent; sending it approves it');
    const typeMore = async (route: Route) => {
      await box.fill('Typed while the first is sent.');
      await box.press('Enter');
      await route.continue();
    };
    await page.route('**/messages', typeMore, { times: 1 });
    await box.fill('Keep the old name too.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.log').getByText('You: Keep the old name too.').waitFor();
    await page.locator('.log').getByText('Your message was delivered to the agent.').waitFor();
    await assertAccessible(page);
    // It has done nothing.
    await is('failed');
    await page.goto(`${at}/diff`);
    await page.locator('.messages').getByText('Keep the old name too.').waitFor();
    await assertAccessible(page);
    await page.goto(at);
    const next = page.getByLabel('What to do next');
    await page.getByText('Your unsent text was restored.').waitFor();
    assert.equal(await next.inputValue(), 'Typed while the first is sent.');
    await next.fill('Now the docs.');
    await page.getByRole('button', { name: 'Start session' }).click();
    await until(async () => !page.url().includes(sid));
  });

  it('keeps a message over the end of the session, and no choice that meant something else', async (t) => {
    const { at, id, is, approve, dossier } = await start(t, { behaviour: 'work-hang' });
    await approve();
    await is('working');
    const { page } = await look(t, at);
    const box = page.getByRole('textbox');
    await box.fill('Keep the old name too.');
    await page.getByLabel('Interrupt').check();
    await dossier.call('POST /api/cases/{id}/session/abort', { id });
    await page.getByRole('button', { name: 'Start session' }).waitFor();
    assert.equal(await box.inputValue(), 'Keep the old name too.');
    assert.equal(await page.getByLabel('Use it as the approved plan').isChecked(), false);
  });

  it('has leave asked for, and given by keyboard', async (t) => {
    const { at, is, approve } = await start(t, { behaviour: 'permission' });
    await approve();
    const { page, complaints } = await look(t, at);
    await page.locator('.asks').getByText('npm test').first().waitFor();
    await page.getByText('Waiting for you, since').waitFor();
    await assertAccessible(page);
    await page.keyboard.press('j');
    await page.keyboard.press('1');
    await is('completed');
    await page.locator('.asks').waitFor({ state: 'detached' });
    await page.locator('.was-asked').getByText('by you').waitFor();
    assert.deepEqual(complaints, []);
  });

  it('has a question answered by keyboard', async (t) => {
    const properties = { base: { type: 'string', title: 'Database' } };
    const requestedSchema = { type: 'object', properties, required: ['base'] };
    const questions = [{ message: 'Which database?', requestedSchema }];
    const { at, is } = await start(t, { behaviour: 'asks', questions });
    const { page } = await look(t, at);
    await page.getByLabel('Database').focus();
    await page.keyboard.type('sqlite');
    await page.keyboard.press('Enter');
    await is('plan_ready');
    await page.locator('.was-asked').getByText('"base":"sqlite"').waitFor();
  });

  it('is paused, resumed and aborted by keyboard; an abort is asked about first', async (t) => {
    const { at, approve, is, session } = await start(t, { behaviour: 'work-hang' });
    const { page, complaints } = await look(t, at);
    await approve();
    await page.locator('.entry.thought').getByText('At work.').waitFor();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.keyboard.press('p');
    await page.getByText('You paused the session.').waitFor();
    await page.keyboard.press('r');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    assert.equal(await page.getByRole('textbox').count(), 1);
    await page.keyboard.press('y');
    await page.keyboard.press('x');
    await page.getByText('The session ends for good.').waitFor();
    await page.keyboard.press('x');
    const aborts: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/session/abort')) aborts.push(request.url());
    });
    await page.keyboard.press('y');
    await page.evaluate(() => new Promise(requestAnimationFrame));
    assert.deepEqual([aborts, (await session()).status], [[], 'working']);
    // The second key is pressed before the page has drawn anything.
    await page.evaluate(() => {
      for (const key of ['x', 'y'])
        document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    });
    await is('aborted');
    await page.getByText('The session is aborted.').waitFor();
    assert.equal(aborts.length, 1);
    assert.deepEqual(complaints, []);
  });

  it('of one that is queued beside another aborts that one alone', async (t) => {
    const { at, is, dossier, id, sid } = await start(t, { behaviour: 'plan' });
    await is('plan_ready');
    const body = { type: 'implementing' };
    const queued = await dossier.call('POST /cases/{id}/sessions', { id, body });
    assert.equal(queued.status, 'queued');
    const { page, complaints } = await look(t, at.replace(sid, queued.id));
    await page.getByText('Abort', { exact: true }).click();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Abort session' }).click();
    await page.getByText('The session is aborted.').waitFor();
    await page.getByText('Abort', { exact: true }).waitFor({ state: 'detached' });
    await is('plan_ready');
    assert.deepEqual(complaints, []);
  });

  it('has manual work said to be done by keyboard, and the old page of another session stops nothing', async (t) => {
    const { at, is, dossier, id, sid, session } = await start(t, { behaviour: 'plan' });
    await is('plan_ready');
    // Nothing that happens reaches a page without scripts.
    const { page: old } = await look(t, at, { javaScriptEnabled: false });
    await dossier.call('POST /api/cases/{id}/session/abort', { id, body: { session_id: sid } });
    const { id: next } = await dossier.call('POST /cases/{id}/sessions', {
      id,
      body: { type: 'implementing', provider: 'manual' },
    });
    const other = () => dossier.call('GET /cases/{id}/sessions/{sid}', { id, sid: next });
    const wait = (status: string) =>
      eventually(async () => assert.equal((await other()).status, status));
    await wait('planning');
    await old.getByText('Abort', { exact: true }).click();
    await old.getByRole('button', { name: 'Abort session' }).click();
    await old.getByText('Another session of the Work item is active').waitFor();
    assert.equal((await other()).status, 'planning');
    assert.equal((await session()).status, 'aborted');
    await dossier.call('PUT /cases/{id}/sessions/{sid}/plan', { id, sid: next, body: 'By hand.' });
    await wait('plan_ready');
    await dossier.call('POST /cases/{id}/sessions/{sid}/approve', { id, sid: next });
    const { page, complaints } = await look(t, at.replace(sid, next));
    await page.getByRole('button', { name: 'Finish' }).waitFor();
    await page.keyboard.press('f');
    await wait('completed');
    await page.getByText('The session is completed.').waitFor();
    await page.getByRole('button', { name: 'Finish' }).waitFor({ state: 'detached' });
    assert.deepEqual(complaints, []);
  });

  it('has thoughts, words, calls with what they changed, and use; the same after a reload and a kill', async (t) => {
    const { at, approve, kill, again, is } = await start(t, {
      behaviour: 'shows-all',
      isApart: true,
    });
    const { page, complaints } = await look(t, at);
    await approve();
    await page.getByText('Waiting for its model').waitFor();
    const whole = async (): Promise<string> => {
      await page.locator('.entry.call').getByText('failed').waitFor();
      const folded = page.locator('.entry details:not([open]) > summary');
      await folded.evaluateAll((all) => {
        for (const one of all) (one as HTMLElement).click();
      });
      const empty = page.locator('.entry details:not(:has(summary + *))');
      await until(async () => (await empty.count()) === 0);
      return log(page);
    };
    const text = await whole();
    for (const part of ['I look at it.', 'I change a.txt.', '-one', '+two', 'it broke'])
      assert.ok(text.includes(part), part);
    assert.match((await page.locator('.usage').textContent()) ?? '', /\$0\.25/);
    assert.match((await page.locator('.standing').textContent()) ?? '', /since \d\d:\d\d:\d\d UTC/);
    await page.reload();
    assert.equal(await whole(), text);
    await kill();
    await page.getByText('The daemon does not respond').waitFor();
    assert.equal(await log(page), text);
    await again();
    await is('paused');
    await page.getByText('The session was interrupted. All changes are kept.').waitFor();
    assert.ok((await whole()).startsWith(text));
    assert.equal(await page.getByRole('textbox').count(), 1);
    assert.deepEqual(
      complaints.filter((one) => !/ERR_CONNECTION|Failed to load|ERR_INCOMPLETE/.test(one)),
      [],
    );
  });

  it('has the failed command in one box, with its output', async (t) => {
    const { approve, is, at } = await start(t, { description: '```sh\necho oh no; exit 3\n```\n' });
    await approve();
    await is('failed');
    const { page } = await look(t, at);
    await page.getByText('1 of 1 approved command failed').waitFor();
    assert.equal(await page.locator('.box.error').count(), 1);
    await page.locator('.log').getByText('The session is failed.', { exact: true }).waitFor();
  });

  it('has a plan sent back by keyboard', async (t) => {
    const { at, is, session } = await start(t, { behaviour: 'echo' });
    await is('plan_ready');
    const { page, complaints } = await look(t, at);
    await page.keyboard.press('w');
    await page.keyboard.type('Two files, please.');
    await page.keyboard.press('Enter');
    await page.getByText('Two files, please.').first().waitFor();
    await is('plan_ready');
    assert.equal((await session()).mode, 'plan');
    assert.deepEqual(complaints, []);
  });

  it('goes through what happened by keyboard, from the newest back, and unfolds it', async (t) => {
    const { at, is } = await start(t, { behaviour: 'plan' });
    await is('plan_ready');
    const { page } = await look(t, at);
    const rows = page.locator('.log [data-row]');
    const atHand = () => rows.evaluateAll((all) => all.indexOf(document.activeElement as never));
    const count = await rows.count();
    assert.ok(count > 2);
    await page.keyboard.press('k');
    assert.equal(await atHand(), count - 1);
    await page.keyboard.press('k');
    assert.equal(await atHand(), count - 2);
    await page.keyboard.press('j');
    assert.equal(await atHand(), count - 1);
    while (
      (await rows
        .nth(await atHand())
        .locator('summary')
        .count()) === 0
    )
      await page.keyboard.press('k');
    const open = rows.nth(await atHand()).locator('details');
    await page.keyboard.press('o');
    assert.equal(await open.getAttribute('open'), '');
    await page.keyboard.press('o');
    assert.equal(await open.getAttribute('open'), null);
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Unfold').waitFor();
    await page.keyboard.press('Escape');
    await assertAccessible(page);
  });

  it('is whole without scripts: a plan is sent back by a plain form, and what is refused is told', async (t) => {
    const { at, is, dossier, id, session } = await start(t, { behaviour: 'plan' });
    await is('plan_ready');
    const { page } = await look(t, at, { javaScriptEnabled: false, size: 'narrow' });
    assert.match(await log(page), /Let me look first\..*The plan is ready/s);
    await page.getByLabel('Changes to make').fill('Two files.');
    await Promise.all([
      page.waitForEvent('load'),
      page.getByRole('button', { name: 'Request changes' }).click(),
    ]);
    await is('plan_ready');
    await page.reload();
    assert.equal((await log(page)).split('The plan is ready').length, 3);
    await dossier.call('POST /api/cases/{id}/session/abort', { id });
    await page.getByLabel('Changes to make').fill('Three files.');
    await page.getByRole('button', { name: 'Request changes' }).click();
    await page.getByRole('alert').waitFor();
    assert.equal((await session()).status, 'aborted');
  });

  it('shows what is hostile as text', async (t) => {
    const { at, dossier, workspace, id, session } = await start(t);
    const { path } = await session();
    await dossier.call('POST /api/cases/{id}/session/abort', { id });
    const bad = '<script>window.hit=1</script><img src=x onerror="window.hit=1">';
    const output = `\u001b[31mred\u001b[0m \u202e\u0007\u009b2J${bad}`;
    const long = `\u202e${'L'.repeat(5 * 1024 * 1024)}`;
    const call = { tool_call_id: 'c', title: `${bad}\u202e`, kind: 'execute', status: 'completed' };
    const diffs = [{ path: bad, old_text: 'one\ntwo\n', new_text: `one\n${bad}\n` }];
    const told: [string, object][] = [
      ['message', { text: `${bad} [x](javascript:window.hit=1) \u202e` }],
      ['tool_call', { ...call, output, locations: [bad], diffs }],
      ['thought', { text: bad }],
      ['error', { message: `${bad}\u202e` }],
      ['agent_event', { kind: bad, raw: { bad } }],
      ['message', { text: long }],
      ['tool_call', { ...call, tool_call_id: 'l', output: long }],
      ['complete', { status: 'aborted', error: bad }],
    ];
    const lines = told.map(([event, data], n) =>
      JSON.stringify({ id: n + 1, event, data: { ...data, at: '2026-01-01T00:00:00.000Z' } }),
    );
    writeFileSync(join(workspace, path, 'events.ndjson'), `${lines.join('\n')}\n`);
    const { page, complaints } = await look(t, at, { size: 'narrow' });
    for (const summary of await page.locator('.entry summary').all()) await summary.click();
    const text = await log(page);
    for (const hidden of ['\u202e', '\u001b', '\u0007', '\u009b'])
      assert.ok(!text.includes(hidden));
    for (const seen of ['⟦U+202E⟧', 'red']) assert.ok(text.includes(seen));
    assert.match(text, /characters are left out here/);
    assert.match((await page.locator('.diff-lines del').textContent()) ?? '', /^-two$/);
    assert.equal(await page.locator('.log img, .log script, .log a[href^=java]').count(), 0);
    assert.equal(await page.evaluate('window.hit'), undefined);
    await assertFits(page);
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Show all' }).last().click();
    await until(async () => (await log(page)).includes('L'.repeat(5 * 1024 * 1024)));
    assert.deepEqual(complaints, []);
  });

  it('stays small whatever has happened, and goes back and forth in it', async (t) => {
    const { at, sid, dossier, workspace, item, id } = await start(t);
    const dir = join(workspace, item.path);
    const long = await writeEndedSession(dir, id, 20_000);
    const other = at.replace(sid, long);
    await until(async () => {
      const all = await dossier.call('GET /cases/{id}/sessions', { id });
      return all.some((one) => one.id === long);
    });
    const events = Array.from({ length: 20_000 }, (_, n) => {
      const call = { tool_call_id: `c${n}`, title: `call ${n + 1}`, kind: 'read' };
      const data = { ...call, status: 'completed', at: '2026-01-01T00:00:00.000Z' };
      return JSON.stringify({ id: n + 1, event: 'tool_call', data });
    });
    const folder = `2026-01-01T00-00-00Z-${long.slice(0, 8)}`;
    writeFileSync(join(dir, 'sessions', folder, 'events.ndjson'), `${events.join('\n')}\n`);
    const { page } = await look(t, other);
    const size = () => page.evaluate('document.querySelectorAll("*").length') as Promise<number>;
    const untilSeen = (n: number) => page.getByText(`call ${n}`, { exact: true }).waitFor();
    await untilSeen(20_000);
    const first = Number((await page.locator('.entry code').first().textContent())?.slice(5));
    assert.ok((await size()) <= 3000 && first < 20_000);
    await page.getByRole('link', { name: 'Show earlier' }).click();
    await untilSeen(first - 1);
    assert.ok((await size()) <= 3000);
    await page.keyboard.press('e');
    await untilSeen(20_000);
    assert.ok((await size()) <= 3000);
    await page.goto(`${other}?before=${first}`);
    await untilSeen(first - 1);
    await page.keyboard.press('e');
    await untilSeen(20_000);
    assert.ok((await size()) <= 3000);
    const { page: still } = await look(t, other, { javaScriptEnabled: false });
    assert.ok((await still.locator('*').count()) <= 3000);
    await still.getByRole('link', { name: 'Show earlier' }).click();
    assert.equal(await still.getByText('call 20000', { exact: true }).count(), 0);
    await still.getByRole('link', { name: 'Newest' }).click();
    await still.getByText('call 20000', { exact: true }).waitFor();
  });

  it('follows the end until one scrolls up, and again when one wants', async (t) => {
    const { at } = await start(t, { behaviour: 'chatter' });
    const { page } = await look(t, at, { viewport: { width: 1280, height: 500 } });
    const box = page.locator('.log');
    const above = () => box.evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight);
    await until(
      async () => (await box.evaluate((one) => one.scrollHeight - one.clientHeight)) > 100,
    );
    await until(async () => (await above()) < 40);
    const newest = page.getByRole('button', { name: 'Jump to newest' });
    // As a hand goes on turning the wheel while more comes.
    await until(async () => {
      await box.evaluate((one) => one.scrollTo(0, 0));
      return newest.isVisible();
    });
    await newest.click();
    await until(async () => (await above()) < 40);
  });
});
