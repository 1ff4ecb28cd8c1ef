import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../lib/client/client.ts';
import { assertAccessible, assertFits, look, noBrowser } from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

interface Options {
  /** Default: one. */
  repository?: false;
  remote?: string;
}

const start = async (t: TestContext, { repository, remote }: Options = {}) => {
  const { root, git } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
  if (remote !== undefined) git('remote', 'add', 'origin', remote);
  const at = repository === false ? [] : ['--repo', root];
  const daemon = await startHere(t, ['--workspace', temporaryDirectory(t), ...at]);
  const dossier = connect({ url: daemon.url });
  const titles = async () => (await dossier.call('GET /cases')).map(({ title }) => title);
  const sessions = async () => {
    const [{ id } = { id: '' }] = await dossier.call('GET /cases');
    return dossier.call('GET /cases/{id}/sessions', { id });
  };
  return { dossier, titles, sessions, console: `${daemon.url}/dashboard` };
};

const PLAN = 'Do it.\n\n```sh\necho done > done.txt\n```\n';

describe('the page for a new Work item', { skip: noBrowser }, () => {
  it('leads from an empty workspace to a plan', async (t) => {
    const { console, sessions } = await start(t);
    const { page, complaints } = await look(t, console);
    await page.getByRole('link', { name: 'Create a Work item' }).click();
    await page.getByLabel('Title').fill('The first');
    await page.getByLabel('Description').fill(PLAN);
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'The first' }).waitFor();
    await page.getByText('plan ready').waitFor();
    const [session] = await sessions();
    assert.deepEqual([session?.type, session?.provider], ['implementing', 'runbook']);
    assert.deepEqual(complaints, []);
  });

  it('is written by keyboard, with a preview in which nothing runs', async (t) => {
    const { console, titles } = await start(t);
    const { page, complaints } = await look(t, console);
    await page.keyboard.press('c');
    await page.waitForURL(`${console}/new`);
    await page.locator('#title:focus').waitFor();
    await page.keyboard.type('By keyboard');
    await page.getByLabel('Description').focus();
    await page.keyboard.insertText(
      '**bold** <img src=x onerror=alert(1)> [a](javascript:alert(1))',
    );
    await page.getByRole('button', { name: 'Preview' }).press('Enter');
    assert.equal(await page.locator('.shown strong').textContent(), 'bold');
    assert.equal(await page.locator('.shown img, .shown a').count(), 0);
    await assertAccessible(page);
    await page.getByLabel('Start a session').focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Preview' }).press('Enter');
    await page.getByLabel('Description').press('Control+Enter');
    await page.getByText('No sessions.').waitFor();
    assert.deepEqual(await titles(), ['By keyboard']);
    assert.deepEqual(complaints, []);
  });

  it('makes one Work item, and its session, without scripts', async (t) => {
    const { console, titles, sessions } = await start(t);
    const { page } = await look(t, `${console}/new`, { javaScriptEnabled: false });
    await page.getByLabel('Title').fill('Plain');
    await page.getByLabel('Type').fill('docs');
    await page.getByLabel('Provider').selectOption('manual');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Plain' }).waitFor();
    assert.deepEqual(await titles(), ['Plain']);
    assert.equal((await sessions())[0]?.provider, 'manual');
  });

  it('makes another one on a page that the browser came back to', async (t) => {
    const { console, titles } = await start(t);
    const { page } = await look(t, `${console}/new`);
    // The operator stops the navigation.
    await page.route('**/dashboard/cases/*', (route) => route.abort('aborted'), { times: 1 });
    await page.getByLabel('Start a session').uncheck();
    await page.getByLabel('Title').fill('The first');
    const left = page.waitForEvent('requestfailed');
    await page.getByRole('button', { name: 'Create' }).click();
    await left;
    await page.evaluate(() =>
      globalThis.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })),
    );
    await page.getByLabel('Title').fill('The second');
    await page.getByLabel('Start a session').uncheck();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'The second' }).waitFor();
    assert.deepEqual((await titles()).toSorted(), ['The first', 'The second']);
  });

  it('says why no session starts, and makes no second Work item of that', async (t) => {
    const { console, titles } = await start(t, { repository: false });
    const { page } = await look(t, `${console}/new`);
    await page.getByLabel('Title').fill('Nowhere');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByText('repository').waitFor();
    await page.getByLabel('Start a session').uncheck();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Nowhere' }).waitFor();
    assert.deepEqual(await titles(), ['Nowhere']);
    const plain = await look(t, `${console}/new`, { javaScriptEnabled: false });
    await plain.page.getByLabel('Title').fill('Nor there');
    await plain.page.getByRole('button', { name: 'Create' }).click();
    await plain.page.getByRole('heading', { name: 'Nor there' }).waitFor();
    assert.match((await plain.page.getByRole('alert').textContent()) ?? '', /repository/);
    assert.deepEqual(await titles(), ['Nowhere', 'Nor there']);
  });

  it('cuts nothing that is pasted: what is too long is refused, and stays', async (t) => {
    const { console, titles } = await start(t);
    const { page } = await look(t, `${console}/new`);
    const [title, text] = [page.getByLabel('Title'), page.getByLabel('Description')];
    const paste = (words: string) => page.keyboard.insertText(words);
    await title.focus();
    await paste('t'.repeat(201));
    await text.focus();
    await paste(`${'x'.repeat(262_144)}end`);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByText('Title must have 200 characters or fewer.').waitFor();
    await title.fill('Short enough');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByText('262144').waitFor();
    assert.equal((await text.inputValue()).length, 262_147);
    assert.deepEqual(await titles(), []);
  });

  it('gives back what was refused without scripts', async (t) => {
    const { console, titles } = await start(t);
    const { page } = await look(t, `${console}/new`, { javaScriptEnabled: false });
    await page.getByLabel('Title').fill('t'.repeat(201));
    await page.getByLabel('Description').fill('A long text.\nOf two lines.');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByText('Title must have 200 characters or fewer.').waitFor();
    const given = page.getByRole('region', { name: 'What was not saved' });
    const text = given.getByLabel('description');
    assert.equal(await text.inputValue(), 'A long text.\nOf two lines.');
    assert.equal(await given.getByLabel('title').inputValue(), 't'.repeat(201));
    await page.getByLabel('Title').last().fill('Short enough');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Short enough' }).waitFor();
    assert.equal(await given.count(), 0);
    assert.deepEqual(await titles(), ['Short enough']);
  });

  it('keeps what is typed until it is sent or discarded, each tab its own', async (t) => {
    const { console, titles } = await start(t);
    const { page, complaints } = await look(t, `${console}/new`);
    const again = (tab = page) => tab.getByText('Your unsent text');
    await page.getByLabel('Title').fill('Begun');
    await page.getByLabel('Description').fill('A long text.\n');
    const other = await page.context().newPage();
    await other.goto(`${console}/new`);
    await again(other).waitFor();
    await other.getByLabel('Title').fill('Of the other tab');
    await page.reload();
    await again().waitFor();
    assert.equal(await page.getByLabel('Title').inputValue(), 'Begun');
    assert.equal(await page.getByLabel('Description').inputValue(), 'A long text.\n');
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Discard' }).click();
    await again().waitFor({ state: 'detached' });
    assert.equal(await page.getByLabel('Title').inputValue(), '');
    await page.getByLabel('Title').fill('Sent');
    await page.getByLabel('Start a session').uncheck();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Sent' }).waitFor();
    assert.deepEqual(await titles(), ['Sent']);
    assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0);
    assert.deepEqual(complaints, []);
  });

  it('offers issues where the repository is on a code host, and fits a hand-held screen', async (t) => {
    const { console } = await start(t, { remote: 'https://github.com/owner/sample.git' });
    const { page, complaints } = await look(t, `${console}/new`, {
      ...{ size: 'narrow', colorScheme: 'dark' },
    });
    await page.getByText('From owner/sample.').waitFor();
    await assertFits(page);
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });
});
