/** The main job of the console as a whole: from nothing to a pull request that a colleague merged. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { connect } from '../../../lib/client/client.ts';
import { type CodeHost, startCodeHost } from '../../codehost/code-host.ts';
import { look, noBrowser } from '../../helpers/browser.ts';
import { untilLive } from '../../helpers/chromium.ts';
import { startDaemon } from '../../helpers/daemon.ts';
import { type Hands, keyboard, mouse } from '../../helpers/hands.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

const DESCRIPTION = [
  'Round half up in src/tax.js:\n\n```sh\nmkdir -p src && echo "export const tax = 1;" > src/tax.js\n```\n',
  'Say so:\n\n```sh\necho "Rounds half up." > "NO$(echo TES).md"\n```\n',
].join('\n');

/** Once the page at this address is there, and follows what happens. */
const arrive = async (page: Page, address: string | RegExp): Promise<void> => {
  await page.waitForURL(address);
  await untilLive(page);
};

const CASE = '/dashboard/cases/[^/]+';
const at = (path: string): RegExp => new RegExp(`${CASE}${path}$`);
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });

/** A Work item is made, and leads to a plan that waits. */
const makeItem = async (page: Page, hands: Hands): Promise<void> => {
  await hands.press(link(page, 'New'), 'c');
  await arrive(page, /\/dashboard\/new$/);
  await hands.write(page.getByLabel('Title'), 'Round half up');
  await hands.write(page.getByLabel('Description'), DESCRIPTION);
  await hands.press(button(page, 'Create'));
  await arrive(page, at(''));
  await page.getByText('plan ready').waitFor();
  const session = page.locator('[data-row]', { hasText: 'plan ready' });
  await hands.reach(session);
  await hands.press(session.locator('a.title'), 'o');
  await arrive(page, at('/sessions/[^/]+'));
  await hands.press(link(page, 'Review plan').first(), 'v');
  await arrive(page, at('/sessions/[^/]+/plan'));
};

/** A block is commented on, the plan sent back, and its next version approved. */
const decide = async (page: Page, hands: Hands): Promise<void> => {
  const part = page.locator('.plan .part', { hasText: 'echo "Rounds half up."' }).first();
  await hands.reach(part);
  await hands.press(part.getByRole('button', { name: /^Comment on line/ }), 'm');
  const comment = part.getByRole('textbox', { name: 'Comment' });
  await comment.waitFor();
  await page.keyboard.insertText('Why not in the README?');
  await hands.press(part.getByRole('button', { name: 'Save comment' }));
  await hands.press(button(page, 'Send 1 comment'), 's');
  await page.getByText('This plan was sent back').first().waitFor();
  await page.locator('.comment', { hasText: 'on the previous version' }).waitFor();
  await hands.press(button(page, /^Approve/), 'a');
  await page.getByText(/Approved by operator (.* )?at/).waitFor();
};

/** The work is waited for, and what it changed is read, file by file. */
const readDiff = async (page: Page, hands: Hands): Promise<void> => {
  await hands.press(link(page, 'Activity'), 't a');
  await arrive(page, at('/sessions/[^/]+'));
  await page.locator('.tag.completed').first().waitFor();
  await hands.press(link(page, 'Diff'), 't d');
  await arrive(page, at('/sessions/[^/]+/diff'));
  await page.getByRole('heading', { name: 'Not in the plan (1)' }).waitFor();
  const files = page.locator('.diff-file');
  for (const name of ['NOTES.md', 'tax.js']) {
    const file = files.filter({ hasText: name });
    await hands.reach(file);
    await hands.press(file.getByRole('checkbox'), 'v');
  }
  await page.getByText('Files: 2 of 2 viewed').waitFor();
};

const prove = async (page: Page, hands: Hands): Promise<void> => {
  await hands.press(link(page, 'Round half up'), 'u');
  await arrive(page, at(''));
  await hands.press(link(page, 'Proof'), 't p');
  await arrive(page, at('/proof'));
  await hands.write(page.getByLabel('Description, as Markdown'), 'All **12** tests pass.');
  await hands.press(button(page, 'Add text'));
  const proof = page.locator('.proof[data-row]');
  await hands.reach(proof);
  await hands.press(proof.getByRole('button', { name: /^Verify/ }), 'v');
  await page.getByText('The Work item is resolved.').waitFor();
};

