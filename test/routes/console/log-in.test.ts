import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { look, noBrowser, openTab } from '../../helpers/browser.ts';
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
});
