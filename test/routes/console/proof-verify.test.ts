import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertAccessible, look, noBrowser } from '../../helpers/browser.ts';
import { withPlan } from '../../helpers/with-plan.ts';

describe('the button that verifies a proof', { skip: noBrowser }, () => {
  it('says that it resolves, and how much of the diff was not looked at', async (t) => {
    const { daemon, dossier, at, until } = await withPlan(t);
    const { id, sid } = at;
    await dossier.call('POST /cases/{id}/sessions/{sid}/approve', at);
    await until('session_completed');
    await dossier.call('POST /cases/{id}/proof', { id, body: { type: 'tests', content: 'Ran.' } });
    const item = `${daemon.url}/dashboard/cases/${id}`;
    const { page, complaints } = await look(t, `${item}/proof`);
    const verify = page.getByRole('button', { name: /^Verify/ });
    await page.getByRole('link', { name: '0 of 3 files viewed' }).click();
    await page.getByText('Files: 0 of 3 viewed').waitFor();
    await page.getByRole('checkbox', { name: 'Viewed: one.txt' }).click();
    await page.getByText('Files: 1 of 3 viewed').waitFor();
    await page.evaluate((name) => {
      const { localStorage } = globalThis as never as { localStorage: Record<string, string> };
      const comments = [{ path: 'one.txt', from: 1, to: 1, quoted: 'one', text: 'Why?' }];
      localStorage[name] = JSON.stringify({ ...JSON.parse(localStorage[name] ?? '{}'), comments });
    }, `dossier.diff.${sid}`);
    await page.goto(`${item}/proof`);
    await page.getByText('1 of 3 files viewed, 1 unsent comment').waitFor();
    assert.equal(await verify.textContent(), 'Verify and resolve');
    await assertAccessible(page);
    const body = { type: 'review', description: 'Somebody looked', required: true };
    await dossier.call('POST /cases/{id}/proof/checklist', { id, body });
    await page.getByText('Missing: Somebody looked').waitFor();
    assert.equal(await verify.textContent(), 'Verify');
    await dossier.call('POST /cases/{id}/proof', { id, body: { type: 'review', content: 'Yes.' } });
    const review = page.getByRole('button', { name: 'Verify and resolve review' });
    await review.click();
    await page.getByText('The Work item is resolved.').waitFor();
    assert.equal((await dossier.call('GET /cases/{id}', { id })).state, 'RESOLVED');
    assert.equal(await verify.textContent(), 'Verify');
    assert.deepEqual(complaints, []);
  });

  it('verifies again what was verified before the last work, and resolves by that', async (t) => {
    const { daemon, dossier, at, until } = await withPlan(t);
    const { id } = at;
    const { id: pid } = await dossier.call('POST /cases/{id}/proof', {
      ...{ id, body: { type: 'tests', content: 'Ran.' } },
    });
    await dossier.call('PUT /cases/{id}/proof/{pid}/verify', { id, pid });
    await dossier.call('POST /cases/{id}/sessions/{sid}/approve', at);
    await until('session_completed');
    const { page, complaints } = await look(t, `${daemon.url}/dashboard/cases/${id}/proof`);
    await page.getByText('The proof was verified before the last session ended.').waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Verify again and resolve tests' }).click();
    await page.getByText('The Work item is resolved.').waitFor();
    assert.equal((await dossier.call('GET /cases/{id}', { id })).state, 'RESOLVED');
    assert.deepEqual(complaints, []);
  });
});
