import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '../../../lib/client/client.ts';
import {
  assertAccessible,
  assertFits,
  look,
  noBrowser,
  untilInView,
} from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { eventually, until } from '../../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

const start = async (t: TestContext, description = 'As it *was*.\n') => {
  const { root, git } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
  const workspace = temporaryDirectory(t);
  const daemon = await startHere(t, ['--workspace', workspace, '--repo', root]);
  const dossier = connect({ url: daemon.url });
  const { id, path } = await dossier.call('POST /cases', {
    body: { title: 'The item', type: 'bug', description },
  });
  const read = () => dossier.call('GET /cases/{id}', { id });
  const byHand = (from: string, to: string) => {
    const file = join(workspace, path, 'case.md');
    writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
  };
  const begin = (provider: string) =>
    dossier.call('POST /cases/{id}/sessions', { id, body: { type: 'implementing', provider } });
  const dir = join(workspace, path);
  return { dossier, id, git, dir, read, byHand, begin, url: `${daemon.url}/dashboard/cases/${id}` };
};

describe('the page of a Work item', { skip: noBrowser }, () => {
  it('tells what it is, what is wrong with its files, and what hands write', async (t) => {
    const { url, dir, byHand, begin, dossier } = await start(
      t,
      '<script>alert(1)</script>\n\n*text*\n',
    );
    await begin('manual');
    mkdirSync(join(dir, 'proof'), { recursive: true });
    writeFileSync(join(dir, 'proof/broken.md'), '---\ntype: [\n---\n');
    const { page, complaints } = await look(t, url);
    await page.getByText('implementing, manual').waitFor();
    await page.getByText('proof/broken.md:').waitFor();
    assert.equal(await page.locator('main em').textContent(), 'text');
    assert.equal(await page.locator('main script').count(), 0);
    byHand('*text*', '*other*');
    await page.locator('main em', { hasText: 'other' }).waitFor();
    byHand('The item', 'The renamed item');
    await page.getByRole('heading', { name: 'The renamed item' }).waitFor();
    const editor = page.getByRole('link', { name: 'Open in editor' });
    assert.match((await editor.getAttribute('href')) ?? '', /^vscode:\/\/file\/.*\/worktrees\//);
    await page.getByRole('button', { name: 'Copy path' }).waitFor();
    await assertAccessible(page);
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('State', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    byHand('title:', 'title: [');
    await page.getByText('case.md:').first().waitFor();
    await until(async () => (await dossier.call('GET /attention')).length > 1);
    await page.reload();
    // A strict locator: it is said once.
    await page.getByText('case.md:').waitFor();
    assert.deepEqual(complaints, []);
  });

  it('asks git only after what can have changed its answer', async (t) => {
    const { url, byHand, begin, dossier, id } = await start(t);
    const { page } = await look(t, url);
    // What happened before it was live is asked for once.
    await page.locator('html[data-live]').waitFor();
    let calls = 0;
    page.on('request', () => {
      calls += 1;
    });
    await until(async () => {
      const before = calls;
      await delay(500);
      return before === calls;
    });
    const asked: string[] = [];
    page.on('request', (request) => {
      const [, what] = /\/(history|health|status)(?:\?|$)/.exec(request.url()) ?? [];
      if (what !== undefined) asked.push(what);
    });
    await page.getByText('No sessions.').first().waitFor();
    await dossier.call('PUT /cases/{id}', { id, body: { title: 'By the API' } });
    await page.getByRole('heading', { name: 'By the API' }).waitFor();
    byHand('By the API', 'By hand');
    await page.getByRole('heading', { name: 'By hand' }).waitFor();
    assert.deepEqual(new Set(asked), new Set(['history']));
    await begin('manual');
    await until(async () => asked.includes('health'));
  });

  it('shows the newest version in its form while nothing was typed', async (t) => {
    const { url, read, byHand } = await start(t);
    const { page } = await look(t, url);
    await page.keyboard.press('e');
    const title = page.locator('#title:focus');
    await title.waitFor();
    const { title: before } = await read();
    byHand(`title: ${before}`, 'title: By hand');
    await page.getByRole('heading', { name: 'By hand' }).waitFor();
    assert.equal(await title.inputValue(), 'By hand');
    assert.equal(await page.getByText('changed since you began editing').count(), 0);
    await title.fill('Mine');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Mine' }).waitFor();
  });

  it('is edited in place by keyboard, over nothing that was not seen', async (t) => {
    const { url, read, byHand } = await start(t);
    const { page } = await look(t, url);
    await page.keyboard.press('e');
    await page.locator('#title:focus').waitFor();
    await untilInView(page.locator('#title'));
    const text = page.getByLabel('Description');
    await text.fill('As it *is*.\n');
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.locator('main em', { hasText: 'is' }).waitFor();
    await text.waitFor({ state: 'hidden' });
    await page.locator('summary:focus', { hasText: 'Edit' }).waitFor();
    await page
      .locator('[aria-live=polite]', { hasText: 'Done: Save' })
      .waitFor({ state: 'attached' });
    assert.equal((await read()).description, 'As it *is*.\n');
    await page.keyboard.press('e');
    await text.fill('Mine.\n');
    byHand('As it *is*.', 'By *hand*.');
    await page.getByText('The Work item changed since you began editing.').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    const refusal = page.locator('form').getByRole('alert');
    await refusal.waitFor();
    await untilInView(refusal);
    assert.equal(await page.getByRole('alert').count(), 1);
    assert.equal((await read()).description, 'By *hand*.\n');
    assert.equal(await text.inputValue(), 'Mine.\n');
    await page.getByRole('button', { name: 'Overwrite it' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await text.waitFor({ state: 'hidden' });
    assert.equal((await read()).description, 'Mine.\n');
    // An edit begins with what the page shows.
    await page.locator('main p', { hasText: 'Mine.' }).waitFor();
    await page.keyboard.press('e');
    await text.fill('Not this.\n');
    byHand('Mine.', 'Theirs.');
    await page.locator('main p', { hasText: 'Theirs.' }).waitFor();
    await page.getByRole('button', { name: 'Discard yours' }).click();
    await text.waitFor({ state: 'hidden' });
    await page.keyboard.press('e');
    // The browser tells that the form was closed and opened after it has done both.
    await until(async () => (await text.inputValue()) === 'Theirs.\n');
    assert.equal((await read()).description, 'Theirs.\n');
  });

  it('has what was typed into its form after a reload, and says what changed under it', async (t) => {
    const { url, read, byHand } = await start(t);
    const { page } = await look(t, url);
    await page.keyboard.press('e');
    await page.getByLabel('Description').fill('Mine.\n');
    byHand('As it *was*.', 'By *hand*.');
    await page.reload();
    await page.getByText('the content has changed since').waitFor();
    assert.equal(await page.getByLabel('Description').inputValue(), 'Mine.\n');
    assert.equal((await read()).description, 'By *hand*.\n');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.reload();
    await page.keyboard.press('e');
    assert.equal(await page.getByLabel('Description').inputValue(), 'By *hand*.\n');
  });

  it('sends of its form what was changed alone', async (t) => {
    const { url, read, byHand } = await start(t);
    const long = `${'x'.repeat(262_145)}`;
    byHand('As it *was*.', long);
    await until(async () => (await read()).description.length > 262_144);
    for (const javaScriptEnabled of [true, false]) {
      const { page } = await look(t, url, { javaScriptEnabled });
      await page.getByText('Edit', { exact: true }).click();
      const title = `With ${javaScriptEnabled ? '' : 'no '}scripts`;
      await page.getByLabel('Title').fill(title);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: title }).waitFor();
    }
    assert.equal((await read()).description, `${long}\n`);
  });

  it('gets another state, and a session, without scripts too', async (t) => {
    const { url, read, dossier, id } = await start(t);
    const { page } = await look(t, url, { javaScriptEnabled: false });
    await page.getByLabel('Provider').selectOption('manual');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    const [session] = await dossier.call('GET /cases/{id}/sessions', { id });
    assert.deepEqual([session?.provider, session?.type], ['manual', 'implementing']);
    await page.goto(url);
    await page.getByLabel('State').selectOption('Resolved');
    await page.getByLabel('Outcome when closed').fill('wont_fix');
    await page.getByRole('button', { name: 'Set state' }).click();
    const { state, outcome } = await read();
    assert.deepEqual([state, outcome], ['RESOLVED', 'wont_fix']);
    await page.getByText('Edit', { exact: true }).click();
    await page.getByLabel('Title').fill('By a plain form');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'By a plain form' }).waitFor();
  });

  it('is deleted when that is said twice', async (t) => {
    const { url, dossier } = await start(t);
    const { page, complaints } = await look(t, url);
    await page.getByText('Delete…').click();
    await page.getByText('its 0 sessions').waitFor();
    const now = page.locator('form', { hasText: 'Delete Work item' });
    await now.getByRole('button').click();
    assert.equal((await dossier.call('GET /cases')).length, 1);
    await page.getByLabel('Type “delete” to confirm, saving its work').waitFor();
    await page.getByLabel('Type “delete” to confirm', { exact: true }).fill('delete');
    await now.getByRole('button').click();
    await page.waitForURL('**/dashboard/board');
    assert.deepEqual(await dossier.call('GET /cases'), []);
    assert.deepEqual(complaints, []);
  });

  it('says what comes next, and has what waits answered where it stands', async (t) => {
    const { url, begin, dossier, id } = await start(t, '```sh\ntrue\n```\n');
    const { page, complaints } = await look(t, url);
    await page.getByRole('link', { name: 'Start session' }).waitFor();
    await begin('runbook');
    const needs = page.getByRole('list', { name: 'Needs you, oldest first' });
    await needs
      .getByRole('link', { name: 'The plan of runbook waits for your approval.' })
      .waitFor();
    const { title } = await dossier.call('GET /cases/{id}', { id });
    assert.equal(await needs.getByText(title).count(), 0);
    await assertAccessible(page);
    await page.keyboard.press('j');
    await page.keyboard.press('p');
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    await page.keyboard.press('a');
    const toDiff = page.getByRole('link', { name: 'Review diff' });
    assert.match((await toDiff.getAttribute('href')) ?? '', /\/diff$/);
    await page.getByRole('button', { name: /^Mark as reviewed/ }).click();
    await page.getByRole('link', { name: 'Add a proof' }).waitFor();
    const [session] = await dossier.call('GET /cases/{id}/sessions', { id });
    assert.equal(session?.status, 'completed');
    await page.keyboard.press('a');
    await page.waitForURL(`${url}/proof`);
    assert.deepEqual(complaints, []);
  });

  it('has its worktree made, held and removed, and all its files to download', async (t) => {
    const { url, dossier, id, git } = await start(t);
    const { page, complaints } = await look(t, url);
    await page.getByRole('button', { name: 'Create worktree' }).click();
    await page.getByRole('button', { name: 'Copy path' }).waitFor();
    assert.equal(await page.getByText('The base has').count(), 0);
    git('-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'later', '--allow-empty');
    await page.reload();
    await page.getByText('The base has one new commit.').waitFor();
    await page.getByRole('button', { name: 'Lock worktree' }).click();
    await page.getByText('operator holds the lock').waitFor();
    const lock = () => dossier.call('GET /api/worktrees/{case_id}/lock', { case_id: id });
    assert.equal((await lock()).locked, true);
    await page.getByRole('button', { name: 'Release lock' }).click();
    await page.getByRole('button', { name: 'Lock worktree' }).waitFor();
    await page.getByText('Set up again or remove…').click();
    // A worktree is not removed while it is set up.
    const setUpSent = page.waitForResponse((answer) => answer.request().method() === 'POST');
    await page.getByRole('button', { name: 'Copy files and run setup again' }).click();
    await setUpSent;
    await page.getByRole('button', { name: 'Remove worktree' }).click();
    await page.getByRole('button', { name: 'Create worktree' }).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download all files' }).click();
    assert.match((await download).suggestedFilename(), /\.zip$/);
    // What is removed while it is asked about is answered so, and shown as none.
    assert.deepEqual(
      complaints.filter((told) => !told.includes('404')),
      [],
    );
  });

  it('shows what agents noted when one asks for it', async (t) => {
    const { url, dossier, id } = await start(t);
    const body = 'Noted: *this*.\n';
    await dossier.call('PUT /cases/{id}/memory/{filename}', { id, filename: 'notes.md', body });
    const { page } = await look(t, url);
    await page.getByText('notes.md').click();
    await page.locator('main em', { hasText: 'this' }).waitFor();
  });

  it('fits a hand-held screen, by light and in the dark', async (t) => {
    const { url, begin, dossier, id } = await start(
      t,
      `${'W'.repeat(300)}\n\n    ${'x'.repeat(300)}\n`,
    );
    await begin('manual');
    await dossier.call('PUT /cases/{id}', { id, body: { title: 'W'.repeat(200) } });
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, complaints } = await look(t, url, { size: 'narrow', colorScheme });
      await page.keyboard.press('n');
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('e');
      await eventually(() => assertFits(page));
      await assertAccessible(page);
      assert.deepEqual(complaints, []);
    }
  });
});
