/** A plan is approved beside its text alone: in the inbox and on its page. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { sha256 } from '../../../store/base/sha256.ts';
import { assertAccessible, look, noBrowser } from '../../helpers/browser.ts';
import { eventually } from '../../helpers/eventually.ts';
import { planText } from '../../helpers/plan-text.ts';
import { withPlan } from '../../helpers/with-plan.ts';

const approve = (page: Page) => page.getByRole('button', { name: /^Approve/ });
const forms = (page: Page) => page.locator('input[name=_call][value$="/approve"]');

type Planned = Awaited<ReturnType<typeof withPlan>>;

const put = ({ dossier, at }: Planned, body: string) =>
  dossier.call('PUT /cases/{id}/sessions/{sid}/plan', { ...at, body });
const sessionOf = ({ dossier, at }: Planned) => dossier.call('GET /cases/{id}/sessions/{sid}', at);
const inboxOf = ({ daemon }: Planned) => `${daemon.url}/dashboard`;

const LONG = Array.from({ length: 6000 }, (_, at) => `Line ${at + 1} says something.`).join('\n\n');

describe('a plan in the inbox', { skip: noBrowser }, () => {
  it('cannot be approved by key, mouse or form before its text is there', async (t) => {
    const planned = await withPlan(t);
    const text = '# What is read\n\nIs what runs.\n';
    await put(planned, text);
    const { page, complaints } = await look(t, inboxOf(planned));
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await page.route('**/plan?*', async (route) => {
      await held;
      await route.continue();
    });
    await page.keyboard.press('j');
    await page.keyboard.press('p');
    await page.getByText('Loading the plan').waitFor();
    await page.keyboard.press('a');
    assert.deepEqual([await approve(page).count(), await forms(page).count()], [0, 0]);
    assert.equal((await sessionOf(planned)).status, 'plan_ready');
    goOn();
    await page.getByText('Is what runs.').waitFor();
    const sent = page.waitForRequest((request) => request.url().endsWith('/approve'));
    await page.keyboard.press('a');
    assert.deepEqual((await sent).postDataJSON(), { plan_sha256: sha256(Buffer.from(text)) });
    await page.getByText('The inbox is empty.').waitFor();
    assert.equal((await sessionOf(planned)).approved_sha256, sha256(Buffer.from(text)));
    assert.deepEqual(complaints, []);
  });

  it('cannot be approved where its text did not come, until it does', async (t) => {
    const planned = await withPlan(t);
    const { page } = await look(t, inboxOf(planned));
    await page.route('**/plan?*', (route) => route.abort());
    await page.getByText('Review plan').click();
    await page.getByText('could not be loaded').waitFor();
    assert.deepEqual([await approve(page).count(), await forms(page).count()], [0, 0]);
    await page.unroute('**/plan?*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('echo one > one.txt').first().waitFor();
    await approve(page).waitFor();
  });

  it('that changed meanwhile is refused, and shown anew', async (t) => {
    const planned = await withPlan(t);
    const { page } = await look(t, inboxOf(planned));
    // Even where the page did not hear of it.
    await page.route('**/attention', (route) => route.abort());
    await page.getByText('Review plan').click();
    await approve(page).waitFor();
    await put(planned, '# Another\n\nDelete the backups.\n');
    await approve(page).click();
    await page.getByRole('alert').getByText('The plan changed since you read it').waitFor();
    await page.getByText('Delete the backups.').waitFor();
    // A second press of the key was meant for the text before.
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    assert.deepEqual([await approve(page).count(), await forms(page).count()], [0, 0]);
    assert.equal((await sessionOf(planned)).status, 'plan_ready');
    await page.unroute('**/attention');
    await put(planned, '# A third\n\nKeep the backups.\n');
    await page.getByText('Keep the backups.').waitFor();
    await page.getByRole('button', { name: 'Review new version' }).click();
    await approve(page).click();
    await page.getByText('The inbox is empty.').waitFor();
  });

  it('has the head, the permissions, the warnings and the commands of its page', async (t) => {
    const planned = await withPlan(t, { settings: 'sandbox: off' });
    const long = 'A paragraph.\n\n'.repeat(60);
    const code = '```sh\ncurl https://example.org | sh\n```\n';
    await put(planned, `A \u202Eright\u202C one\n\n${long}${code}`);
    const { page, complaints } = await look(t, inboxOf(planned));
    const parts = ['.plan-facts', '.plan-unshut', '.plan-hidden', '.plan-leave', '.commands'];
    const read = async () => {
      await approve(page).waitFor();
      const texts = await Promise.all(parts.map((part) => page.locator(part).textContent()));
      return texts.map((text) => text?.replace(/\d+ (s|min) old/, 'old'));
    };
    await page.getByText('Review plan').click();
    const here = await read();
    await assertAccessible(page);
    // No box of its own scroll has a part of it.
    const hidden =
      '[...document.querySelectorAll(".in-place *")].filter((one) => one.scrollHeight > one.clientHeight + 4 && getComputedStyle(one).overflowY === "auto").length';
    assert.equal(await page.evaluate(hidden), 0);
    await page.goto(planned.url);
    assert.deepEqual(here, await read());
    assert.deepEqual(complaints, []);
  });

  for (const [where, open] of [
    ['here', inboxOf],
    ['on its page', ({ url }: Planned) => url],
  ] as const)
    it(`is approved by key once its end was on the screen, ${where}`, async (t) => {
      const planned = await withPlan(t);
      await put(planned, `${'A paragraph.\n\n'.repeat(80)}The end.\n`);
      const { page } = await look(t, open(planned));
      if (where === 'here') await page.getByText('Review plan').click();
      await approve(page).waitFor();
      const end = page.getByText('The end.');
      const isBelow = () => end.evaluate((one) => one.getBoundingClientRect().top > innerHeight);
      assert.ok(await isBelow());
      while (await isBelow()) {
        assert.equal((await sessionOf(planned)).status, 'plan_ready');
        await page.keyboard.press('a');
      }
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      const sent = page.waitForRequest((request) => request.url().endsWith('/approve'));
      await page.keyboard.press('a');
      await sent;
    });

  it('that is too long for it is approved on its page, where all of it stands', async (t) => {
    const planned = await withPlan(t);
    await put(planned, `${LONG}\n`);
    const { page, complaints } = await look(t, inboxOf(planned));
    await page.getByText('Review plan').click();
    await page.getByText('Only the beginning of this long plan is shown.').waitFor();
    assert.deepEqual([await approve(page).count(), await forms(page).count()], [0, 0]);
    await page.goto(planned.url);
    await page.getByText('Part 1 of').first().waitFor();
    assert.equal(await approve(page).count(), 0);
    await page.keyboard.press('a');
    await page.waitForURL(/show=whole/);
    await approve(page).waitFor();
    assert.match((await page.locator('main').allInnerTexts()).join(), /Line 6000 says something\./);
    await approve(page).click();
    await page.getByText(/Approved by operator (.* )?at/).waitFor();
    assert.deepEqual(complaints, []);
  });

  it('is read and approved on its page where there are no scripts', async (t) => {
    const planned = await withPlan(t);
    const { page } = await look(t, inboxOf(planned), { javaScriptEnabled: false });
    assert.deepEqual([await approve(page).count(), await forms(page).count()], [0, 0]);
    await page.getByRole('link', { name: 'Review plan' }).click();
    await approve(page).click();
    await page.getByText(/Approved by operator (.* )?at/).waitFor();
    await eventually(async () => {
      await page.reload();
      assert.match((await page.locator('main').textContent()) ?? '', /This text ran\./);
    });
  });
});

/** `npm run soak:markdown` reads a thousand. */
const TEXTS = Number(process.env.DOSSIER_MARKDOWN ?? 2000) / 100;

describe('the page of a plan', { skip: noBrowser }, () => {
  it(`has every word of ${TEXTS} plans in sight beside the button that approves them`, async (t) => {
    const planned = await withPlan(t);
    const { page, complaints } = await look(t, planned.url, { javaScriptEnabled: false });
    const texts = fc.sample(planText, TEXTS).filter((text) => text.trim() !== '');
    const fixed = '[note]: # "Delete w0q"\n\n| a |\n|-|\n| b | w1q |\n\n[a](b "w2q")\n';
    for (const text of [fixed, ...texts]) {
      await put(planned, text);
      await page.goto(planned.url);
      assert.equal(await approve(page).count(), 1);
      const [seen = ''] = await page.locator('.plan').allInnerTexts();
      for (const [word] of text.matchAll(/w\d+q/g))
        assert.ok(seen.includes(word), `${word} of ${JSON.stringify(text)}`);
    }
    assert.deepEqual(complaints, []);
  });
});
