/** The main job of the console: a plan is read, commented on, sent back, and approved. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { readComments } from '../../../store/base/comments.ts';
import { assertAccessible, assertFits, look, noBrowser, openTab } from '../../helpers/browser.ts';
import { type DaemonHere, startHere } from '../../helpers/daemon-here.ts';
import { eventually } from '../../helpers/eventually.ts';
import { withPlan } from '../../helpers/with-plan.ts';

const restarted = async (t: TestContext, daemon: DaemonHere, workspace: string): Promise<void> => {
  await daemon.end();
  const port = new URL(daemon.url).port;
  await startHere(t, ['--workspace', workspace, '--port', port]);
};

/** Writes a comment on the part that has these words, by mouse. */
const comment = async (page: Page, on: string, said: string): Promise<void> => {
  const part = page.locator('.plan .part', { hasText: on }).first();
  await part.hover();
  await part.getByRole('button', { name: /^Comment on line/ }).click();
  await part.getByRole('textbox', { name: 'Comment' }).fill(said);
  await part.getByRole('button', { name: 'Save comment' }).click();
  await part.locator('.comment.unsent', { hasText: said }).waitFor();
};

const unsentOf = (page: Page) => page.locator('.comment.unsent .markdown').allTextContents();

describe('the page of a plan', { skip: noBrowser }, () => {
  it('approves nothing over a comment that was begun, and leaves the keyboard where it is', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    const { page } = await look(t, url);
    const status = async () => (await dossier.call('GET /cases/{id}/sessions/{sid}', at)).status;
    const writes = page.getByRole('textbox', { name: 'Comment' });
    await page.keyboard.press('j');
    await page.keyboard.press('m');
    await page.keyboard.type('An objection');
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByText('The plan was not approved').waitFor();
    assert.equal(await status(), 'plan_ready');
    await writes.press('Escape');
    await page.keyboard.press('m');
    await page.keyboard.type('!');
    assert.equal(await writes.inputValue(), 'An objection!');
    // Escape leaves the text where it is, and the refusal leads to it.
    await writes.press('Escape');
    assert.equal(await writes.isVisible(), true);
    assert.equal(await page.evaluate('document.activeElement.className'), 'part');
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.locator('textarea:focus').and(writes).waitFor();
    assert.equal(await status(), 'plan_ready');
    await page.goto(`${url}?show=whole`);
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByRole('link', { name: 'Show the comment' }).click();
    await writes.waitFor();
    assert.equal(await status(), 'plan_ready');
    await page.reload();
    await writes.waitFor();
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'BODY');
    await page.keyboard.press('e');
    await page.waitForURL(/show=edit/);
    await page.waitForFunction("document.activeElement.name === '_markdown'");
    await page.goBack();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByText(/Approved by operator (.* )?at/).waitFor();
  });

  it('approves over unsent comments by a second step that says so, in the inbox and without scripts too', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    await dossier.call('PUT /cases/{id}/sessions/{sid}/comments', { ...at, body: '> x\n\nWhy?\n' });
    const status = async () => (await dossier.call('GET /cases/{id}/sessions/{sid}', at)).status;
    const { page, browser } = await look(t, new URL('/dashboard', url).href);
    await page.getByText('Review plan').click();
    await page.getByText('Approve without 1 comment…').click();
    await page.getByText('The comment was not sent').waitFor();
    await page.getByRole('link', { name: 'Show comments' }).waitFor();
    const { page: plain } = await openTab(browser, url, { javaScriptEnabled: false });
    assert.equal(await plain.getByRole('button', { name: /^Approve/ }).count(), 0);
    await plain.getByText('Approve without 1 comment…').click();
    assert.equal(await status(), 'plan_ready');
    await plain.getByRole('button', { name: /^Approve .* without 1 comment$/ }).click();
    await plain.getByText(/Approved by operator (.* )?at/).waitFor();
  });

  it('keeps what each of two tabs began to say of the same part', async (t) => {
    const { url } = await withPlan(t);
    const { page } = await look(t, url);
    const boxOf = (one: Page) => one.getByRole('textbox', { name: 'Comment' });
    await page.keyboard.press('j');
    await page.keyboard.press('m');
    await boxOf(page).fill('Said in one');
    const other = await page.context().newPage();
    await other.goto(url);
    await boxOf(other).fill('Said in the other');
    for (const [one, said] of [
      [page, 'Said in one'],
      [other, 'Said in the other'],
    ] as const) {
      await one.reload();
      await boxOf(one).waitFor();
      assert.equal(await boxOf(one).inputValue(), said);
    }
  });

  it('takes comments over tabs, a reload and a restart, sends them, and approves', async (t) => {
    const { daemon, workspace, dossier, at, url } = await withPlan(t);
    const { page, complaints } = await look(t, url);
    await comment(page, 'echo one', 'Say uno.');
    await assertAccessible(page);
    const tab = await page.context().newPage();
    await tab.goto(url);
    await comment(tab, 'echo two', 'Say due.');
    await page.getByRole('button', { name: 'Send 2 comments' }).waitFor();
    const part = page.locator('.plan .part', { hasText: 'echo three' }).first();
    await part.hover();
    await part.getByRole('button', { name: /^Comment on line/ }).click();
    await part.getByRole('textbox', { name: 'Comment' }).fill('Say tre.');
    await page.reload();
    await restarted(t, daemon, workspace);
    await page.getByText('The daemon does not respond').waitFor({ state: 'detached' });
    assert.equal(await part.getByRole('textbox').inputValue(), 'Say tre.');
    await part.getByRole('button', { name: 'Save comment' }).click();
    await page.getByRole('button', { name: 'Send 3 comments' }).click();
    await page.getByText('This plan was sent back with the following comment').first().waitFor();
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    const earlier = page.locator('.comment', { hasText: 'on the previous version' });
    assert.equal(await earlier.count(), 3);
    const said = await dossier.call('GET /cases/{id}/sessions/{sid}/comments', at);
    const texts = readComments(said).rounds[0]?.comments.map(({ text }) => text);
    assert.deepEqual(texts, ['Say uno.', 'Say due.', 'Say tre.']);
    await page.getByRole('link', { name: 'Changes' }).click();
    await page.locator('.diff-lines ins', { hasText: 'Say due.' }).waitFor();
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByText(/Approved by operator (.* )?at/).waitFor();
    // What the restart cut off is no mistake of the page.
    const others = complaints.filter((said) => !/ERR_CONNECTION|Failed to load/.test(said));
    assert.deepEqual(others, []);
  });

  it('does the same by keyboard alone', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    const { page, complaints } = await look(t, url);
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press('j', 'j', 'm');
    await page.getByRole('textbox', { name: 'Comment' }).waitFor();
    await page.keyboard.type('Why?');
    await press('Control+Enter');
    await page.getByRole('button', { name: 'Send 1 comment' }).waitFor();
    await press('j', 'm');
    await page.keyboard.type('And this?');
    await press('Control+Enter');
    await page.getByRole('button', { name: 'Send 2 comments' }).waitFor();
    await press('s');
    await page.getByText('This plan was sent back').first().waitFor();
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    await press('e');
    await page.getByRole('textbox', { name: 'Plan as Markdown' }).fill('# Mine\n\nBy hand.\n');
    await page.getByRole('button', { name: 'Save plan' }).press('Enter');
    await page.getByRole('heading', { name: 'Mine' }).waitFor();
    await press('a');
    await page.getByText(/Approved by operator (.* )?at/).waitFor();
    const approved = await dossier.call('GET /cases/{id}/sessions/{sid}/plan', {
      ...{ ...at, which: 'approved' },
    });
    assert.equal(approved, '# Mine\n\nBy hand.\n');
    assert.deepEqual(complaints, []);
  });

  it('asks before it aborts, by x', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    const { page } = await look(t, url);
    await page.keyboard.press('x');
    await page.getByRole('button', { name: 'Abort session' }).waitFor();
    const status = async () => (await dossier.call('GET /cases/{id}/sessions/{sid}', at)).status;
    assert.equal(await status(), 'plan_ready');
    await page.keyboard.press('Enter');
    await page.locator('.tag.aborted').waitFor();
    assert.equal(await status(), 'aborted');
  });

  it('loses no comment to another hand, edits and removes its own, and sees a hand edit', async (t) => {
    const { fileOf, url } = await withPlan(t);
    const { page } = await look(t, url);
    await comment(page, 'echo one', 'Mine.');
    const file = await fileOf('comments.md');
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n> nothing like it\n\nBy hand.\n`);
    // The page has an older version: what it adds is added to this one.
    await comment(page, 'echo two', 'Another.');
    assert.deepEqual((await unsentOf(page)).toSorted(), ['Another.', 'By hand.', 'Mine.']);
    const part = page.locator('.plan .part', { hasText: 'echo one' }).first();
    await part.getByRole('button', { name: 'Edit comment' }).click();
    await part.getByRole('textbox').fill('> Mine, better.');
    await part.getByRole('button', { name: 'Save comment' }).click();
    await part.getByText('Mine, better.').waitFor();
    await part.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Send 2 comments' }).waitFor();
    assert.match(readFileSync(file, 'utf8'), /> nothing like it\n\nBy hand\.\n/);
  });

  it('works as forms without scripts', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    const { page, browser } = await look(t, url, { javaScriptEnabled: false });
    await page.getByText('Request changes without comments').click();
    await page.getByRole('textbox').fill('Other files.');
    await page.getByRole('button', { name: 'Request changes' }).click();
    const status = async () => (await dossier.call('GET /cases/{id}/sessions/{sid}', at)).status;
    await eventually(async () => assert.equal(await status(), 'plan_ready'));
    await page.goto(`${url}?show=edit`);
    await page.getByRole('textbox').fill('# Other\n');
    await page.getByRole('button', { name: 'Save plan' }).click();
    await page.getByRole('heading', { name: 'Other' }).waitFor();
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByText(/Approved by operator (.* )?at/).waitFor();
    const again = await withPlan(t);
    const { page: other } = await openTab(browser, again.url, { javaScriptEnabled: false });
    await other.getByText('Abort', { exact: true }).click();
    await other.getByRole('button', { name: 'Abort session' }).click();
    await other.locator('.tag.aborted').waitFor();
  });

  it('shows what is hidden, runs nothing, and is no wider than a telephone', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    const body = `# Plan <img src=x onerror=alert(1)>\n\n<script>alert(1)</script>\n\nA \u202Eright\u202C one, ${'x'.repeat(400)}\n\n\`\`\`sh\necho ${'y'.repeat(400)}\n\`\`\`\n`;
    await dossier.call('PUT /cases/{id}/sessions/{sid}/plan', { ...at, body });
    const hostile = '> <b>x</b>\n\n[a](javascript:alert(1)) <img src=x onerror=alert(1)>\n';
    await dossier.call('PUT /cases/{id}/sessions/{sid}/comments', { ...at, body: hostile });
    const { page, complaints } = await look(t, url, { size: 'narrow' });
    await page.getByText('has invisible or misleading characters').waitFor();
    await page.getByText('⟦U+202E⟧').first().waitFor();
    for (const show of ['', '?show=source', '?show=edit']) {
      await page.goto(url + show);
      await assertFits(page);
      await assertAccessible(page);
    }
    assert.equal(await page.locator('img, main script').count(), 0);
    assert.deepEqual(complaints, []);
  });

  it('has the plan of a manual session written in it', async (t) => {
    const { url } = await withPlan(t, { description: 'By hand.', provider: 'manual' });
    const { page } = await look(t, url.replace(/\/plan$/, ''));
    await page.getByRole('link', { name: 'Write plan' }).waitFor();
    await page.keyboard.press('v');
    await page.getByText('You approve it after you saved it.').waitFor();
    await page.getByRole('textbox', { name: 'Plan as Markdown' }).fill('# What I do\n');
    await page.getByRole('button', { name: 'Save plan' }).click();
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    await page.getByRole('heading', { name: 'What I do' }).waitFor();
  });
});
