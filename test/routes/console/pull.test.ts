import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../lib/client/client.ts';
import { startCodeHost } from '../../codehost/code-host.ts';
import { startLogStore } from '../../codehost/log-store.ts';
import { assertAccessible, assertFits, look, noBrowser, openTab } from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { gitIn, temporaryDirectory } from '../../helpers/repository.ts';
import { commit } from '../../lib/work/conflicts/fixture.ts';

const HOSTILE =
  '<script>alert(1)</script> [x](javascript:alert(1)) ![p](https://evil.example/p.png)';

const RAN = { started_at: '2026-01-01T10:00:10Z', completed_at: '2026-01-01T10:00:20Z' };

const start = async (t: TestContext, given: Record<string, string> = {}) => {
  const host = await startCodeHost(t);
  const { root } = host.repositories.clone();
  const env = { GITHUB_API_URL: host.url, GH_TOKEN: host.token, GITHUB_TOKEN: '', ...given };
  const args = ['--workspace', temporaryDirectory(t), '--repo', root];
  const daemon = await startHere(t, args, env);
  const dossier = connect({ url: daemon.url });
  const { id } = await dossier.call('POST /cases', {
    body: { title: 'Round half up', type: 'bug', description: 'The tax is off by one.' },
  });
  const worktree = await dossier.call('POST /api/worktrees', { body: { case_id: id } });
  commit(gitIn(worktree.path), worktree.path, { 'src/a.ts': 'one\ntwo\n' });
  return { host, dossier, id, worktree, url: `${daemon.url}/dashboard/cases/${id}/pr` };
};

const opened = async (t: TestContext) => {
  const scene = await start(t);
  const { dossier, id } = scene;
  const { number } = await dossier.call('POST /api/cases/{id}/pr/create', { id });
  return { ...scene, number };
};

const reviewed = async (t: TestContext) => {
  const scene = await opened(t);
  const { host, number, worktree } = scene;
  await host.pulls.review(number, {
    ...{ state: 'CHANGES_REQUESTED', by: 'reviewer', body: `Not **yet**. ${HOSTILE}` },
    comments: [{ path: 'src/a.ts', line: 2, body: 'Two what?' }],
  });
  const logs = await startLogStore(t);
  const steps = [{ name: 'Run the build', conclusion: 'failure', ...RAN }];
  const log = `${RAN.completed_at} it broke \u202e here\n`;
  await host.repositories.check(worktree.branch, 'build', 'failure', {
    job: { steps, log: logs.keep(log) },
  });
  return scene;
};

