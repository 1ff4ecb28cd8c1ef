import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../lib/client/client.ts';
import { assertAccessible, assertFits, look, noBrowser, openTab } from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

const HOSTILE = '<script>alert(1)</script> [x](javascript:alert(1)) \u202e\n\n*text*\n';

const start = async (t: TestContext) => {
  const { root } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
  const daemon = await startHere(t, ['--workspace', temporaryDirectory(t), '--repo', root]);
  const dossier = connect({ url: daemon.url });
  const body = { title: 'Planned', type: 'bug', description: 'It *fails*.\n' };
  const { id } = await dossier.call('POST /cases', { body });
  const gate = async () => (await dossier.call('GET /api/cases/{id}/planning/gate', { id })).status;
  const put = (text: string) =>
    dossier.call('PUT /api/cases/{id}/planning-artifacts/{filename}', {
      ...{ id, filename: 'hypotheses.md', body: text },
    });
  return { dossier, id, gate, put, url: `${daemon.url}/dashboard/cases/${id}/planning` };
};

describe('the planning of a Work item', { skip: noBrowser }, () => {
  it('is written, read and approved by keyboard, and stale once it changed', async (t) => {
    const { url, gate, put } = await start(t);
    const { page, complaints } = await look(t, url);
    await page.getByText('No planning files. They are optional.').waitFor();
    await page.getByText('Planning files: None.').waitFor();
    const hypotheses = page.getByRole('region', { name: 'Hypotheses' });
    await assertAccessible(page);
    await hypotheses.focus();
    await page.keyboard.press('w');
    await hypotheses.getByText('not approved').waitFor();
    await page.keyboard.press('a');
    await page.getByText('Approved.', { exact: true }).waitFor();
    assert.equal(await gate(), 'approved');
    await put(HOSTILE);
    await page.reload();
    await page.getByText('The files changed since you approved them').waitFor();
    await hypotheses.locator('em', { hasText: 'text' }).waitFor();
    assert.equal(await page.locator('main script, a[href^="javascript"]').count(), 0);
    await hypotheses.getByRole('button', { name: 'and discard edits' }).waitFor();
    await page.getByText('Blocking:').waitFor();
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });

  it('is written by hand without scripts, over nothing that was not seen', async (t) => {
    const { url, dossier, id, put, gate } = await start(t);
    const { page, browser } = await look(t, url, { javaScriptEnabled: false, size: 'narrow' });
    const tasks = page.getByRole('region', { name: 'Tasks' });
    await tasks.getByText('Write').click();
    await tasks.getByLabel('tasks.md').fill('- one\n');
    await tasks.getByRole('button', { name: 'Save' }).click();
    const file = { id, filename: 'tasks.md' };
    const text = await dossier.call('GET /api/cases/{id}/planning-artifacts/{filename}', file);
    assert.equal(text, '- one\n');
    await page.getByRole('button', { name: 'Approve files' }).click();
    assert.equal(await gate(), 'approved');
    await assertFits(page);
    await put('# Mine\n');
    const { page: other } = await openTab(browser, url, { javaScriptEnabled: false });
    const hypotheses = other.getByRole('region', { name: 'Hypotheses' });
    await hypotheses.getByText('Edit', { exact: true }).click();
    await hypotheses.getByLabel('hypotheses.md').fill('# Yours\n');
    await put('# By hand\n');
    await hypotheses.getByRole('button', { name: 'Save' }).click();
    await other.getByRole('alert').waitFor();
    assert.equal(await hypotheses.getByLabel('hypotheses.md').inputValue(), '# Yours\n');
    const kept = { id, filename: 'hypotheses.md' };
    assert.equal(
      await dossier.call('GET /api/cases/{id}/planning-artifacts/{filename}', kept),
      '# By hand\n',
    );
  });

  it('is saved over no version that came while it was typed, unless it was said', async (t) => {
    const { url, dossier, id, put } = await start(t);
    await put('# First\n');
    const { page } = await look(t, url);
    const hypotheses = page.getByRole('region', { name: 'Hypotheses' });
    const field = hypotheses.getByLabel('hypotheses.md');
    const save = hypotheses.getByRole('button', { name: 'Save' });
    const file = { id, filename: 'hypotheses.md' } as const;
    const text = () => dossier.call('GET /api/cases/{id}/planning-artifacts/{filename}', file);
    await hypotheses.getByText('Edit', { exact: true }).click();
    await field.fill('# Mine\n');
    await put('# Theirs\n');
    // No event tells of it; the page looks when its window gets the focus.
    await page.evaluate(() => globalThis.dispatchEvent(new Event('focus')));
    await hypotheses.getByRole('heading', { name: 'Theirs' }).waitFor();
    await save.click();
    await hypotheses.getByRole('alert').waitFor();
    assert.deepEqual([await text(), await field.inputValue()], ['# Theirs\n', '# Mine\n']);
    await save.click();
    await hypotheses.getByRole('heading', { name: 'Mine' }).waitFor();
    assert.equal(await text(), '# Mine\n');
  });

  it('is saved over no first version that came while it was typed', async (t) => {
    const { url, dossier, id, put } = await start(t);
    const { page } = await look(t, url);
    const hypotheses = page.getByRole('region', { name: 'Hypotheses' });
    const tasks = page.getByRole('region', { name: 'Tasks' });
    const save = hypotheses.getByRole('button', { name: 'Save' });
    const text = (filename: string) =>
      dossier.call('GET /api/cases/{id}/planning-artifacts/{filename}', { id, filename });
    await hypotheses.getByText('Write', { exact: true }).last().click();
    await hypotheses.getByLabel('hypotheses.md').fill('# Mine\n');
    await tasks.getByText('Write', { exact: true }).last().click();
    await tasks.getByLabel('tasks.md').fill('- mine\n');
    await put('# Theirs\n');
    await dossier.call('PUT /api/cases/{id}/planning-artifacts/{filename}', {
      ...{ id, filename: 'tasks.md', body: '- theirs\n' },
    });
    await page.evaluate(() => globalThis.dispatchEvent(new Event('focus')));
    await hypotheses.getByRole('heading', { name: 'Theirs' }).waitFor();
    await save.click();
    await hypotheses.getByRole('alert').waitFor();
    assert.equal(await text('hypotheses.md'), '# Theirs\n');
    // The refusal of one form says nothing of another's text.
    await tasks.getByRole('button', { name: 'Save' }).click();
    await tasks.getByRole('alert').waitFor();
    assert.equal(await text('tasks.md'), '- theirs\n');
    await save.click();
    await hypotheses.getByRole('heading', { name: 'Mine' }).waitFor();
  });

  it('says why a stage cannot be written', async (t) => {
    const { url } = await start(t);
    const { page } = await look(t, url);
    await page.getByRole('region', { name: 'Problem' }).focus();
    await page.keyboard.press('w');
    await page.getByRole('alert').getByText('not linked to an issue').waitFor();
  });
});
