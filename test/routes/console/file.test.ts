import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { connect } from '../../../lib/client/client.ts';
import { asText } from '../../../routes/console/editor/language.ts';
import { assertAccessible, assertFits, look, noBrowser } from '../../helpers/browser.ts';
import { untilLive } from '../../helpers/chromium.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { eventually } from '../../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

const FILES = {
  'README.md': '# Sample\n',
  'src/add.rs': 'fn add() {}\n',
  'dos.txt': 'one\r\ntwo\r\n',
};

const PATH = [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
const BIN = fileURLToPath(new URL('../../../../node_modules/.bin', import.meta.url));

const start = async (t: TestContext, files: Record<string, string> = FILES, path = PATH) => {
  const { root } = makeRepository(t, { files });
  const args = ['--workspace', temporaryDirectory(t), '--repo', root];
  const { url } = await startHere(t, args, { PATH: path });
  const dossier = connect({ url });
  const body = { title: 'Change things', type: 'bug' };
  const { id } = await dossier.call('POST /cases', { body });
  const worktree = await dossier.call('POST /api/worktrees', { body: { case_id: id } });
  return {
    ...{ dossier, id },
    page: (file: string) => `${url}/dashboard/cases/${id}/files?path=${encodeURIComponent(file)}`,
    all: `${url}/dashboard/cases/${id}`,
    on: (file: string) => join(worktree.path, file),
  };
};

const untilOpen = (page: Page) => page.locator('.cm-content').waitFor();

const typeAtEnd = async (page: Page, text: string): Promise<void> => {
  await untilOpen(page);
  await page.keyboard.press('Control+End');
  await page.keyboard.type(text);
};

const stands = (file: string, text: string) =>
  eventually(() => assert.equal(readFileSync(file, 'utf8'), text));

// What the daemon refused is shown in the page; that a browser says so, too, is no fault.
const besides = (complaints: readonly string[]) =>
  complaints.filter((said) => !/status of (?:409|412|404|503)/.test(said));

describe('what a language server says', () => {
  it('is text, and nothing that a browser acts on', () => {
    const said: [string, string][] = [
      ['<p>Says <em>it</em> &amp; &lt;b&gt;.</p>', 'Says it &amp; &lt;b&gt;.'],
      ['<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)>'],
      ['<p onclick=a>x</p><scr<p>ipt>', '&lt;p onclick=a>x&lt;script>'],
      ['<a href="javascript:a">x</a>', 'x'],
      ['a&#8238;b &nbsp;\u202ec', 'a&amp;#8238;b &amp;nbsp;⟦U+202E⟧c'],
      ['one<br>two', 'one\ntwo'],
    ];
    for (const [html, text] of said) assert.equal(asText(html), text);
  });
});

describe('a file in the editor', { skip: noBrowser }, () => {
  it('is edited, saved and left by keyboard', async (t) => {
    const { page: at, on } = await start(t);
    const { page, complaints } = await look(t, at('README.md'));
    await typeAtEnd(page, 'more');
    await page.getByText('Unsaved', { exact: true }).waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    assert.equal(readFileSync(on('README.md'), 'utf8'), '# Sample\nmore');
    await page.keyboard.press('Escape');
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    assert.equal(await focused(), 'Save');
    await page.keyboard.press('b');
    await page.locator('.cm-changedLine').waitFor();
    await page.getByRole('button', { name: 'Use the base' }).click();
    await page.getByText('Unsaved', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await stands(on('README.md'), '# Sample\n');
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });

  it('has the line ends that it had', async (t) => {
    const { page: at, on } = await start(t);
    writeFileSync(on('mixed.txt'), '\ufeffone\r\ntwo\nthree\rfour\n');
    const { page } = await look(t, at('dos.txt'));
    await typeAtEnd(page, 'three\nfour');
    await page.keyboard.press('Control+s');
    await stands(on('dos.txt'), 'one\r\ntwo\r\nthree\r\nfour');
    await page.goto(at('mixed.txt'));
    await typeAtEnd(page, 'five');
    await page.keyboard.press('Control+s');
    await stands(on('mixed.txt'), '\ufeffone\r\ntwo\nthree\rfour\nfive');
  });

  it('shows both texts where it changed meanwhile, over a reload too, and loses none', async (t) => {
    const { page: at, on } = await start(t);
    const { page, complaints } = await look(t, at('README.md'));
    await typeAtEnd(page, 'mine\n');
    await page.getByText('Unsaved', { exact: true }).waitFor();
    writeFileSync(on('README.md'), '# Theirs\n');
    await page.keyboard.press('Control+s');
    await page.getByText('The file changed on disk').waitFor();
    await page.keyboard.press('Control+s');
    assert.equal(readFileSync(on('README.md'), 'utf8'), '# Theirs\n');
    await page.reload();
    await page.getByText('The file changed on disk').waitFor();
    await page.locator('.cm-deletedChunk', { hasText: '# Theirs' }).waitFor();
    assert.match((await page.locator('.cm-content').textContent()) ?? '', /# Sample.*mine/s);
    await page.getByRole('button', { name: 'Overwrite the file' }).click();
    await stands(on('README.md'), '# Sample\nmine\n');
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.reload();
    await untilOpen(page);
    assert.equal(await page.getByText('The file changed on disk').count(), 0);
    assert.deepEqual(besides(complaints), []);
  });

  it('takes what is on disk at once where nothing was typed, and by choice where something was', async (t) => {
    const { page: at, on } = await start(t);
    const { page } = await look(t, at('README.md'));
    await untilOpen(page);
    const comeBack = () => page.evaluate(() => window.dispatchEvent(new Event('focus')));
    writeFileSync(on('README.md'), '# Second\n');
    await comeBack();
    await page.locator('.cm-line', { hasText: '# Second' }).waitFor();
    await page.getByText('Saved', { exact: true }).waitFor();
    await typeAtEnd(page, 'mine');
    writeFileSync(on('README.md'), '# Third\n');
    await comeBack();
    await page.getByRole('button', { name: 'Discard my text' }).click();
    await page.locator('.cm-line', { hasText: '# Third' }).waitFor();
    await page.getByText('Saved', { exact: true }).waitFor();
    rmSync(on('README.md'));
    await comeBack();
    await page.getByText('The file was deleted on disk').waitFor();
    await page.getByRole('button', { name: 'Overwrite the file' }).click();
    await stands(on('README.md'), '# Third\n');
  });

  it('says who else writes, and keeps what cannot be saved', async (t) => {
    const { page: at, dossier, id } = await start(t);
    const body = { type: 'implementing', provider: 'manual' };
    await dossier.call('POST /cases/{id}/sessions', { id, body });
    const { page } = await look(t, at('README.md'));
    await page.getByText('A session (manual) is planning').waitFor();
    await typeAtEnd(page, 'mine');
    await page.keyboard.press('Control+s');
    await page
      .getByRole('alert')
      .filter({ hasText: 'a change of the worktree would be undone' })
      .waitFor();
    await page.getByText('Unsaved', { exact: true }).waitFor();
    await dossier.call('POST /api/cases/{id}/session/abort', { id });
    await page.getByText('A session (manual) is planning').waitFor({ state: 'detached' });
    await page.reload();
    await page.locator('.cm-line', { hasText: 'mine' }).waitFor();
  });

  it('works without a language server, and says that there is none', async (t) => {
    const { page: at, all } = await start(t);
    const { page, complaints } = await look(t, at('src/add.rs'));
    await page.getByText('There is no language server for rust').waitFor();
    await typeAtEnd(page, 'more');
    await page.getByText('Unsaved', { exact: true }).waitFor();
    assert.deepEqual(besides(complaints), []);
    const loaded: string[] = [];
    page.on('response', async (answer) => {
      if (answer.url().endsWith('.js')) loaded.push(await answer.text());
    });
    await page.goto(all);
    await untilLive(page);
    assert.ok(loaded.length > 0);
    assert.ok(loaded.every((script) => !script.includes('cm-activeLine')));
  });

  it('has the language server of the worktree', async (t) => {
    const files = {
      'a.ts':
        "/** <img src=x onerror=alert(1)> Says *it*. */\nexport const shout = 'a';\nconst bad: number = shout;\n",
      'tsconfig.json': '{}',
    };
    const { page: at } = await start(t, files, [BIN, PATH].join(delimiter));
    const { page, complaints } = await look(t, at('a.ts'));
    await page.getByText('The language server is running').waitFor();
    await page.locator('.cm-lintRange-error').waitFor();
    await page.locator('.cm-line', { hasText: 'export' }).getByText('shout').hover();
    const told = page.locator('.cm-tooltip', { hasText: 'Says it.' });
    await told.waitFor();
    assert.equal(await told.locator('img').count(), 0);
    await page.keyboard.press('Control+End');
    await page.keyboard.type('shout.toUp');
    await page.locator('.cm-tooltip-autocomplete', { hasText: 'toUpperCase' }).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.cm-content:focus').count(), 1);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.cm-content:focus').count(), 0);
    assert.deepEqual(complaints, []);
  });

  it('is text without scripts; what cannot be shown is told in words', async (t) => {
    const { page: at, on, all } = await start(t);
    const name = '<b>\u202etxt.md';
    writeFileSync(on(name), '<script>document.title = 1</script>\u001b[31m');
    writeFileSync(on('a.bin'), 'a\0b');
    writeFileSync(on('large.txt'), Buffer.alloc(4 * 1_048_576 + 1, 'a'));
    symlinkSync('/etc/passwd', on('link'));
    mkdirSync(on('empty'));
    const { page } = await look(t, at(name), { javaScriptEnabled: false });
    const shown = (await page.locator('main').textContent()) ?? '';
    assert.ok(shown.includes('<script>document.title = 1</script>␛[31m'));
    assert.ok(shown.includes('<b>⟦U+202E⟧txt.md'));
    assert.equal(await page.getByRole('link', { name: 'Open in editor' }).count(), 0);
    const told: [string, string][] = [
      ['a.bin', 'Binary file (3 bytes)'],
      ['large.txt', 'has 4194305 bytes'],
      ['link', 'link'],
      ['../x', 'contains ".."'],
      ['.git', 'leads into .git'],
      ['none.md', 'none.md'],
    ];
    for (const [path, words] of told) {
      await page.goto(at(path));
      await page.getByText(words).last().waitFor();
      assert.equal(await page.locator('.diff-text').count(), 0, path);
    }
    await page.goto(`${all}/files`);
    await page.getByRole('link', { name: 'README.md' }).click();
    await page.getByText('# Sample').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Open in editor' }).count(), 1);
    await page.goto(`${all}/files?folder=empty`);
    await page.getByText('This directory is empty.').waitFor();
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`fits a small page: ${colorScheme}`, async (t) => {
      const { page: at, all } = await start(t);
      const { page, complaints } = await look(t, at('README.md'), { size: 'narrow', colorScheme });
      await typeAtEnd(page, 'x'.repeat(200));
      await page.keyboard.press('Escape');
      await page.keyboard.press('b');
      await page.locator('.cm-changedLine').waitFor();
      await assertFits(page);
      await assertAccessible(page);
      await page.goto(`${all}/files`);
      await page.locator('.file-list').waitFor();
      await assertAccessible(page);
      await assertFits(page);
      assert.deepEqual(complaints, []);
    });
});