describe('the pull request of a Work item', { skip: noBrowser }, () => {
  it('is made from the page by keyboard, as a draft, with what it would say shown before', async (t) => {
    const { url, host, dossier, id } = await start(t);
    const { page, complaints } = await look(t, url);
    await page.getByText('No pull request yet').waitFor();
    await page.getByText('The tax is off by one.').waitFor();
    await assertAccessible(page);
    await page.keyboard.press('a');
    await page.getByRole('link', { name: 'Round half up #' }).waitFor();
    const [made] = await host.pulls.list();
    assert.deepEqual([made?.title, made?.draft], ['Round half up', true]);
    const { state } = await dossier.call('GET /api/cases/{id}/pr', { id });
    assert.equal(state, 'draft');
    assert.deepEqual(complaints, []);
  });

  it('shows what the host says when it is asked: reviews, checks, what is in the way', async (t) => {
    const { url } = await reviewed(t);
    const { page, complaints } = await look(t, url);
    await page.getByRole('link', { name: 'Refresh from the code host' }).click();
    await page.getByText('Blocking the review:').waitFor();
    await page.getByText('src/a.ts:2').first().waitFor();
    await page.getByText('Two what?').waitFor();
    await page.getByText('build: failure').waitFor();
    await page.getByText('Run the build').waitFor();
    await page.getByText('it broke ⟦U+202E⟧ here').waitFor();
    assert.equal(await page.locator('main img, a[href^="javascript"]').count(), 0);
    await page.getByText('<script>alert(1)</script>').waitFor();
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });

  it('has a review queued and resolved by keyboard, and a session started on it', async (t) => {
    const { url, dossier, id } = await reviewed(t);
    await dossier.call('GET /api/cases/{id}/pr/reviews', { id });
    const { page, browser } = await look(t, url);
    await page.locator('[data-row^="review:"]').focus();
    await page.keyboard.press('q');
    await page.getByText('Queued', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Resolve: src/a.ts:2' }).click();
    await page.getByText('1 not blocking').waitFor();
    const { page: plain } = await openTab(browser, url, { javaScriptEnabled: false });
    await plain.getByLabel('Message to the session').fill('Be short.');
    await plain.getByRole('button', { name: 'Start session on 1 queued' }).click();
    await plain.waitForURL(/\/sessions\//);
    const [session] = await dossier.call('GET /cases/{id}/sessions', { id });
    assert.equal(session?.type, 'feedback');
  });

  it('shows the text that is suggested as a difference, and publishes that one', async (t) => {
    const { url, host, number } = await opened(t);
    const { page, complaints } = await look(t, url);
    await page.getByText('Suggest an update').click();
    await page.getByLabel('New description').fill('All of it is new. \u202e\n');
    await page.getByRole('button', { name: 'Show changes' }).click();
    await page.locator('.diff-lines ins', { hasText: 'All of it is new. ⟦U+202E⟧' }).waitFor();
    assert.ok((await page.locator('.diff-lines del').count()) > 0);
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Publish description' }).click();
    await page.locator('.update').waitFor({ state: 'detached' });
    assert.match((await host.pulls.read(number)).body ?? '', /^All of it is new/);
    assert.deepEqual(complaints, []);
  });

  it('has title, labels and notes changed, unless they were changed meanwhile', async (t) => {
    const { url, host, dossier, id, number } = await opened(t);
    await dossier.call('PATCH /api/cases/{id}/pr', { id, body: { labels: ['a <b>', 'old'] } });
    const { page, complaints } = await look(t, url);
    await page.keyboard.press('n');
    await page.getByLabel('Title on the code host').fill('Round to even');
    await page.getByLabel('old').uncheck();
    await page.getByLabel('New label').fill('new');
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Update on the code host' }).click();
    await page.getByRole('link', { name: 'Round to even #' }).waitFor();
    const pull = await host.pulls.read(number);
    assert.equal(pull.title, 'Round to even');
    const read = () => dossier.call('GET /api/cases/{id}/pr', { id });
    assert.deepEqual((await read()).labels.toSorted(), ['a <b>', 'new']);
    assert.deepEqual(complaints, []);
    await page.route('**/pr', (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    await dossier.call('PATCH /api/cases/{id}/pr', { id, body: { notes: 'Theirs.' } });
    await page.getByLabel('Local notes').fill('Mine.');
    await page.getByRole('button', { name: 'Save notes' }).click();
    await page.locator('form').getByRole('alert').waitFor();
    assert.equal((await read()).notes, 'Theirs.');
  });

  it('says why each decision is refused, and what to do', async (t) => {
    const { url, host } = await opened(t);
    const { page } = await look(t, url, { javaScriptEnabled: false });
    const refusedBy = async (button: string, why: RegExp) => {
      await page.getByRole('button', { name: button }).click();
      await page.getByRole('alert').getByText(why).waitFor();
    };
    await refusedBy('Mark ready for review', /proof/i);
    await refusedBy('Publish proof', /proof/i);
    host.fail('reset', { method: 'PATCH', path: '/pulls', times: 5 });
    await page.getByText('Title, labels and notes').click();
    await page.getByLabel('Title on the code host').fill('Another');
    await refusedBy('Update on the code host', /host|github|connection/i);
    await page.getByText('Push', { exact: true }).click();
    await page.getByRole('button', { name: 'Push branch' }).click();
    await page.getByRole('heading', { name: 'Description' }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  });

  it('says what is missing where no token is, before anything was pushed', async (t) => {
    const { url, host } = await start(t, { GH_TOKEN: '' });
    const { page } = await look(t, url);
    await page.keyboard.press('a');
    await page
      .getByRole('alert')
      .getByText(/token|log ?in|gh auth/i)
      .waitFor();
    assert.deepEqual(await host.pulls.list(), []);
  });

  it('says that the host cannot be asked and why, and shows what was seen last', async (t) => {
    const { url, host } = await opened(t);
    host.fail('secondary limit', { path: '/pulls', times: 20 });
    const { page } = await look(t, `${url}?asked=1`, { javaScriptEnabled: false, size: 'narrow' });
    await page.getByText('The code host could not be reached.').waitFor();
    await page.getByRole('link', { name: 'Round half up #' }).waitFor();
    await assertFits(page);
  });
});
