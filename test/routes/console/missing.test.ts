import assert from 'node:assert/strict';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { connect } from '../../../lib/client/client.ts';
import { assertAccessible, look, noBrowser, openTab } from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { eventually } from '../../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

const OF_ITEM = ['', '/proof', '/pr', '/conflicts', '/trace'];
const OF_SESSION = ['', '/plan', '/diff'];

const start = async (t: TestContext) => {
  const { root } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
  const workspace = temporaryDirectory(t);
  const daemon = await startHere(t, ['--workspace', workspace, '--repo', root]);
  const dossier = connect({ url: daemon.url });
  const body = { title: 'The item', type: 'bug', description: '```sh\necho\n```\n' } as const;
  const { id, path } = await dossier.call('POST /cases', { body });
  const { id: sid } = await dossier.call('POST /cases/{id}/sessions', {
    id,
    body: { type: 'implementing' },
  });
  const session = () => dossier.call('GET /cases/{id}/sessions/{sid}', { id, sid });
  await eventually(async () => assert.equal((await session()).status, 'plan_ready'));
  const at = `${daemon.url}/dashboard/cases/${id}`;
  const pages = [
    ...OF_ITEM.map((tab) => at + tab),
    ...OF_SESSION.map((tab) => `${at}/sessions/${sid}${tab}`),
  ];
  const dir = join(workspace, path);
  const folder = join(workspace, (await session()).path);
  // Of a session's record a sweep tells within a minute: any news of the item is as good.
  const tell = (title: string) => dossier.call('PUT /cases/{id}', { id, body: { title } });
  return { dossier, id, sid, tell, at, pages, dir, folder, of: `${at}/sessions/${sid}` };
};

/** What a page asks once it is followed is over: nothing was answered for a while. */
const atRest = async (page: Page) => {
  await page.locator('html[data-live]').waitFor();
  let last = Date.now();
  const answered = () => {
    last = Date.now();
  };
  page.on('response', answered);
  await eventually(() => assert.ok(Date.now() - last > 500));
  page.off('response', answered);
};

describe('a page whose Work item is gone', { skip: noBrowser }, () => {
  it('says so while it is open, and goes on once it is back', async (t) => {
    const { at, of, dir, id } = await start(t);
    const away = join(temporaryDirectory(t), 'away');
    for (const url of [at, `${at}/proof`, of]) {
      const { page } = await look(t, url);
      const refused: string[] = [];
      page.on(
        'response',
        (one) => one.status() === 404 && refused.push(new URL(one.url()).pathname),
      );
      await atRest(page);
      renameSync(dir, away);
      const told = page.getByRole('alert').filter({ hasText: 'The Work item does not exist.' });
      await told.waitFor();
      await told.getByText('The last known state is shown below.').waitFor();
      assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1);
      // The browser lists each as a failure: what was being asked as it went is asked no second time.
      const others = refused.filter((path) => path !== `/cases/${id}`);
      assert.deepEqual(others, [...new Set(others)]);
      assert.ok(refused.includes(`/cases/${id}`) || url !== at);
      await assertAccessible(page);
      renameSync(away, dir);
      await told.waitFor({ state: 'detached' });
      await page.context().close();
    }
  });

  it('says so on each of its pages, without scripts too, and leads to the others', async (t) => {
    const { at, pages, dossier, id, dir } = await start(t);
    const { page, browser } = await look(t, `${at}/trace`);
    await dossier.call('POST /api/cases/{id}/session/abort', { id });
    await dossier.call('DELETE /cases/{id}', { id, query: { force: true } });
    await page.getByText('The Work item does not exist.').waitFor();
    rmSync(dir, { recursive: true, force: true });
    const { page: plain } = await openTab(browser, at, {
      javaScriptEnabled: false,
      size: 'narrow',
    });
    for (const url of pages) {
      const answer = await plain.goto(url);
      assert.equal(answer?.status(), 404, url);
      await plain.getByRole('heading', { name: 'The Work item does not exist' }).waitFor();
      await plain.getByRole('link', { name: 'All Work items' }).waitFor();
    }
    const { page: other, complaints } = await openTab(browser, pages[0] ?? '');
    await assertAccessible(other);
    assert.deepEqual(
      complaints.filter((one) => !one.includes('404')),
      [],
    );
  });
});

describe('an address of the console without a page', () => {
  it('is 404 with the navigation and a way on, and what was typed is shown as text', async (t) => {
    const { url } = await startHere(t, ['--workspace', temporaryDirectory(t)]);
    for (const path of ['/dashboard/nosuch', '/dashboard/cases/x/nosuch', '/dashboard/%3Cb%3E']) {
      const answer = await fetch(url + path);
      const html = await answer.text();
      assert.equal(answer.status, 404);
      assert.match(html, /<h1>The page does not exist<\/h1>/);
      assert.match(html, /<a href="\/dashboard\/board">All Work items<\/a>/);
      assert.match(html, /<a href="\/dashboard\/settings" data-key="g s">Settings<\/a>/);
      assert.doesNotMatch(html, /<b>|<script/);
    }
  });
});

describe('a page whose session is gone, or cannot be read', { skip: noBrowser }, () => {
  it('names the file and the line on all pages of the item, and goes on once it is mended', async (t) => {
    const { at, pages, of, folder, tell } = await start(t);
    const record = join(folder, 'session.md');
    const text = readFileSync(record, 'utf8');
    const { page, browser } = await look(t, of);
    writeFileSync(record, `---\nid: [\n${text.slice(4)}`);
    await tell('It broke');
    const told = page.getByRole('alert').filter({ hasText: 'A file cannot be read' });
    await told.getByText(/session\.md:\d+/).waitFor();
    const { page: plain } = await openTab(browser, at, { javaScriptEnabled: false });
    for (const url of pages) {
      await plain.goto(url);
      await plain
        .getByText(/\/session\.md:\d+/)
        .first()
        .waitFor();
      await plain
        .getByText(/Fix the file in an editor/)
        .first()
        .waitFor();
    }
    const { page: second } = await openTab(browser, of);
    await second.getByRole('heading', { name: 'A file cannot be read' }).waitFor();
    writeFileSync(record, text);
    await tell('It is mended');
    await told.waitFor({ state: 'detached' });
    await second.getByRole('heading', { name: 'It is mended' }).waitFor();
    await eventually(async () => assert.match(await second.title(), /It is mended, implementing/));
  });

  it('says that it is gone, and leads to its Work item', async (t) => {
    const { at, of, folder, tell } = await start(t);
    const { page, browser } = await look(t, of);
    rmSync(folder, { recursive: true });
    await tell('It went');
    await page.getByText('The session does not exist.').waitFor();
    const { page: plain } = await openTab(browser, at, { javaScriptEnabled: false });
    for (const tab of OF_SESSION) {
      const answer = await plain.goto(of + tab);
      assert.equal(answer?.status(), 404, tab);
      await plain.getByRole('heading', { name: 'The session does not exist' }).waitFor();
    }
    await plain.getByRole('link', { name: 'Work item' }).click();
    await plain.getByRole('heading', { name: 'It went' }).waitFor();
  });
});
