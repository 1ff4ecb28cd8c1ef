import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../lib/client/client.ts';
import { assertAccessible, assertFits, look, noBrowser, openTab } from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
const EVIL = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

const start = async (t: TestContext, settings = '', env: Record<string, string> = {}) => {
  const { root } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
  const workspace = temporaryDirectory(t);
  writeFileSync(join(workspace, 'workspace.md'), `---\n${settings}\n---\n`);
  const daemon = await startHere(t, ['--workspace', workspace, '--repo', root], env);
  const dossier = connect({ url: daemon.url });
  const { id, path } = await dossier.call('POST /cases', {
    body: { title: 'Dates are refused', type: 'bug' },
  });
  const prove = (type: string, content: string) =>
    dossier.call('POST /cases/{id}/proof', { id, body: { type, content } });
  const upload = (name: string, bytes: Uint8Array) =>
    dossier.call('POST /cases/{id}/proof/files', {
      id,
      query: { type: 'file', name },
      body: bytes,
    });
  const proofs = () => dossier.call('GET /cases/{id}/proof', { id });
  const write = (text: string) => {
    mkdirSync(join(workspace, path, 'proof'), { recursive: true });
    writeFileSync(join(workspace, path, 'proof/checklist.md'), text);
  };
  return {
    write,
    dossier,
    id,
    prove,
    upload,
    proofs,
    url: `${daemon.url}/dashboard/cases/${id}/proof`,
  };
};

