import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { look, noBrowser, openBrowser, openTab } from '../../helpers/browser.ts';
import { dossier } from '../../helpers/command.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

describe('the console where a key is asked for', { skip: noBrowser }, () => {
  it('is there for a browser that has shown one, live and with its forms', async (t) => {
    const workspace = temporaryDirectory(t);
    writeFileSync(join(workspace, 'workspace.md'), '---\nrequire_key: true\n---\n');
    const { url } = await startHere(t, ['--workspace', workspace]);
    const { stdout } = await dossier(t, 'key', 'browser', '--workspace', workspace);
    const key = /dossier_[\w-]{43}/.exec(stdout)?.[0] ?? '';
    const { page, browser, complaints } = await look(t, url, { javaScriptEnabled: false });
    assert.match(page.url(), /\/dashboard\/login$/);
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('The inbox is empty.').waitFor();
    const storageState = await page.context().storageState();
    const { page: live } = await openTab(browser, `${url}/dashboard`, { storageState });
    mkdirSync(join(workspace, 'webhooks'), { recursive: true });
    writeFileSync(join(workspace, 'webhooks/mine.md'), '---\nurl: [\n---\n');
    await live.getByText('webhooks/mine.md').first().waitFor();
    assert.equal((await fetch(`${url}/attention`)).status, 401);
    assert.deepEqual(complaints, []);
  });

  it('is left after a restart with a way back, and keeps what it said and what was typed', async (t) => {
    const workspace = temporaryDirectory(t);
    writeFileSync(join(workspace, 'workspace.md'), '---\nrequire_key: true\n---\n');
    const daemon = await startHere(t, ['--workspace', workspace]);
    const { stdout } = await dossier(t, 'key', 'browser', '--workspace', workspace);
    const key = /dossier_[\w-]{43}/.exec(stdout)?.[0] ?? '';
    const asked = `${daemon.url}/dashboard/new?type=bug`;
    const { page } = await look(t, asked, { javaScriptEnabled: false });
    const logIn = async (on: Page) => {
      await on.getByLabel('API key').and(on.locator(':focus')).fill(key);
      await on.getByRole('button', { name: 'Log in' }).click();
      await on.waitForURL(asked);
    };
    await page.getByLabel('API key').fill('dossier_wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').waitFor();
    await logIn(page);
    const storageState = await page.context().storageState();
    const { page: live } = await openTab(await openBrowser(t), asked, { storageState });
    await live.getByLabel('Title').fill('Typed before');
    await daemon.end();
    await live.getByText('It reconnects by itself.').waitFor();
    await live.getByRole('button', { name: 'Create', exact: true }).click();
    const warning = live.locator('form').getByText('The call may have been made.');
    await warning.waitFor();
    await startHere(t, ['--workspace', workspace, '--port', new URL(daemon.url).port]);
    const out = live.getByRole('alert').filter({ hasText: 'You are logged out.' });
    await out.waitFor();
    assert.equal(await live.getByText('It reconnects by itself.').count(), 0);
    await warning.waitFor();
    await out.getByRole('link', { name: 'Log in' }).click();
    await logIn(live);
    await live.getByText('Your unsent text was restored.').waitFor();
    assert.equal(await live.getByLabel('Title').inputValue(), 'Typed before');
  });
});
