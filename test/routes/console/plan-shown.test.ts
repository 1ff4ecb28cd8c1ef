/** What the page of a plan shows before it is approved, and after. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { assertAccessible, look, noBrowser, openTab } from '../../helpers/browser.ts';
import { eventually } from '../../helpers/eventually.ts';
import { withPlan } from '../../helpers/with-plan.ts';

describe('the head of a plan', { skip: noBrowser }, () => {
  it('says plainly that nothing isolates what would run', async (t) => {
    const { url } = await withPlan(t, { settings: 'sandbox: off' });
    const { page, complaints } = await look(t, url);
    await page.getByText('Not isolated.').waitFor();
    await page.getByText('The sandbox is turned off in the settings.').waitFor();
    const facts = await page.locator('.plan-facts').textContent();
    assert.match(facts ?? '', /Sandboxnone\s*Networkopen, including this machine/);
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });

  it('has sandbox, network and permissions of this session, without scripts too', async (t) => {
    const agent = `mine: { kind: acp, command: ${process.execPath}, network: { allow: [example.com] } }`;
    const settings = `providers:\n  ${agent}\npermissions: { execute: [npm test], fetch: allow }`;
    const { dossier, at, url } = await withPlan(t, { provider: 'mine', settings });
    const { sandbox } = await dossier.call('GET /cases/{id}/sessions/{sid}/boundary', at);
    const { page } = await look(t, url, { javaScriptEnabled: false });
    const facts = await page.locator('.plan-facts').textContent();
    if (sandbox === 'bubblewrap')
      assert.match(facts ?? '', /Sandboxbubblewrap\s*Networkonly example\.com/);
    else assert.match(facts ?? '', /Sandboxnone/);
  });
});

describe('the page of an approved plan', { skip: noBrowser }, () => {
  it('shows what was approved against what a hand made of it, and that this is not approved', async (t) => {
    const { dossier, at, url, fileOf, until } = await withPlan(t, { provider: 'manual' });
    const body = '# Mine\n\nOne.\n\nTwo.\n';
    await dossier.call('PUT /cases/{id}/sessions/{sid}/plan', { ...at, body });
    await until('plan_ready');
    await dossier.call('POST /cases/{id}/sessions/{sid}/approve', { ...at });
    const { page, complaints } = await look(t, url);
    await page.getByText(/Approved by operator (.* )?at/).waitFor();
    writeFileSync(await fileOf('plan.md'), body.replace('Two.', 'Three.'));
    await page.reload();
    await page.getByText('The change is not approved and does not run').waitFor();
    assert.equal(await page.locator('.plan').getByText('Three.').count(), 0);
    await page.getByRole('link', { name: 'Compare the approved plan with plan.md' }).click();
    assert.equal((await page.locator('.diff-lines ins').textContent())?.trim(), '+Three.');
    assert.equal((await page.locator('.diff-lines del').textContent())?.trim(), '-Two.');
    await assertAccessible(page);
    writeFileSync(await fileOf('approved.md'), 'Another.\n');
    await page.goto(url);
    await page.getByText('approved.md differs from the approved plan').waitFor();
    assert.deepEqual(complaints, []);
  });
});

describe('the page of a session without a plan', { skip: noBrowser }, () => {
  it('asks for nothing that is not there', async (t) => {
    const { dossier, at, url } = await withPlan(t, { provider: 'manual' });
    const { page, browser, complaints } = await look(t, url);
    await page.getByRole('textbox', { name: 'Plan as Markdown' }).waitFor();
    await dossier.call('POST /api/cases/{id}/session/abort', { id: at.id });
    await page.getByText('The session ended without a plan.').waitFor();
    assert.deepEqual(complaints, []);
    const first = await withPlan(t);
    const { complaints: others } = await openTab(browser, `${first.url}?show=diff`);
    assert.deepEqual(others, []);
  });
});

describe('the comments of a plan', { skip: noBrowser }, () => {
  it('come to another browser by themselves, and say what of them is no comment', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    const { page, browser } = await look(t, url);
    const { page: other, complaints } = await openTab(browser, url);
    const part = page.locator('.plan .part', { hasText: 'echo one' }).first();
    await part.hover();
    await part.getByRole('button', { name: /^Comment on line/ }).click();
    await part.getByRole('textbox').fill('Say uno.');
    await part.getByRole('button', { name: 'Save comment' }).click();
    await other.locator('.comment.unsent', { hasText: 'Say uno.' }).waitFor();
    const of = 'PUT /cases/{id}/sessions/{sid}/comments';
    await dossier.call(of, { ...at, body: '> echo two\n\n> First:\n\nWhy?\n' });
    for (const one of [page, other]) {
      await one.getByText('These quotes in comments.md have no comment').waitFor();
      await one.getByRole('button', { name: 'Send 1 comment' }).waitFor();
    }
    assert.deepEqual(complaints, []);
  });

  it('leave the plan to be read where they cannot be', async (t) => {
    const { url, fileOf } = await withPlan(t);
    const file = await fileOf('comments.md');
    writeFileSync(file, Buffer.from([0x3e, 0x20, 0xff, 0x0a, 0x0a, 0x41, 0x0a]));
    const { page } = await look(t, url);
    const line = page.locator('.plan .part', { hasText: 'echo one' }).first();
    await line.waitFor();
    await page.getByText('comments.md is not valid UTF-8').waitFor();
    assert.equal(await page.getByRole('button', { name: /^Comment on line/ }).count(), 0);
    assert.equal(readFileSync(file).length, 7);
    rmSync(file);
    mkdirSync(file);
    await page.goto(url);
    await page.getByText('Comments are read-only').waitFor();
    await line.waitFor();
  });
});

describe('a long plan', { skip: noBrowser }, () => {
  const count = () => document.querySelectorAll('*').length;
  const LONG = Array.from({ length: 20_000 }, (_, at) => `Line ${at + 1} says something.`);

  it('is shown in parts, with the comments of each, however many lines and marks it has', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    const put = (body: string) =>
      dossier.call('PUT /cases/{id}/sessions/{sid}/plan', { ...at, body });
    await put(`${LONG.join('\n')}\n`);
    const quote = '> Line 15000 says something.\n\nDoes it?\n';
    await dossier.call('PUT /cases/{id}/sessions/{sid}/comments', { ...at, body: quote });
    const { page, browser, complaints } = await look(t, `${url}?show=source`);
    assert.ok((await page.evaluate(count)) < 3000);
    await page
      .getByText(/Part 1 of \d+: lines 1 to \d+/)
      .first()
      .waitFor();
    await page.keyboard.press('n');
    await page
      .getByText(/Part 2 of/)
      .first()
      .waitFor();
    await page
      .getByRole('link', { name: /^Comments from line/ })
      .first()
      .click();
    await page.locator('.comment.unsent', { hasText: 'Does it?' }).waitFor();
    assert.ok((await page.evaluate(count)) < 3000);
    const bodies = [
      `${'>'.repeat(5000)} deep\n`,
      `${'x'.repeat(90)}\n`.repeat(3000),
      LONG.map((line) => `- ${line}`)
        .slice(0, 8000)
        .join('\n'),
      LONG.slice(0, 6000).join('\n\n'),
      '```sh\ntrue\n```\n\n'.repeat(3000),
      `| a |\n| - |\n${'| b |\n'.repeat(9000)}`,
    ];
    for (const body of bodies) {
      await put(body);
      const { page: tab, complaints: others } = await openTab(browser, url);
      assert.ok((await tab.evaluate(count)) < 3000, body.slice(0, 40));
      assert.deepEqual(others, []);
      await tab.context().close();
    }
    assert.deepEqual(complaints, []);
  });

  it('is compared in few elements', async (t) => {
    const { dossier, at, url } = await withPlan(t);
    const file = (body: string) =>
      dossier.call('PUT /cases/{id}/sessions/{sid}/plan', { ...at, body });
    await file(`${LONG.join('\n')}\n`);
    await dossier.call('POST /cases/{id}/sessions/{sid}/revise', {
      ...at,
      body: { comment: 'No.' },
    });
    const other = LONG.map((line, at) => (at % 2 === 0 ? line : `${line}!`)).join('\n');
    await eventually(() => file(other));
    const { page } = await look(t, `${url}?show=diff`);
    await page.locator('.diff-lines ins').first().waitFor();
    assert.ok((await page.evaluate(count)) < 3000);
  });
});
