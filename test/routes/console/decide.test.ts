/** A decision is about what was on the page when the operator read it. */
import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { connect } from '../../../lib/client/client.ts';
import { look, noBrowser } from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { until } from '../../helpers/eventually.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';
import { withPlan } from '../../helpers/with-plan.ts';

// As a browser does whose window gets the focus.
const lookAgain = (page: Page) => page.evaluate(() => globalThis.dispatchEvent(new Event('focus')));

const approveOf = (page: Page) => page.getByRole('button', { name: /^Approve/ });

describe('a plan that changes while it is read', { skip: noBrowser }, () => {
  it('is approved on its page only after the new version was asked for', async (t) => {
    const { dossier, at, url, fileOf } = await withPlan(t);
    const { page } = await look(t, url);
    const status = async () => (await dossier.call('GET /cases/{id}/sessions/{sid}', at)).status;
    const tab = await page.context().newPage();
    await tab.goto(url);
    const file = await fileOf('plan.md');
    // As many editors save: the file is gone for a moment.
    renameSync(file, `${file}~`);
    await page.getByText('Plan: Make files').waitFor({ state: 'detached' });
    writeFileSync(file, readFileSync(`${file}~`, 'utf8').replaceAll('echo two', 'rm two'));
    for (const one of [page, tab]) {
      await one.getByText('The plan changed while you read it').waitFor();
      await one.locator('.plan').getByText('rm two').waitFor();
      assert.equal(await approveOf(one).count(), 0);
      for (let n = 0; n < 9; n++) await one.keyboard.press('a');
    }
    assert.equal(await status(), 'plan_ready');
    await tab.getByRole('button', { name: 'Review new version' }).click();
    await approveOf(tab).click();
    await page.getByText(/Approved by operator (.* )?at/).waitFor();
    assert.equal(await page.getByText('The plan changed while you read it').count(), 0);
  });

  it('is approved in the inbox over no comment that was made meanwhile', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    const { page } = await look(t, new URL('/dashboard', url).href);
    await page.getByText('Review plan').click();
    await approveOf(page).waitFor();
    await dossier.call('PUT /cases/{id}/sessions/{sid}/comments', { ...at, body: '> x\n\nWhy?\n' });
    await page.getByText('Approve without 1 comment…').waitFor();
  });

  it('is approved on no page that cannot say what the session may do', async (t) => {
    const { url } = await withPlan(t);
    const { page } = await look(t, url);
    await approveOf(page).waitFor();
    await page.route('**/boundary', (route) => route.fulfill({ status: 500, json: {} }));
    await lookAgain(page);
    await page.getByText('What the session may do cannot be read').waitFor();
    assert.equal(await approveOf(page).count(), 0);
    await page.unroute('**/boundary');
    await lookAgain(page);
    await approveOf(page).waitFor();
  });
});

