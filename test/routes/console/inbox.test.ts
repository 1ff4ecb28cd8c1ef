import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../lib/client/client.ts';
import {
  assertAccessible,
  assertFits,
  look,
  noBrowser,
  openBrowser,
  openTab,
} from '../../helpers/browser.ts';
import { untilLive } from '../../helpers/chromium.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

const start = async (t: TestContext) => {
  const { root } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
  const workspace = temporaryDirectory(t);
  const daemon = await startHere(t, ['--workspace', workspace, '--repo', root]);
  const dossier = connect({ url: daemon.url });
  const plan = async (title: string) => {
    const description = '```sh\necho done > done.txt\n```\n';
    const { id } = await dossier.call('POST /cases', { body: { title, type: 'bug', description } });
    const session = await dossier.call('POST /cases/{id}/sessions', {
      id,
      body: { type: 'implementing' },
    });
    const at = { id, sid: session.id };
    for await (const { event } of dossier.stream('GET /cases/{id}/sessions/{sid}/stream', at))
      if (event === 'plan_ready') break;
    return id;
  };
  return { daemon, workspace, dossier, plan, inbox: `${daemon.url}/dashboard` };
};

describe('the inbox', { skip: noBrowser }, () => {
  it('says what to do where nothing waits', async (t) => {
    const { inbox } = await start(t);
    const { page, complaints } = await look(t, inbox);
    await page.getByText('The inbox is empty.').waitFor();
    assert.equal(await page.title(), 'Inbox · Dossier');
    assert.deepEqual(complaints, []);
  });

  it('has what waits, oldest first, and hears of more by itself', async (t) => {
    const { inbox, plan } = await start(t);
    const { page, complaints } = await look(t, inbox);
    await page.getByText('The inbox is empty.').waitFor();
    await plan('The first');
    await page.getByRole('link', { name: 'The first' }).waitFor();
    await plan('The second');
    await page.getByRole('link', { name: 'The second' }).waitFor();
    assert.deepEqual(await page.locator('.row .title').allTextContents(), [
      'The first',
      'The second',
    ]);
    assert.equal(await page.title(), '(2) Inbox · Dossier');
    assert.match((await page.locator('.badge').textContent()) ?? '', /^2/);
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });

  it('is whole without scripts', async (t) => {
    const { inbox, plan } = await start(t);
    await plan('The first');
    const { page } = await look(t, inbox, { javaScriptEnabled: false });
    assert.equal(await page.getByRole('link', { name: 'The first' }).count(), 1);
  });

  it('has a plan read and approved in its row, by keyboard alone', async (t) => {
    const { inbox, plan, dossier } = await start(t);
    const id = await plan('The first');
    const { page, complaints } = await look(t, inbox);
    await page.keyboard.press('j');
    await page.keyboard.press('p');
    await page.getByText('echo done > done.txt').first().waitFor();
    await page.keyboard.press('a');
    await page.getByText('The inbox is empty.').waitFor();
    const [session] = await dossier.call('GET /cases/{id}/sessions', { id });
    assert.equal(session?.approved_by, 'operator');
    const done = page.locator('[aria-live=polite]').filter({ hasText: 'Approved.' });
    const activity = done.getByRole('link', { name: 'Show activity' });
    const href = await activity.getAttribute('href');
    assert.equal(href, `/dashboard/cases/${id}/sessions/${session?.id}`);
    await page.locator('h1:focus').waitFor();
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });

  it('has a plan sent back in its row, with what should be another way', async (t) => {
    const { inbox, plan, dossier } = await start(t);
    const id = await plan('The first');
    const { page } = await look(t, inbox);
    await page.getByText('Review plan').click();
    await page.getByText('echo done > done.txt').first().waitFor();
    await page.keyboard.press('r');
    await page.keyboard.type('Write two files.');
    const told = page.waitForResponse((answer) => answer.url().endsWith('/revise'));
    await page.keyboard.press('Enter');
    assert.equal((await told).status(), 200);
    const [session] = await dossier.call('GET /cases/{id}/sessions', { id });
    assert.equal(session?.status === 'planning' || session?.status === 'plan_ready', true);
  });

  it('says why something was refused, and leaves it as it was', async (t) => {
    const { inbox, plan, dossier } = await start(t);
    const id = await plan('The first');
    const { page } = await look(t, inbox);
    await page.route('**/attention', (route) => route.abort());
    await page.getByText('Review plan').click();
    await page.getByText('echo done > done.txt').first().waitFor();
    const [session] = await dossier.call('GET /cases/{id}/sessions', { id });
    const sid = session?.id ?? '';
    await dossier.call('PUT /cases/{id}/sessions/{sid}/plan', { id, sid, body: '# Another\n' });
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByRole('alert').getByText('The plan changed since you read it').waitFor();
    const after = await dossier.call('GET /cases/{id}/sessions/{sid}', { id, sid });
    assert.equal(after.status, 'plan_ready');
  });

  it('lists the keys of the page under ?, and goes through its rows by j and k', async (t) => {
    const { inbox, plan } = await start(t);
    await plan('The first');
    await plan('The second');
    const { page } = await look(t, inbox);
    await page.getByRole('link', { name: 'The second' }).waitFor();
    const atHand = () =>
      page.evaluate(() => document.activeElement?.querySelector('.title')?.textContent);
    await page.keyboard.press('j');
    assert.equal(await atHand(), 'The first');
    await page.keyboard.press('j');
    assert.equal(await atHand(), 'The second');
    await page.keyboard.press('k');
    assert.equal(await atHand(), 'The first');
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog');
    assert.match((await keys.textContent()) ?? '', /g iInbox, \d waitingg bBoard/);
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });
  });

  it('says that the daemon does not answer, and is right again when it does', async (t) => {
    const { inbox, plan, daemon, workspace } = await start(t);
    await plan('The first');
    const { page } = await look(t, inbox);
    await page.getByRole('link', { name: 'The first' }).waitFor();
    await daemon.end();
    await page.getByText('The daemon does not respond').waitFor();
    await page.getByRole('link', { name: 'The first' }).waitFor();
    const port = new URL(daemon.url).port;
    const again = await startHere(t, ['--workspace', workspace, '--port', port]);
    const dossier = connect({ url: again.url });
    const [{ id } = { id: '' }] = await dossier.call('GET /cases');
    await dossier.call('POST /api/cases/{id}/session/abort', { id });
    await page.getByText('The inbox is empty.').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  });

  it('hears of more where tabs can share nothing', async (t) => {
    const { inbox, plan } = await start(t);
    const browser = await openBrowser(t);
    const page = await (await browser.newContext()).newPage();
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
    await page.goto(inbox);
    await untilLive(page);
    await plan('The first');
    await page.getByRole('link', { name: 'The first' }).waitFor();
  });

  it('hears of more where the script that tabs share does not load', async (t) => {
    const { inbox, plan } = await start(t);
    const browser = await openBrowser(t);
    const page = await (await browser.newContext()).newPage();
    await page.addInitScript(() => {
      const { SharedWorker: Shared } = globalThis;
      // Of an earlier version of the daemon.
      globalThis.SharedWorker = class extends Shared {
        constructor(_url: string | URL, options?: string | WorkerOptions) {
          super('/dashboard/assets/gone.js', options);
        }
      };
    });
    await page.goto(inbox);
    await untilLive(page);
    await plan('The first');
    await page.getByRole('link', { name: 'The first' }).waitFor();
  });

  // A browser has six connections for a daemon: with one each, the seventh tab would hear nothing.
  it('keeps eight tabs live over one connection', async (t) => {
    const { inbox, plan } = await start(t);
    const { page, browser } = await look(t, inbox);
    const tabs = [page];
    for (let tab = 0; tab < 7; tab++) {
      const other = await page.context().newPage();
      await other.goto(inbox);
      tabs.push(other);
    }
    await plan('The first');
    for (const tab of tabs) await tab.getByRole('link', { name: 'The first' }).waitFor();
    const { page: elsewhere } = await openTab(browser, inbox);
    await elsewhere.getByRole('link', { name: 'The first' }).waitFor();
  });
});

describe('the inbox on a hand-held screen', { skip: noBrowser }, () => {
  it('has a plan read in its row by everybody', async (t) => {
    const { inbox, plan } = await start(t);
    await plan(
      'A title that is rather long, so that it has to find its place on a small page, too',
    );
    const { page, complaints } = await look(t, inbox, { size: 'narrow', colorScheme: 'dark' });
    await page.getByText('Review plan').click();
    await page.getByText('Step 1').first().waitFor();
    await assertAccessible(page);
    await assertFits(page);
    assert.deepEqual(complaints, []);
  });
});
