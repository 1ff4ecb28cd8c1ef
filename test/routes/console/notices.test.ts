import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { chromium } from 'playwright-core';
import { connect } from '../../../lib/client/client.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { noBrowser } from '../../helpers/browser.ts';
import { FLAGS, untilLive, WHOLE_CHROMIUM } from '../../helpers/chromium.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { GIVE_UP_MS } from '../../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

/** What the browser was asked to tell, and whether its tab is looked at: no browser without a screen says either. */
const RECORD = `
  globalThis.told = [];
  globalThis.isHidden = false;
  const Notice = globalThis.Notification;
  globalThis.Notification = class extends Notice {
    constructor(title, options) {
      super(title, options);
      globalThis.told.push(title + ': ' + options.body);
    }
  };
  Object.defineProperty(document, 'visibilityState', { get: () => (globalThis.isHidden ? 'hidden' : 'visible') });
`;

const start = async (t: TestContext) => {
  const { root } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
  const { url } = await startHere(t, ['--workspace', temporaryDirectory(t), '--repo', root]);
  const dossier = connect({ url });
  const plan = async (title: string): Promise<void> => {
    const description = '```sh\ntrue\n```\n';
    const { id } = await dossier.call('POST /cases', { body: { title, type: 'bug', description } });
    await dossier.call('POST /cases/{id}/sessions', { id, body: { type: 'implementing' } });
  };
  const browser = await chromium.launch({ executablePath: WHOLE_CHROMIUM, args: FLAGS });
  atEnd(t, () => browser.close());
  const context = await browser.newContext();
  context.setDefaultTimeout(GIVE_UP_MS);
  await context.grantPermissions(['notifications'], { origin: url });
  await context.addInitScript(RECORD);
  const page = await context.newPage();
  await page.goto(`${url}/dashboard`);
  await untilLive(page);
  const setLookedAt = (isLooked: boolean) => page.evaluate(`globalThis.isHidden = ${!isLooked}`);
  const told = async () => (await page.evaluate('told')) as string[];
  return { page, plan, setLookedAt, told };
};

// Runs in the page.
const areTold = (count: number) =>
  (globalThis as unknown as { told: string[] }).told.length >= count;

describe('what a browser tells of by itself', { skip: noBrowser }, () => {
  it('is what begins to wait while the operator looks elsewhere', async (t) => {
    const { page, plan, setLookedAt, told } = await start(t);
    assert.equal(await page.getByRole('button', { name: 'Notify me' }).count(), 0);
    await plan('Seen');
    await page.getByRole('link', { name: 'Seen' }).waitFor();
    await setLookedAt(false);
    await plan('Elsewhere');
    await page.waitForFunction(areTold, 1);
    await setLookedAt(true);
    await plan('Looked at');
    await page.getByRole('link', { name: 'Looked at' }).waitFor();
    await setLookedAt(false);
    await plan('Once more');
    await page.waitForFunction(areTold, 2);
    const [first = '', second = '', ...others] = await told();
    assert.match(first, /Elsewhere/);
    assert.match(second, /Once more/);
    assert.deepEqual(others, []);
  });
});
