/** A plan that waits, and what is said of it, are edited by hand, in an editor, while pages show them. */
import assert from 'node:assert/strict';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { look, noBrowser } from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { withPlan } from '../../helpers/with-plan.ts';

// Nobody looks away and comes back, and the regular comparison is a minute away.
const SOONER = { timeout: 40_000 };
const shows = (page: Page, text: string): Promise<void> =>
  page.getByText(text).first().waitFor(SOONER);

describe('a plan that waits', { skip: noBrowser }, () => {
  it('is shown as an editor saves it, with what is said of it, after a restart too', async (t) => {
    const { daemon, workspace, dossier, at, url } = await withPlan(t);
    const { path } = await dossier.call('GET /cases/{id}/sessions/{sid}', at);
    const dir = join(workspace, path);
    const { page } = await look(t, url);
    appendFileSync(join(dir, 'plan.md'), '\nWritten by a hand.\n');
    await shows(page, 'Written by a hand.');
    writeFileSync(join(dir, 'comments.md'), 'Said by a hand.\n');
    await shows(page, 'Said by a hand.');
    await daemon.end();
    const port = new URL(daemon.url).port;
    await startHere(t, ['--workspace', workspace, '--port', port]);
    await page.getByText('The daemon does not respond').waitFor({ state: 'detached' });
    await page.goto(new URL('/dashboard', url).href);
    await page.getByText('Review plan').click();
    await shows(page, 'Written by a hand.');
    // As editors do that write beside it first.
    writeFileSync(join(dir, 'plan.md.new'), '# Plan\n\nWritten anew.\n');
    renameSync(join(dir, 'plan.md.new'), join(dir, 'plan.md'));
    // What was read is not what waits now: it is shown, and answered once that is seen.
    await page.getByText('Written by a hand.').waitFor({ state: 'detached', ...SOONER });
    await shows(page, 'Written anew.');
    // The comment was not sent, so it is named first.
    const approve = page.getByText('Approve without 1 comment…');
    assert.equal(await approve.count(), 0);
    await page.getByRole('button', { name: 'Review new version' }).click();
    await approve.waitFor();
  });

  it('is shown as what it is where it is too long to review', async (t) => {
    const { workspace, dossier, at, url } = await withPlan(t);
    const { path } = await dossier.call('GET /cases/{id}/sessions/{sid}', at);
    writeFileSync(join(workspace, path, 'plan.md'), 'x'.repeat(1_048_577));
    const text = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
    assert.match(text, /plan\.md has 1048577 characters, which is too long to review/);
    assert.doesNotMatch(text, /No plan yet/);
  });
});
