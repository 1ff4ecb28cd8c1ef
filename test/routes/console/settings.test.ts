import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Browser } from 'playwright-core';
import { connect } from '../../../lib/client/client.ts';
import { assertAccessible, assertFits, look, noBrowser, openTab } from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

const start = async (t: TestContext, settings = '') => {
  const workspace = temporaryDirectory(t);
  const file = join(workspace, 'workspace.md');
  if (settings !== '') writeFileSync(file, `---\n${settings}---\n`);
  const daemon = await startHere(t, ['--workspace', workspace], { DOSSIER_TRUST: '0' });
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
    const waiting = page.getByRole('heading', { name: 'sandbox', level: 2 });
    await waiting.waitFor({ state: 'detached' });
    const keys = async () => (await dossier.call('GET /trust')).map(({ key }) => key);
    assert.deepEqual(await keys(), ['provider']);
    const trusted = page.getByRole('list', { name: 'Trusted values' });
    await trusted.getByRole('button', { name: 'Revoke' }).click();
    await waiting.waitFor();
    assert.deepEqual((await keys()).toSorted(), ['provider', 'sandbox']);
    assert.deepEqual(complaints, []);
  });

  it('trusts all that was looked at as a plain form, and nothing of it that is another by now', async (t) => {
    const { at, dossier, file } = await start(t, HOSTILE);
    const { page, browser } = await look(t, at('settings/trust'), WITHOUT_SCRIPTS);
    writeFileSync(file, readFileSync(file, 'utf8').replace('evil', 'worse'));
    await page.getByRole('button', { name: 'Trust 2 of 2' }).click();
    await page.getByRole('alert').getByText('has changed since you read it').waitFor();
    assert.equal((await dossier.call('GET /trust')).length, 2);
    await page.getByRole('button', { name: 'Trust 2 of 2' }).click();
    await page.getByText('Nothing needs your trust.').waitFor();
    const narrow = await openTab(browser, at('settings/trust'), { size: 'narrow' });
    await assertFits(narrow.page);
  });
});

describe('the page of projects and provider', { skip: noBrowser }, () => {
  it('tells what is wrong with the file of the settings, and that it is mended', async (t) => {
    const { at, file } = await start(t);
    const text = readFileSync(file, 'utf8');
    const { page } = await look(t, at('settings'));
    writeFileSync(file, text.replace(/^---\n/, '---\nprovider: [runbook\n'));
    const told = page.locator('.box.warn', { hasText: 'workspace.md:' }).first();
    await told.waitFor();
    writeFileSync(file, text);
    await told.waitFor({ state: 'detached' });
  });

  it('leads from an empty workspace to a plan, without scripts', async (t) => {
    const { at, dossier } = await start(t);
    const { root } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
    const { page } = await look(t, at('settings'), WITHOUT_SCRIPTS);
    await page.getByText('First steps').waitFor();
    await page.getByLabel('Path of the repository').fill('/nowhere');
    await page.getByRole('button', { name: 'Add project' }).click();
    await page.getByRole('alert').getByText('is not a git repository').waitFor();
    await page.getByLabel('Path of the repository').fill(root);
    await page.getByRole('button', { name: 'Add project' }).click();
    await page.getByRole('button', { name: 'Use manual' }).click();
    await page.getByRole('link', { name: 'Create a Work item' }).waitFor();
    const { projects, provider } = await dossier.call('GET /settings');
    assert.deepEqual([projects[0]?.name, projects[0]?.path, provider], ['default', root, 'manual']);
    const { id } = await dossier.call('POST /cases', { body: { title: 'A', type: 'bug' } });
    const body = { type: 'implementing' as const };
    const session = await dossier.call('POST /cases/{id}/sessions', { id, body });
    assert.equal(session.provider, 'manual');
  });

  it('adds a project, makes it the default and takes it out, live', async (t) => {
    const { at, file } = await start(t);
    const { root } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
    const { page, complaints } = await look(t, at('settings'));
    await page.getByLabel('Name').fill('next.js');
    await page.getByLabel('Path of the repository').fill(root);
    await page.keyboard.press('Enter');
    const row = page.getByRole('listitem').filter({ hasText: 'next.js' });
    await row.getByText(root).waitFor();
    await page.getByText('Add the git repository').waitFor({ state: 'detached' });
    await assertAccessible(page);
    await page.keyboard.press('Escape');
    await row.focus();
    await page.keyboard.press('d');
    await page.getByText('Default', { exact: true }).first().waitFor();
    await row.getByText('Remove…').click();
    await row.getByRole('button', { name: 'Remove next.js now' }).click();
    await row.waitFor({ state: 'detached' });
    // A path is this machine's alone.
    const local = readFileSync(join(dirname(file), '.dossier/local.md'), 'utf8');
    assert.equal(local.includes(`default: ${root}`), true);
    assert.deepEqual(complaints, []);
    const narrow = await openTab(page.context().browser() as Browser, at('settings'), {
      size: 'narrow',
    });
    await assertFits(narrow.page);
  });
});

describe('the page of keys', { skip: noBrowser }, () => {
  it('stands among the settings, runs nothing, and shows a key once', async (t) => {
    const { at } = await start(t);
    const { page, browser, complaints } = await look(t, at('settings'));
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByText('No keys.').waitFor();
    await page.getByLabel('Name').fill('editor');
    await page.keyboard.press('Enter');
    const key = await page.getByLabel('the new key').inputValue();
    assert.match(key, /^dossier_/);
    await assertAccessible(page);
    await page.goto(at('keys'));
    assert.ok(!(await page.content()).includes(key));
    await page.getByText('Revoke…').click();
    await page.getByRole('button', { name: 'Revoke editor now' }).click();
    await page.getByText('No keys.').waitFor();
    const narrow = await openTab(browser, at('keys'), { size: 'narrow', ...WITHOUT_SCRIPTS });
    await narrow.page.getByRole('link', { name: 'Webhooks' }).waitFor();
    assert.equal(await narrow.page.locator('script').count(), 0);
    await assertFits(narrow.page);
    assert.deepEqual(complaints, []);
  });
});

describe('the page of diagnostics', { skip: noBrowser }, () => {
  it('names the line to mend, and hears that it was mended', async (t) => {
    const { at, file } = await start(t, 'max_sesions: 3\nprovider: [\n');
    const { page, complaints, browser } = await look(t, at('settings/diagnostics'));
    await page.getByText(`${file}:`).first().waitFor();
    await page.getByRole('heading', { name: 'This machine' }).waitFor();
    await page.getByText('dossier logs').waitFor();
    await assertAccessible(page);
    const narrow = await openTab(browser, at('settings/diagnostics'), { size: 'narrow' });
    await assertFits(narrow.page);
    writeFileSync(file, '---\nmax_sessions: 3\n---\n');
    await page.getByText('No file has problems.').waitFor();
    assert.deepEqual(complaints, []);
  });
});
