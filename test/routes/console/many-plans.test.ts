import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { connect } from '../../../lib/client/client.ts';
import { look, noBrowser } from '../../helpers/browser.ts';
import { untilLive } from '../../helpers/chromium.ts';
import { startDaemon } from '../../helpers/daemon.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

/** `npm run soak:plans` answers fifty. */
const PLANS = Number(process.env.DOSSIER_PLANS ?? 4);

const manyPlans = async (t: TestContext) => {
  const { root } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
  const workspace = temporaryDirectory(t);
  const daemon = await startDaemon(t, ['--workspace', workspace, '--repo', root]);
  const dossier = connect({ url: daemon.url });
  for (let n = 1; n <= PLANS; n++) {
    const body = { title: `Plan ${n}`, type: 'bug', description: '```sh\ntrue\n```\n' };
    const { id } = await dossier.call('POST /cases', { body });
    await dossier.call('POST /cases/{id}/sessions', { id, body: { type: 'implementing' } });
  }
  return { workspace, daemon, dossier };
};

/** The row at the top is read and answered. */
const answerFirst = async (page: Page): Promise<void> => {
  const id = (await page.locator('.row').first().getAttribute('data-row')) ?? '';
  // From here on by its name: another may come before it.
  const row = page.locator(`[data-row="${id}"]`);
  await row.focus();
  // What the restart interrupted is resumed, and what is done was looked at.
  if (id.startsWith('plan/')) {
    await page.keyboard.press('p');
    await row.getByText('Step 1').first().waitFor();
    // By key a plan is approved once its end was on the screen.
    const approve = row.getByRole('button', { name: /^Approve/ });
    await approve.evaluate((one) => one.scrollIntoView({ block: 'end' }));
  }
  await page.keyboard.press('a');
  await row.waitFor({ state: 'detached' });
};

/** Work that completes meanwhile has a row, too. */
const answerAll = async (page: Page): Promise<void> => {
  const nothing = page.getByText('The inbox is empty.');
  for (;;) {
    await page.locator('.row').or(nothing).first().waitFor();
    if (await nothing.isVisible()) return;
    await answerFirst(page);
  }
};

describe('many plans', { skip: noBrowser }, () => {
  it('are answered from the inbox, at both sizes, with a restart in the middle', async (t) => {
    const { workspace, daemon } = await manyPlans(t);
    const { page, complaints } = await look(t, `${daemon.url}/dashboard`);
    await page
      .locator('.row')
      .nth(PLANS - 1)
      .waitFor({ timeout: 120_000 });
    for (let left = PLANS; left > PLANS / 2; left -= 1) await answerFirst(page);
    assert.deepEqual(complaints, []);
    const { port } = new URL(daemon.url);
    await daemon.end('SIGTERM');
    const again = await startDaemon(t, ['--workspace', workspace, '--port', port]);
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    await untilLive(page);
    await answerAll(page);
    const dossier = connect({ url: again.url });
    const items = await dossier.call('GET /cases', { query: { limit: 100 } });
    for (const { id } of items) {
      const [session] = await dossier.call('GET /cases/{id}/sessions', { id: String(id) });
      assert.equal(session?.approved_by, 'operator');
    }
    assert.equal(items.length, PLANS);
  });
});
