import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { connect } from '../../../lib/client/client.ts';
import { assertAccessible, assertFits, look, noBrowser, openTab } from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

describe('the page of exports', { skip: noBrowser }, () => {
  it('gives the workspace and a Work item that was looked for, without scripts too', async (t) => {
    const workspace = temporaryDirectory(t);
    const { url } = await startHere(t, ['--workspace', workspace]);
    const at = `${url}/dashboard/settings/export`;
    const { page, browser, complaints } = await look(t, at);
    await page.getByText('No Work items.').waitFor();
    await page.getByText(`dossier import export.zip --workspace ${workspace}`).waitFor();
    const dossier = connect({ url });
    for (const title of ['W'.repeat(200), '<img src=x>', 'Another one'])
      await dossier.call('POST /cases', { body: { title, type: 'bug' } });
    await page.getByText('<img src=x>').waitFor();
    await page.getByText('3 Work items').waitFor();
    await assertAccessible(page);
    const all = page.waitForEvent('download');
    await page.keyboard.press('x');
    const bytes = readFileSync(await (await all).path());
    assert.ok(bytes.includes('manifest.json') && bytes.includes('another-one'));
    await page.keyboard.press('/');
    await page.keyboard.type('another');
    await page.keyboard.press('Enter');
    await page.getByText('<img src=x>').waitFor({ state: 'detached' });
    const plain = await openTab(browser, page.url(), { javaScriptEnabled: false });
    const one = plain.page.waitForEvent('download');
    await plain.page.getByRole('link', { name: 'Download Another one' }).click();
    assert.match((await one).suggestedFilename(), /^dossier-another-one-.*\.zip$/);
    const narrow = await openTab(browser, at, { size: 'narrow' });
    await assertFits(narrow.page);
    assert.deepEqual(complaints, []);
  });
});
