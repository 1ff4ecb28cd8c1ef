import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../lib/client/client.ts';
import { assertAccessible, assertFits, look, noBrowser, openTab } from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { until } from '../../helpers/eventually.ts';
import { openReceiver } from '../../helpers/receiver.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

const start = async (t: TestContext) => {
  const workspace = temporaryDirectory(t);
  const { url } = await startHere(t, ['--workspace', workspace], { DOSSIER_TRUST: '0' });
  const dossier = connect({ url });
  const at = (path = '') => `${url}/dashboard/settings/webhooks${path}`;
  const happen = () => dossier.call('POST /cases', { body: { title: 'x', type: 'bug' } });
  return { workspace, dossier, at, happen };
};

const WITHOUT_SCRIPTS = { javaScriptEnabled: false };

describe('the page of webhooks', { skip: noBrowser }, () => {
  it('adds one by keyboard, and shows its secret until the page is left', async (t) => {
    const { workspace, dossier, at } = await start(t);
    const { page, browser, complaints } = await look(t, at(), {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByText('No webhooks.').waitFor();
    await page.keyboard.press('n');
    await page.keyboard.type('http://127.0.0.1:9/hook');
    await page.keyboard.press('Enter');
    const secret = page.getByLabel('the secret', { exact: true });
    const text = await secret.inputValue();
    const [webhook] = await dossier.call('GET /webhooks');
    const kept = readFileSync(join(workspace, '.dossier/secrets', String(webhook?.id)), 'utf8');
    assert.deepEqual([text, webhook?.events], [kept.trim(), ['*']]);
    // Where it is seen, however far below the form was.
    assert.equal(await secret.evaluate((one) => one === document.activeElement), true);
    await page.getByRole('button', { name: /^Copy.*the secret/ }).click();
    await page.getByText('Copied').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
    await assertAccessible(page);
    const narrow = await openTab(browser, at(), { size: 'narrow' });
    await assertFits(narrow.page);
    assert.ok(!(await narrow.page.content()).includes(text));
    await page.reload();
    await page.getByRole('link', { name: 'http://127.0.0.1:9/hook' }).waitFor();
    assert.ok(!(await page.content()).includes(text));
    assert.deepEqual(complaints, []);
  });

  it('adds one with events of its own and takes it away, as plain forms', async (t) => {
    const { workspace, dossier, at } = await start(t);
    const { page } = await look(t, at(), WITHOUT_SCRIPTS);
    await page.getByLabel('URL', { exact: true }).fill('ftp://127.0.0.1/');
    await page.getByRole('button', { name: 'Add webhook' }).click();
    await page.getByRole('alert').getByText('must be an http or https URL').waitFor();
    await page.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/hook');
    await page.getByLabel('Default events').uncheck();
    await page.getByText('Choose events').click();
    await page.getByLabel('session_failed').check();
    await page.getByLabel('case_updated').check();
    await page.getByRole('button', { name: 'Add webhook' }).click();
    const text = await page.getByLabel('the secret', { exact: true }).inputValue();
    const [{ id, events } = { id: '', events: [] }] = await dossier.call('GET /webhooks');
    const kept = readFileSync(join(workspace, '.dossier/secrets', id), 'utf8');
    assert.deepEqual([text, [...events]], [kept.trim(), ['session_failed', 'case_updated']]);
    // What was sent is not made again.
    await page.reload();
    assert.equal((await dossier.call('GET /webhooks')).length, 1);
    await page.goto(at());
    assert.ok(!(await page.content()).includes(text));
    await page.getByText('Delete…').click();
    await page.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByText('No webhooks.').waitFor();
    assert.deepEqual(await dossier.call('GET /webhooks'), []);
  });

  it('says of one that came by hand that it is not trusted, whatever its address holds', async (t) => {
    const { workspace, at } = await start(t);
    mkdirSync(join(workspace, 'webhooks'));
    const url = 'https://example.org/"><script>x</script>\\u202Egnp';
    writeFileSync(join(workspace, 'webhooks/mine.md'), `---\nurl: ${JSON.stringify(url)}\n---\n`);
    const { page, complaints } = await look(t, at());
    await page.getByText('Not trusted').waitFor();
    await page.getByText('<script>x</script>').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await page.getByRole('link', { name: 'review untrusted values' }).waitFor();
    assert.doesNotMatch((await page.locator('body').textContent()) ?? '', /\u202e/);
    assert.deepEqual(complaints, []);
  });
});

describe('the page of deliveries', { skip: noBrowser }, () => {
  it('shows the newest first with each attempt, and sends one again by keyboard', async (t) => {
    const { dossier, at, happen } = await start(t);
    const receiver = await openReceiver(t);
    receiver.script(204, 503);
    const body = { url: receiver.url, events: ['case_created' as const] };
    const { id } = await dossier.call('POST /webhooks', { body });
    await happen();
    await happen();
    const list = () => dossier.call('GET /webhooks/{id}/deliveries', { id });
    await until(async () => (await list())[1]?.status === 'delivered');
    const { page, browser, complaints } = await look(t, at(`/${id}`));
    const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
    assert.equal(await rows.count(), 2);
    await page.keyboard.press('j');
    await page.keyboard.press('e');
    await rows.first().getByRole('cell', { name: '503' }).waitFor();
    await rows.first().getByText('"event_type": "case_created"').waitFor();
    await assertAccessible(page);
    await page.keyboard.press('r');
    await rows.first().getByText('3 attempts').waitFor();
    assert.equal(receiver.received.length, 4);
    const narrow = await openTab(browser, at(`/${id}`), { size: 'narrow' });
    await assertFits(narrow.page);
    await happen();
    await until(async () => (await list())[2]?.status === 'delivered');
    // No event tells that something was delivered.
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await rows.nth(2).waitFor();
    await until(async () => (await page.getByText('Delivered: 204').count()) === 3);
    assert.deepEqual(complaints, []);
  });

  it('loads what is older, with scripts and without', async (t) => {
    const { dossier, at, happen } = await start(t);
    const receiver = await openReceiver(t);
    const body = { url: receiver.url, events: ['case_created' as const] };
    const { id } = await dossier.call('POST /webhooks', { body });
    for (let count = 0; count < 35; count += 1) await happen();
    await receiver.atLeast(35);
    const { page, browser, complaints } = await look(t, at(`/${id}`));
    const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
    assert.equal(await rows.count(), 30);
    await page.keyboard.press('m');
    await rows.nth(34).waitFor();
    const ids = await rows.evaluateAll((all) => all.map((one) => one.getAttribute('data-row')));
    assert.equal(new Set(ids).size, 35);
    const plain = await openTab(browser, at(`/${id}`), WITHOUT_SCRIPTS);
    await plain.page.getByRole('link', { name: 'Load more' }).click();
    await plain.page.getByRole('link', { name: 'Newest' }).waitFor();
    assert.equal(await plain.page.locator('[data-row]').count(), 5);
    assert.deepEqual(complaints, []);
  });

  it('says why one is disabled, and how to go on', async (t) => {
    const { workspace, dossier, at, happen } = await start(t);
    const receiver = await openReceiver(t);
    receiver.script(410);
    const body = { url: receiver.url, events: ['case_created' as const] };
    const { id } = await dossier.call('POST /webhooks', { body });
    await happen();
    await until(async () => (await dossier.call('GET /webhooks/{id}', { id })).disabled === true);
    const { page } = await look(t, at(`/${id}`), WITHOUT_SCRIPTS);
    await page.getByText('since the receiver responded with 410').waitFor();
    await page.getByText('Failed: 410').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Redeliver' }).count(), 0);
    const file = join(workspace, `webhooks/${id}.md`);
    writeFileSync(file, readFileSync(file, 'utf8').replace('disabled: true\n', ''));
    await page.reload();
    await page.getByRole('button', { name: 'Redeliver' }).click();
    await page.getByText('Delivered: 204').waitFor();
  });
});
