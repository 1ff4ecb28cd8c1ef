import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../lib/client/client.ts';
import { assertAccessible, look, noBrowser, openTab } from '../../helpers/browser.ts';
import { startDaemon } from '../../helpers/daemon.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

const start = async (t: TestContext, settings = '') => {
  const workspace = temporaryDirectory(t);
  const file = join(workspace, 'workspace.md');
  if (settings !== '') writeFileSync(file, `---\n${settings}---\n`);
  const daemon = await startDaemon(t, ['--workspace', workspace], { DOSSIER_TRUST: '0' });
  const at = (path: string) => `${daemon.url}/dashboard/${path}`;
  return { workspace, file, at, dossier: connect({ url: daemon.url }) };
};

const WITHOUT_SCRIPTS = { javaScriptEnabled: false };

describe('the page of what waits for trust', { skip: noBrowser }, () => {
  const HOSTILE = 'sandbox: "off"\nprovider: "<script>x</script>\\u202Eevil"\n';

  it('shows each value beside what holds, and trusts the one at hand by keyboard', async (t) => {
    const { at, dossier } = await start(t, HOSTILE);
    const { page, complaints } = await look(t, at('settings/trust'));
    await page.getByText('<script>x</script>').waitFor();
    assert.doesNotMatch((await page.locator('main').textContent()) ?? '', /\u202e/);
    await assertAccessible(page);
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    await page.getByRole('heading', { name: 'sandbox' }).waitFor({ state: 'detached' });
    assert.deepEqual(
      (await dossier.call('GET /trust')).map(({ key }) => key),
      ['provider'],
    );
    assert.deepEqual(complaints, []);
  });

  it('trusts all that was looked at as a plain form, and nothing of it that is another by now', async (t) => {
    const { at, dossier, file } = await start(t, HOSTILE);
    const { page, browser } = await look(t, at('settings/trust'), WITHOUT_SCRIPTS);
    writeFileSync(file, readFileSync(file, 'utf8').replace('evil', 'worse'));
    await page.getByRole('button', { name: 'Trust all 2' }).click();
    await page.getByRole('alert').getByText('is not what you looked at').waitFor();
    assert.equal((await dossier.call('GET /trust')).length, 2);
    await page.getByRole('button', { name: 'Trust all 2' }).click();
    await page.getByText('Nothing waits for your trust.').waitFor();
    const narrow = await openTab(browser, at('settings/trust'), { size: 'narrow' });
    await assertFits(narrow.page);
  });
});

const assertFits = async (page: Awaited<ReturnType<typeof look>>['page']) => {
  const { wide, seen } = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth,
    seen: document.documentElement.clientWidth,
  }));
  assert.ok(wide <= seen, `${wide} px wide in ${seen} px`);
};
