/** A plan is edited by hand in the page, and nothing that was typed is lost. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, look, noBrowser } from '../../helpers/browser.ts';
import { withPlan } from '../../helpers/with-plan.ts';

const field = (page: Page) => page.getByRole('textbox', { name: 'Plan as Markdown' });
const draftsIn = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).filter((name) => name.startsWith('plan ')).length);

describe('the editor of a plan', { skip: noBrowser }, () => {
  it('keeps what is typed over a reload, in all tabs, until it is saved', async (t) => {
    const { url } = await withPlan(t);
    const { page, complaints } = await look(t, `${url}?show=edit`);
    await field(page).fill('# Mine\n');
    await page.reload();
    assert.equal(await field(page).inputValue(), '# Mine\n');
    const tab = await page.context().newPage();
    await tab.goto(url);
    await tab.getByRole('link', { name: 'Continue editing' }).click();
    await field(tab).fill('# Mine, more\n');
    await page.waitForFunction(() => document.querySelector('textarea')?.value.includes('more'));
    await tab.getByRole('button', { name: 'Save plan' }).click();
    await tab.getByRole('heading', { name: 'Mine, more' }).waitFor();
    assert.equal(await draftsIn(tab), 0);
    assert.equal(await tab.getByText('unsaved changes to this plan').count(), 0);
    assert.deepEqual(complaints, []);
  });

  it('shows both where the file changed meanwhile, and loses neither', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    const { page } = await look(t, `${url}?show=edit`);
    const theirs = (body: string) =>
      dossier.call('PUT /cases/{id}/sessions/{sid}/plan', { ...at, body });
    await field(page).fill('# Mine\n');
    await theirs('# Theirs\n');
    await page.locator('.diff-lines del', { hasText: '# Theirs' }).waitFor();
    await page.locator('.diff-lines ins', { hasText: '# Mine' }).waitFor();
    await assertAccessible(page);
    // Saved before that was seen, it would be refused.
    await page.getByRole('button', { name: 'Save plan' }).click();
    await page.getByRole('alert').first().waitFor();
    await page.reload();
    assert.equal(await field(page).inputValue(), '# Mine\n');
    await page.getByRole('button', { name: 'Discard my version' }).click();
    assert.equal(await field(page).inputValue(), '# Theirs\n');
    assert.equal(await draftsIn(page), 0);
    await field(page).fill('# Mine again\n');
    await theirs('# Theirs again\n');
    await page.getByRole('button', { name: 'Keep my version' }).click();
    await page.getByRole('button', { name: 'Save plan' }).click();
    await page.getByRole('heading', { name: 'Mine again' }).waitFor();
  });

  it('keeps what can be saved no more, until the operator drops it', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    const { page } = await look(t, `${url}?show=edit`);
    await field(page).fill('# Mine, too late\n');
    await dossier.call('POST /cases/{id}/sessions/{sid}/approve', { ...at });
    await page.getByText('unsaved changes to this plan').waitFor();
    assert.equal(await page.locator('.as-written', { hasText: 'too late' }).count(), 1);
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.reload();
    assert.equal(await draftsIn(page), 0);
  });

  it('gives back what was refused without scripts, beside what stands there', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    const { page } = await look(t, `${url}?show=edit`, { javaScriptEnabled: false });
    await field(page).fill('# Mine\n');
    await dossier.call('PUT /cases/{id}/sessions/{sid}/plan', { ...at, body: '# Theirs\n' });
    await page.getByRole('button', { name: 'Save plan' }).click();
    await page.locator('.diff-lines del', { hasText: '# Theirs' }).waitFor();
    assert.equal(await field(page).inputValue(), '# Mine\n');
    await page.getByRole('button', { name: 'Save plan' }).click();
    await page.getByRole('heading', { name: 'Mine' }).waitFor();
  });
});
