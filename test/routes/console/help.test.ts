import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it, type TestContext } from 'node:test';
import { assertAccessible, look, noBrowser } from '../../helpers/browser.ts';
import { DOSSIER } from '../../helpers/daemon.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

const start = async (t: TestContext) => {
  const daemon = await startHere(t, ['--workspace', temporaryDirectory(t)]);
  return `${daemon.url}/dashboard/help`;
};

describe('the help', { skip: noBrowser }, () => {
  it('is a key away, has the guides of dossier help, and opens them by keyboard', async (t) => {
    const help = await start(t);
    const { page, complaints } = await look(t, help.replace('/help', ''));
    await page.keyboard.press('?');
    assert.match((await page.getByRole('dialog').textContent()) ?? '', /g hHelp/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.waitForURL(help);
    const shown = await page.locator('.row .markdown').allTextContents();
    const told = spawnSync(process.execPath, [DOSSIER, 'help'], { encoding: 'utf8' }).stdout;
    assert.ok(shown.length >= 18);
    for (const summary of shown)
      assert.ok(told.replaceAll('`', '').includes(`  ${summary}\n`), summary);
    await page.locator('html[data-live]').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await page.waitForURL(`${help}/api-access`);
    await page.getByRole('heading', { name: 'API access', level: 1 }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it('has its keys listed once, and none of them pressed beneath the list', async (t) => {
    const help = await start(t);
    const { page } = await look(t, help.replace('/help', '/settings'));
    for (const key of ['?', '?', 'g', 'h']) await page.keyboard.press(key);
    assert.equal(await page.getByRole('dialog').count(), 1);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    for (const key of ['g', 'b']) await page.keyboard.press(key);
    await page.waitForURL(/board$/);
  });

  it('leads from guide to guide, and to a heading in it', async (t) => {
    const help = await start(t);
    const { page, complaints } = await look(t, `${help}/sessions`);
    await page.locator('article a[href*="#the-stream"]').click();
    await page.waitForURL(`${help}/events#the-stream-of-a-session`);
    const heading = page.locator('#the-stream-of-a-session');
    const { y = -1 } = (await heading.boundingBox()) ?? {};
    const bar = await page.locator('.bar').boundingBox();
    assert.ok(y >= (bar?.height ?? 0) && y < 860, `at ${y}`);
    assert.equal(
      await page
        .getByRole('navigation', { name: 'Guides' })
        .locator('[aria-current]')
        .textContent(),
      'Events',
    );
    assert.deepEqual(complaints, []);
  });

  it('links to the OpenAPI document and to the guides about the API', async (t) => {
    const help = await start(t);
    const { page, complaints } = await look(t, help);
    await page.locator('html[data-live]').waitFor();
    await page.keyboard.press('h');
    await page.keyboard.press('a');
    await page.waitForURL(`${help}/api`);
    await assertAccessible(page);
    const links = linksIn((await page.locator('article').innerHTML()) ?? '');
    assert.ok(links.includes('/openapi.json'), links.join());
    for (const topic of ['api-access', 'client', 'webhooks'])
      assert.ok(links.includes(`/dashboard/help/${topic}`), topic);
    for (const link of links) assert.equal((await fetch(new URL(link, help))).status, 200, link);
    assert.deepEqual(complaints, []);
  });
});

describe('the pages of the help', () => {
  it('have links that lead on: to a page, and to a heading on it', async (t) => {
    const help = await start(t);
    const read = remembered(async (path: string) => {
      const answer = await fetch(new URL(path, help));
      assert.equal(answer.status, 200, path);
      return answer.text();
    });
    let count = 0;
    for (const topic of linksIn(await read(help)).filter(isGuide))
      for (const link of linksIn(await read(topic)).filter(isOurs)) {
        const { pathname, hash } = new URL(link, new URL(topic, help));
        const isThere = hash === '' || (await read(pathname)).includes(` id="${hash.slice(1)}"`);
        assert.ok(isThere, `${topic}: ${link}`);
        count += 1;
      }
    assert.ok(count > 400, `${count} links`);
  });

  it('answer at the addresses that the API browser had', async (t) => {
    const help = await start(t);
    for (const path of ['/api', '/api?search=session', '/api/createCaseSession']) {
      const answer = await fetch(`${help}${path}`);
      assert.equal(answer.status, 200, path);
      assert.ok((await answer.text()).includes('href="/openapi.json"'), path);
    }
    assert.equal((await fetch(`${help}/weather`)).status, 404);
  });
});

const linksIn = (html: string): string[] =>
  [...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = '']) => href);

const isGuide = (link: string): boolean => /^\/dashboard\/help\/(?!api)/.test(link);
const isOurs = (link: string): boolean => /^(?:\/dashboard|#)/.test(link);

const remembered = (read: (path: string) => Promise<string>) => {
  const known = new Map<string, Promise<string>>();
  return (path: string): Promise<string> => {
    const text = known.get(path) ?? read(path);
    known.set(path, text);
    return text;
  };
};
