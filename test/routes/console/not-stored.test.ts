/** What is typed where the browser stores nothing: cookies are blocked, or its storage is full. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { noBrowser, openBrowser } from '../../helpers/browser.ts';
import { untilLive } from '../../helpers/chromium.ts';
import { withPlan } from '../../helpers/with-plan.ts';

const refuseStorage = (): void => {
  const get = () => {
    throw new DOMException('Denied', 'SecurityError');
  };
  for (const area of ['localStorage', 'sessionStorage'])
    Object.defineProperty(globalThis, area, { get });
};

const fillStorage = (): void => {
  Storage.prototype.setItem = () => {
    throw new DOMException('Full', 'QuotaExceededError');
  };
};

const start = async (t: TestContext, without: () => void) => {
  const scene = await withPlan(t);
  const page = await (await (await openBrowser(t)).newContext()).newPage();
  await page.addInitScript(without);
  const open = async (url: string) => {
    await page.goto(url);
    await untilLive(page);
  };
  return { ...scene, page, open };
};

describe('text that the browser cannot store', { skip: noBrowser }, () => {
  for (const without of [refuseStorage, fillStorage])
    it(`is in the editor of a plan after the plan changed: ${without.name}`, async (t) => {
      const { page, open, dossier, at, url } = await start(t, without);
      await open(`${url}?show=edit`);
      const field = page.getByRole('textbox', { name: 'Plan as Markdown' });
      await field.fill('# Mine\n');
      await page.getByText('The browser cannot store this text').waitFor();
      await dossier.call('PUT /cases/{id}/sessions/{sid}/plan', { ...at, body: '# Theirs\n' });
      await page.locator('.diff-lines del', { hasText: '# Theirs' }).waitFor();
      assert.equal(await field.inputValue(), '# Mine\n');
      await page.getByRole('button', { name: 'Keep my version' }).click();
      await page.getByRole('button', { name: 'Save plan' }).click();
      await page.getByRole('heading', { name: 'Mine' }).waitFor();
    });

  it('is a comment over which nothing is approved', async (t) => {
    const { page, open, dossier, at, url } = await start(t, refuseStorage);
    await open(url);
    await page.keyboard.press('j');
    await page.keyboard.press('m');
    await page.keyboard.type('An objection');
    await page.getByText('The browser cannot store this text').waitFor();
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByText('The plan was not approved').waitFor();
    const { status } = await dossier.call('GET /cases/{id}/sessions/{sid}', at);
    assert.equal(status, 'plan_ready');
  });

  it('is said to be lost with the page, as long as there is any', async (t) => {
    const { page, open, url } = await start(t, fillStorage);
    await open(new URL('/dashboard/new', url).href);
    const said = page.getByText('The browser cannot store this text');
    await page.getByLabel('Title').fill('Mine');
    await said.waitFor();
    await page.getByLabel('Title').fill('');
    await said.waitFor({ state: 'detached' });
  });
});