describe('the proof of a Work item', { skip: noBrowser }, () => {
  it('says that a check runs without a sandbox, where there is none', async (t) => {
    const { url } = await start(t, 'sandbox: off');
    const { page } = await look(t, url);
    await page.getByText(/Not isolated\. The sandbox is turned off in the settings/).waitFor();
    assert.equal(await page.getByText('and in the sandbox').count(), 0);
  });

  it('does not say so where the sandbox cannot be prepared, as nothing runs then', async (t) => {
    const bin = temporaryDirectory(t);
    const script = '#!/bin/sh\necho "bwrap: Cannot allocate memory" >&2\nexit 1\n';
    writeFileSync(join(bin, 'bwrap'), script, { mode: 0o755 });
    const { url, dossier } = await start(t, '', { PATH: `${bin}:${process.env.PATH}` });
    const { unheld } = await dossier.call('GET /api/machine');
    assert.match(unheld.find(({ about }) => about === 'sandbox')?.sentence ?? '', /allocate/);
    const { page } = await look(t, url);
    await page.getByText('and in the sandbox').waitFor();
    assert.equal(await page.getByText('Not isolated').count(), 0);
  });

  it('is shown where the machine cannot be described, and then says nothing of the sandbox', async (t) => {
    const { url, prove } = await start(t, 'sandbox: off');
    const { page } = await look(t, url);
    await page.getByText('Not isolated').waitFor();
    await page.route('**/api/machine', (route) => route.abort());
    await prove('tests', 'All pass.');
    await page.getByText('All pass.').waitFor();
    // A refresh that began before may show the proof first.
    await page.getByText('Not isolated').waitFor({ state: 'detached' });
    assert.equal(await page.getByText('and in the sandbox').count(), 0);
  });

  it('says what is missing, and is verified by keyboard', async (t) => {
    const { url, prove, proofs } = await start(t);
    const { page, complaints } = await look(t, url);
    await page.getByText('Add a proof and verify it.').waitFor();
    await prove('tests', 'All **12** pass.');
    await page.getByText('verify one of the proofs').waitFor();
    await page.keyboard.press('j');
    await page.getByRole('button', { name: 'Verify tests' }).click();
    await page.getByText('All required proof is verified').waitFor();
    await page.locator('.proof:focus').waitFor();
    assert.equal((await proofs())[0]?.verified, true);
    await page.keyboard.press('v');
    await page.getByText('verify one of the proofs').waitFor();
    await page.keyboard.press('d');
    assert.equal((await proofs()).length, 1);
    await page.getByRole('button', { name: 'Delete proof: tests' }).click();
    await page.getByText('No proofs yet').waitFor();
    assert.deepEqual(await proofs(), []);
    await page.locator('h2:focus', { hasText: 'Proofs' }).waitFor();
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });

  it('has the checklist added to, and its lines ticked', async (t) => {
    const { url, dossier, id } = await start(t);
    const { page, complaints } = await look(t, url);
    await page.getByText('Add item').click();
    await page.getByLabel('What to prove').fill('The message is right');
    await page.getByLabel('Type of proof').fill('screenshot');
    await page.getByLabel('Command, run in').fill('npm run check');
    await page.reload();
    await page.getByText('Your unsent text was restored.').first().waitFor();
    assert.equal(await page.getByLabel('Command, run in').inputValue(), 'npm run check');
    assert.equal(await page.getByLabel('Type of proof').inputValue(), 'screenshot');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Missing: The message is right').waitFor();
    const [item] = await dossier.call('GET /cases/{id}/proof/checklist', { id });
    assert.deepEqual([item?.type, item?.required, item?.task], ['screenshot', true, false]);
    assert.equal(await page.getByRole('button', { name: /^Mark as done/ }).count(), 0);
    assert.deepEqual(complaints, []);
  });

  it('has a line ticked that somebody wrote, by keyboard and without scripts', async (t) => {
    const { url, write, dossier, id } = await start(t);
    write('- [ ] The words were read \u202e\n');
    const done = async () =>
      (await dossier.call('GET /cases/{id}/proof/checklist', { id }))[0]?.done;
    const { page, browser } = await look(t, url);
    await page.getByText('Missing: The words were read ⟦U+202E⟧').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('All required proof is verified').waitFor();
    assert.equal(await done(), true);
    const { page: plain } = await openTab(browser, url, { javaScriptEnabled: false });
    await plain.getByRole('button', { name: 'Mark as open: The words were read' }).click();
    await plain.getByText('Missing: The words').waitFor();
    assert.equal(await done(), false);
  });

  it('has a line taken off the list by keyboard and without scripts, over no hand edit', async (t) => {
    const { url, write, dossier, id } = await start(t);
    write('Ours.\n- [ ] One\n- [ ] Two\n- [ ] Two\n');
    const list = async () =>
      (await dossier.call('GET /cases/{id}/proof/checklist', { id })).map((one) => one.description);
    const { page, browser, complaints } = await look(t, url);
    await page.keyboard.press('j');
    await page.keyboard.press('d');
    await page.getByRole('button', { name: 'Remove from checklist: One' }).press('Enter');
    await page.locator('summary[aria-label="Remove: One"]').waitFor({ state: 'detached' });
    assert.deepEqual(await list(), ['Two', 'Two']);
    await assertAccessible(page);
    const { page: plain } = await openTab(browser, url, {
      javaScriptEnabled: false,
      size: 'narrow',
    });
    // Of two lines with the same words the first was taken away by hand: what is sent was of the other list.
    write('Mine.\n- [ ] Two\n');
    await plain.getByRole('button', { name: 'Mark as done: Two' }).first().click();
    await plain.getByRole('alert').waitFor();
    assert.equal((await dossier.call('GET /cases/{id}/proof/checklist', { id }))[0]?.done, false);
    await page.locator('.checklist .row').nth(1).waitFor({ state: 'detached' });
    await plain.locator('summary[aria-label="Remove: Two"]').click();
    write('Mine.\n- [ ] Two\n- [ ] Three\n');
    await plain.getByRole('button', { name: 'Remove from checklist: Two' }).click();
    await plain.getByRole('alert').waitFor();
    assert.deepEqual(await list(), ['Two', 'Three']);
    assert.deepEqual(complaints, []);
  });

  it('takes a small file without scripts, and says where a larger one can go', async (t) => {
    const { url, proofs } = await start(t);
    const { page } = await look(t, url, { javaScriptEnabled: false });
    const send = async (name: string, buffer: Buffer) => {
      const file = { name, mimeType: 'image/png', buffer };
      await page.getByLabel(/^File/).setInputFiles(file);
      await page.getByRole('button', { name: 'Add file' }).click();
    };
    await send('é "shot".png', PICTURE);
    await page.getByRole('img', { name: 'Proof: tests' }).waitFor();
    const [made] = await proofs();
    assert.deepEqual([made?.type, made?.file?.slice(-4)], ['tests', '.png']);
    await send('large.png', Buffer.alloc(3 * 1024 * 1024));
    await page.getByText('Forms are limited to 1 MB without scripts').waitFor();
    assert.equal((await proofs()).length, 1);
  });

  it('shows pictures and texts, and runs nothing of any file', async (t) => {
    const { url, upload } = await start(t);
    await upload('shot.png', PICTURE);
    await upload('run.log', Buffer.from('ok\n\u001b[31mnot ok \u202e evil\n'));
    await upload('a.svg', Buffer.from(EVIL));
    await upload('a.pdf', Buffer.from('%PDF-1.4'));
    const { page, complaints } = await look(t, url);
    const picture = page.getByRole('img', { name: 'Proof: file' });
    await picture.scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.querySelector('img')?.naturalWidth === 1);
    assert.equal(await page.locator('img').count(), 1);
    await page.getByText('not ok ⟦U+202E⟧ evil').waitFor();
    await page.getByText(EVIL).waitFor();
    assert.equal(await page.getByRole('link', { name: /\.pdf$/ }).count(), 1);
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });

  it('takes a text, and a file where scripts run', async (t) => {
    const { url, proofs } = await start(t);
    const { page, complaints } = await look(t, url);
    await page.getByLabel('Description').fill('It works.');
    await page.getByRole('button', { name: 'Add text' }).click();
    await page.getByText('It works.').waitFor();
    const file = { name: 'shot.png', mimeType: 'image/png', buffer: PICTURE };
    await page.getByLabel(/^File/).setInputFiles(file);
    const type = page.getByLabel('Type').last();
    assert.equal(await type.inputValue(), 'screenshot');
    const text = { name: 'log.txt', mimeType: 'text/plain', buffer: PICTURE };
    await page.getByLabel(/^File/).setInputFiles(text);
    assert.equal(await type.inputValue(), 'tests');
    await type.fill('mine');
    await page.getByLabel(/^File/).setInputFiles(file);
    assert.equal(await type.inputValue(), 'mine');
    await page.getByRole('button', { name: 'Add file' }).click();
    await page.getByRole('img', { name: 'Proof: mine' }).waitFor();
    assert.deepEqual(
      (await proofs()).map(({ type, file }) => [type, file?.slice(-4)]),
      [
        ['tests', undefined],
        ['mine', '.png'],
      ],
    );
    assert.deepEqual(complaints, []);
  });

  it('is verified without scripts, and not where it is another by now', async (t) => {
    const { url, prove, proofs, dossier, id } = await start(t);
    const { id: pid } = await prove('tests', 'One.\n<script>alert(1)</script>');
    const { page } = await look(t, url, { javaScriptEnabled: false, size: 'narrow' });
    await dossier.call('PATCH /cases/{id}/proof/{pid}', { id, pid, body: { content: 'Two.' } });
    const verify = page.getByRole('button', { name: 'Verify tests' });
    await verify.click();
    await page.getByRole('alert').waitFor();
    assert.equal((await proofs())[0]?.verified, false);
    await page.getByText('Two.').waitFor();
    await verify.click();
    await page.getByText('All required proof is verified').waitFor();
    assert.equal((await proofs())[0]?.verified, true);
  });

  it('fits a narrow screen, whatever is written', async (t) => {
    const { url, prove, upload } = await start(t);
    await prove(
      'tests',
      `${'x'.repeat(3000)}\n\n[a](javascript:alert(1)) <img src=x onerror=alert(1)>`,
    );
    await upload('long.log', Buffer.from('y'.repeat(30_000)));
    const { page, complaints } = await look(t, url, { size: 'narrow' });
    await page.getByText('Beginning of the file').click();
    await assertFits(page);
    assert.equal(await page.locator('a[href^="javascript"], img').count(), 0);
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });
});
