/** The commands of a plan that run without asking, on its page. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { look, noBrowser } from '../../helpers/browser.ts';
import { eventually } from '../../helpers/eventually.ts';
import { withPlannedAgent } from '../../helpers/planned-agent.ts';

describe('the page of a plan', { skip: noBrowser }, () => {
  it('lists the commands that run without asking; one is taken out, also without scripts', async (t) => {
    const { api, at, url, session, boundary, until, isSandboxed } = await withPlannedAgent(t);
    if (!isSandboxed) return t.skip('no bubblewrap');
    const { approval_sha256 = '', plan_sha256 } = (await boundary()).unasked ?? {};
    const path = `${url}/dashboard/cases/${at.id}/sessions/${at.sid}/plan`;
    const { page } = await look(t, path, { javaScriptEnabled: false });
    const list = page.locator('.plan-unasked');
    await list.getByText('Will run without asking').waitFor();
    const approve = (hash: string) =>
      page.getByRole('button', { name: `Approve ${hash.slice(0, 8)}` });
    assert.equal(await approve(approval_sha256).count(), 1);
    assert.deepEqual(await list.locator('li code').allTextContents(), [
      'npm ci',
      'npm test',
      'npm publish',
    ]);
    await list.getByRole('link', { name: 'Ask for npm publish' }).click();
    await list.getByRole('link', { name: 'Do not ask for npm publish' }).waitFor();
    assert.deepEqual(await list.locator('li > code').allTextContents(), ['npm ci', 'npm test']);
    assert.equal(await approve(approval_sha256).count(), 0);
    assert.equal(await approve(plan_sha256 ?? '').count(), 0);
    await page.getByRole('button', { name: /^Approve/ }).click();
    await list.getByText('Commands that run without asking').waitFor();
    assert.deepEqual((await session()).unasked, ['npm ci', 'npm test']);
    await until('permission_request');
    // The stream tells the request before the inbox lists it, and a page without scripts stays as it was.
    const waiting = async () => (await api.call('GET /attention')) ?? [];
    await eventually(async () =>
      assert.ok((await waiting()).some(({ kind }) => kind === 'permission')),
    );
    await page.goto(`${url}/dashboard`);
    await page.getByText('Always allow in this project').first().waitFor();
  });
});