const propose = async (page: Page, hands: Hands, host: CodeHost): Promise<void> => {
  await hands.press(link(page, 'Pull request'), 't r');
  await arrive(page, at('/pr'));
  await hands.press(button(page, 'Push and open draft'), 'a');
  await page.getByRole('link', { name: 'Round half up #' }).waitFor();
  const [made] = await host.pulls.list();
  const { number = 0 } = made ?? {};
  await host.pulls.review(number, { state: 'APPROVED', by: 'reviewer', body: 'Good.' });
  await hands.press(link(page, 'Refresh from the code host'), 'r');
  await page.locator('.tag.verified', { hasText: 'approved' }).waitFor();
  await untilLive(page);
  await host.pulls.merge(number);
  await hands.press(link(page, 'Refresh from the code host'), 'r');
  // Of the pull request; the Work item has one as well, at once or a moment later.
  await page.getByRole('region', { name: 'State' }).locator('.tag.pull-merged').waitFor();
};

const start = async (t: TestContext) => {
  const host = await startCodeHost(t);
  const { root } = host.repositories.clone();
  const env = { GITHUB_API_URL: host.url, GH_TOKEN: host.token, GITHUB_TOKEN: '' };
  const args = ['--workspace', temporaryDirectory(t), '--repo', root];
  const { url } = await startDaemon(t, args, env);
  return { host, url };
};

describe('the main job', { skip: noBrowser }, () => {
  for (const [name, handsOn] of [
    ['by mouse', mouse],
    ['by keyboard alone', keyboard],
  ] as const)
    it(`goes from new to merged ${name}`, async (t) => {
      const { host, url } = await start(t);
      const { page, complaints } = await look(t, `${url}/`);
      const hands = handsOn(page);
      await makeItem(page, hands);
      await decide(page, hands);
      await readDiff(page, hands);
      await prove(page, hands);
      await propose(page, hands, host);
      assert.deepEqual(complaints, []);
    });

  it('begins on an empty workspace, and needs no terminal', async (t) => {
    const workspace = temporaryDirectory(t);
    const args = ['--workspace', workspace];
    const { url } = await startDaemon(t, args, { DOSSIER_TRUST: '0' });
    const { root } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
    const { page, complaints } = await look(t, `${url}/`);
    const hands = mouse(page);
    await hands.press(link(page, 'Settings'));
    await arrive(page, /\/settings$/);
    await hands.write(page.getByLabel('Path of the repository'), root);
    await hands.press(button(page, 'Add project'));
    await page.getByRole('listitem').filter({ hasText: root }).waitFor();
    await hands.press(button(page, 'Use manual'));
    await page.getByText('in your project, with manual').waitFor();
    await hands.press(button(page, 'Use runbook'));
    await page.getByText('in your project, with runbook').waitFor();
    await makeItem(page, hands);
    await hands.press(button(page, /^Approve/));
    await page.getByText(/Approved by operator (.* )?at/).waitFor();
    const dossier = connect({ url });
    const [item] = await dossier.call('GET /cases');
    const [session] = await dossier.call('GET /cases/{id}/sessions', { id: item?.id ?? '' });
    assert.equal(session?.approved_by, 'operator');
    await hands.press(link(page, 'Show activity'));
    await arrive(page, at('/sessions/[^/]+'));
    await page.locator('.tag.completed').first().waitFor();
    await hands.press(link(page, 'Round half up'));
    await arrive(page, at(''));
    await hands.press(link(page, 'Proof'));
    await arrive(page, at('/proof'));
    await hands.write(page.getByLabel('Description, as Markdown'), 'All tests pass.');
    await hands.press(button(page, 'Add text'));
    await hands.press(button(page, /^Verify/));
    await page.getByText('The Work item is resolved.').waitFor();
    const line = `dossier merge ${item?.id.slice(0, 8)} --workspace ${workspace}`;
    const command = page.getByText(line, { exact: true });
    await hands.press(link(page, 'Overview'));
    await arrive(page, at(''));
    const next = page.getByRole('region', { name: 'Next step' });
    await next.and(page.locator(':has(code)')).filter({ has: command }).waitFor();
    await hands.press(link(page, 'Pull request'));
    await arrive(page, at('/pr'));
    await command.waitFor();
    assert.equal(await button(page, 'Push and open draft').count(), 0);
    assert.deepEqual(complaints, []);
  });
});