describe('what changes while it is read', { skip: noBrowser }, () => {
  it('is no planning file that a click approves, and no proof that a key verifies', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    const { id } = at;
    const put = (text: string) =>
      dossier.call('PUT /api/cases/{id}/planning-artifacts/{filename}', {
        ...{ id, filename: 'tasks.md', body: text },
      });
    await put('- one\n');
    const item = url.replace(/sessions.*/, '');
    const { page } = await look(t, `${item}planning`);
    const files = page.getByRole('button', { name: 'Approve files' });
    await files.waitFor();
    await put('- another\n');
    await lookAgain(page);
    await page.getByText('A file changed while you read it').waitFor();
    assert.equal(await files.count(), 0);
    await page.getByRole('button', { name: 'Review new version' }).click();
    await files.click();
    await page.getByText('Approved.', { exact: true }).waitFor();
    const body = { type: 'tests', content: 'All pass.' };
    const { id: pid } = await dossier.call('POST /cases/{id}/proof', { id, body });
    await page.goto(`${item}proof`);
    await page.keyboard.press('j');
    const edit = { content: 'None passes.' };
    await dossier.call('PATCH /cases/{id}/proof/{pid}', { id, pid, body: edit });
    await page.getByText('The proof changed while you read it').waitFor();
    await page.keyboard.press('v');
    await page.getByRole('button', { name: 'Review new version' }).click();
    assert.equal((await dossier.call('GET /cases/{id}/proof/{pid}', { id, pid })).verified, false);
    await page.keyboard.press('v');
    await page.getByText('Verified', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Revoke verification' }).click();
    await page.getByText('Not verified', { exact: true }).waitFor();
  });

  it('is no planning file that changes after a form of this page which changed nothing', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    const { id } = at;
    const put = (body: string) =>
      dossier.call('PUT /api/cases/{id}/planning-artifacts/{filename}', {
        ...{ id, filename: 'tasks.md', body },
      });
    await put('- one\n');
    const { page } = await look(t, url.replace(/sessions.*/, 'planning'));
    const tasks = page.getByRole('region', { name: 'Tasks' });
    await tasks.getByText('Edit', { exact: true }).click();
    const saved = page.waitForResponse((response) => response.request().method() === 'PUT');
    await tasks.getByRole('button', { name: 'Save' }).click();
    await saved;
    // The load that follows the form.
    await page.waitForResponse((response) => response.url().includes('planning/gate'));
    await put('- another\n');
    await lookAgain(page);
    const changed = page.getByText('A file changed while you read it');
    await changed.waitFor();
    const again = page.waitForResponse((response) => response.request().method() === 'PUT');
    await tasks.getByRole('button', { name: 'Save' }).click();
    assert.equal((await again).status(), 200);
    await page.waitForResponse((response) => response.url().includes('planning/gate'));
    await changed.waitFor();
    assert.equal(await page.getByRole('button', { name: 'Approve files' }).count(), 0);
  });

  it('is no setting that is trusted with all others', async (t) => {
    const workspace = temporaryDirectory(t);
    const write = (text: string) =>
      writeFileSync(join(workspace, 'workspace.md'), `---\n${text}---\n`);
    write('sandbox: "off"\nprovider: a\n');
    const daemon = await startHere(t, ['--workspace', workspace], { DOSSIER_TRUST: '0' });
    const { page } = await look(t, `${daemon.url}/dashboard/settings/trust`);
    await page.getByRole('button', { name: 'Trust 2 of 2' }).waitFor();
    write('sandbox: "off"\nprovider: a\nproviders: { b: { kind: command, command: b } }\n');
    await page.getByText('The list changed while you read it').waitFor();
    await page.keyboard.press('A');
    await page.getByRole('button', { name: 'Review new version' }).click();
    await page.getByRole('button', { name: 'Trust 3 of 3' }).click();
    await page.getByText('Nothing needs your trust.').waitFor();
    assert.deepEqual(await connect({ url: daemon.url }).call('GET /trust'), []);
  });

  it('is not what a double click meets after its first click', async (t) => {
    const workspace = temporaryDirectory(t);
    const settings = 'sandbox: "off"\nprovider: a\nmax_sessions: 3\n';
    writeFileSync(join(workspace, 'workspace.md'), `---\n${settings}---\n`);
    const daemon = await startHere(t, ['--workspace', workspace], { DOSSIER_TRUST: '0' });
    const { page } = await look(t, `${daemon.url}/dashboard/settings/trust`);
    const trust = page.getByRole('button', { name: 'Trust value' });
    const { x = 0, y = 0 } = (await trust.first().boundingBox()) ?? {};
    const count = await trust.count();
    for (const clickCount of [1, 2]) {
      await page.mouse.move(x + 9, y + 9);
      await page.mouse.down({ clickCount });
      await page.mouse.up({ clickCount });
      await until(async () => (await trust.count()) === count - 1);
    }
    await page.reload();
    assert.equal(await trust.count(), count - 1);
  });
});

describe('a key that is held down', { skip: noBrowser }, () => {
  it('goes to the end of a plan, and approves nothing', async (t) => {
    const description = '```sh\necho one\n```\n\n'.repeat(40);
    const { dossier, at, url } = await withPlan(t, { description });
    const { page } = await look(t, url);
    const isAtEnd = () => scrollY + innerHeight >= document.documentElement.scrollHeight - 200;
    await until(async () => {
      await page.keyboard.down('a');
      return page.evaluate(isAtEnd);
    });
    for (let n = 0; n < 5; n++) await page.keyboard.down('a');
    await page.reload();
    const status = async () => (await dossier.call('GET /cases/{id}/sessions/{sid}', at)).status;
    assert.equal(await status(), 'plan_ready');
    await page.keyboard.up('a');
    await until(async () => {
      await page.keyboard.press('a');
      return (await status()) !== 'plan_ready';
    });
  });
});
