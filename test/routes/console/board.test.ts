import assert from 'node:assert/strict';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { connect } from '../../../lib/client/client.ts';
import { assertAccessible, assertFits, look, noBrowser, openTab } from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { eventually } from '../../helpers/eventually.ts';
import { caseText, dirOf, write } from '../../helpers/many-items.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

const start = async (t: TestContext, before: (workspace: string) => void = () => {}) => {
  const { root } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
  const workspace = temporaryDirectory(t);
  before(workspace);
  const daemon = await startHere(t, ['--workspace', workspace, '--repo', root]);
  const dossier = connect({ url: daemon.url });
  const make = (title: string, description = 'Nothing.\n') =>
    dossier.call('POST /cases', { body: { title, type: 'bug', description } });
  const stateOf = async (id: string) => (await dossier.call('GET /cases/{id}', { id })).state;
  return { root, workspace, dossier, make, stateOf, board: `${daemon.url}/dashboard/board` };
};

const column = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

const card = (page: Page, inColumn: string, title: string) =>
  column(page, inColumn).locator('.card').filter({ hasText: title });

describe('the board', { skip: noBrowser }, () => {
  it('leads from an empty workspace to the first Work item', async (t) => {
    const { board } = await start(t);
    const { page, complaints } = await look(t, board);
    await page.getByRole('link', { name: 'Create a Work item' }).waitFor();
    await assertAccessible(page);
    await page.goto(`${board}?search=nowhere&view=list`);
    await page.getByRole('link', { name: 'Show all' }).waitFor();
    await page.goto(`${board}?view=list`);
    const all = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'All' });
    assert.equal(await all.getAttribute('aria-current'), 'true');
    assert.deepEqual(complaints, []);
  });

  it('has Work items by state with what waits, and hears of what hands write', async (t) => {
    const { board, make, dossier, workspace } = await start(t);
    const planned = await make('Planned', '```sh\necho done\n```\n');
    const body = { type: 'implementing' };
    await dossier.call('POST /cases/{id}/sessions', { id: planned.id, body });
    await make('Nothing is with it');
    const written = await make('<b>Bold</b>');
    const { page, complaints } = await look(t, board);
    await card(page, 'Investigating', 'Planned').getByText('Plan', { exact: true }).waitFor();
    await card(page, 'Open', '<b>Bold</b>').waitFor();
    await assertAccessible(page);
    const file = join(workspace, written.path, 'case.md');
    const text = readFileSync(file, 'utf8').replace('</b>', '</b>\u202Etxt');
    writeFileSync(file, text.replace('state: OPEN', 'state: BLOCKED'));
    await card(page, 'Blocked', '<b>Bold</b>⟦U+202E⟧txt').waitFor();
    assert.equal(await column(page, 'Open').locator('.card').count(), 1);
    await page.getByRole('link', { name: 'Needs you' }).click();
    await page.waitForURL(`${board}?what=needs`);
    await card(page, 'Investigating', 'Planned').waitFor();
    await card(page, 'Blocked', 'Bold').getByText('File', { exact: true }).waitFor();
    assert.equal(await page.locator('.card').count(), 2, 'one for its plan, one for its title');
    assert.deepEqual(complaints, []);
  });

  it('moves by keyboard and by hand, unless it was changed meanwhile', async (t) => {
    const { board, make, stateOf, dossier } = await start(t);
    const { id } = await make('Moved');
    const { page, complaints } = await look(t, board);
    await page.keyboard.press('j');
    await page.keyboard.press('m');
    await page.getByLabel('New state').selectOption('Verifying');
    await page.keyboard.press('Enter');
    await card(page, 'Verifying', 'Moved').waitFor();
    assert.equal(await stateOf(id), 'VERIFYING');
    await card(page, 'Verifying', 'Moved').dragTo(column(page, 'Blocked'));
    await card(page, 'Blocked', 'Moved').waitFor();
    await eventually(async () => assert.equal(await stateOf(id), 'BLOCKED'));
    await card(page, 'Blocked', 'Moved').dragTo(column(page, 'No issue'));
    await column(page, 'No issue').getByText('1', { exact: true }).waitFor();
    assert.equal(await stateOf(id), 'NON_ISSUE');
    assert.equal(await page.locator('[data-over]').count(), 0);
    await dossier.call('PUT /cases/{id}/state', { id, body: { state: 'BLOCKED' } });
    await card(page, 'Blocked', 'Moved').focus();
    await page.keyboard.press('m');
    await page.getByLabel('New state').waitFor();
    await dossier.call('PUT /cases/{id}', { id, body: { type: 'chore' } });
    await page.getByLabel('New state').selectOption('Open');
    assert.deepEqual(complaints, []);
    await page.getByRole('button', { name: 'Move', exact: true }).click();
    await page.getByRole('alert').waitFor();
    assert.equal(await stateOf(id), 'BLOCKED');
  });

  it('stays at the card that is moved by keyboard, and at the next where that is out of sight', async (t) => {
    const { board, make, stateOf } = await start(t);
    await make('Stays');
    const { id } = await make('Moved');
    const { page, complaints } = await look(t, board);
    const moveTo = async (state: string) => {
      await page.keyboard.press('m');
      await page.getByLabel('New state').selectOption(state);
      await page.keyboard.press('Enter');
    };
    const atHand = (title: string) =>
      page.locator('.card:focus').filter({ hasText: title }).waitFor();
    await page.keyboard.press('j');
    await atHand('Moved');
    await moveTo('Verifying');
    await card(page, 'Verifying', 'Moved').waitFor();
    await atHand('Moved');
    await page.keyboard.press('ArrowLeft');
    await atHand('Stays');
    await moveTo('Resolved');
    await card(page, 'Open', 'Stays').waitFor({ state: 'detached' });
    await atHand('Moved');
    assert.equal(await stateOf(id), 'VERIFYING');
    assert.deepEqual(complaints, []);
  });

  it('moves in one of two tabs, and tells the other', async (t) => {
    const { board, make, stateOf } = await start(t);
    const { id } = await make('Moved');
    const { page, browser } = await look(t, board);
    const { page: other } = await openTab(browser, board);
    for (const one of [page, other]) {
      await one.keyboard.press('j');
      await one.keyboard.press('m');
      await one.getByLabel('New state').waitFor();
    }
    await page.getByLabel('New state').selectOption('Verifying');
    await page.keyboard.press('Enter');
    await card(other, 'Verifying', 'Moved').waitFor();
    await other.getByLabel('New state').selectOption('Blocked');
    await other.getByRole('button', { name: 'Move', exact: true }).click();
    await other.getByRole('alert').waitFor();
    assert.equal(await stateOf(id), 'VERIFYING');
  });

  it('makes a Work item where one is, by keyboard', async (t) => {
    const { board, dossier, root } = await start(t);
    await dossier.call('PUT /settings', { body: { projects: { other: root } } });
    const { page, complaints } = await look(t, `${board}?project=other`);
    await page.keyboard.press('n');
    await page.getByLabel('Title', { exact: true }).fill('Made here');
    await page.reload();
    await page.getByText('Your unsent text was restored.').waitFor();
    await page.getByLabel('Title', { exact: true }).focus();
    await page.keyboard.press('Enter');
    await card(page, 'Open', 'Made here').waitFor();
    const [made] = await dossier.call('GET /cases', { query: { search: 'Made' } });
    assert.equal(made?.project, 'other');
    assert.equal(await page.getByLabel('Project').inputValue(), 'other');
    await assertAccessible(page);
    await page.getByLabel('Project').selectOption('default');
    await page.getByText('No Work items match.').waitFor();
    assert.deepEqual(complaints, []);
  });

  it('says how the newest session ended', async (t) => {
    const { board, make, dossier } = await start(t);
    const begun = async (title: string, text: string) => {
      const { id } = await make(title, text);
      const body = { type: 'implementing' };
      const { id: sid } = await dossier.call('POST /cases/{id}/sessions', { id, body });
      const at = { id, sid };
      for await (const { event } of dossier.stream('GET /cases/{id}/sessions/{sid}/stream', at))
        if (event === 'plan_ready') break;
      return at;
    };
    const done = await begun('Done', '```sh\ntrue\n```\n');
    await dossier.call('POST /cases/{id}/sessions/{sid}/approve', done);
    const left = await begun('Left', 'Nothing.\n');
    await dossier.call('POST /api/cases/{id}/session/abort', { id: left.id });
    const { page } = await look(t, board);
    const tagged = (title: string, tag: string) =>
      page.locator('.card', { hasText: title }).getByText(tag, { exact: true }).waitFor();
    await tagged('Done', 'Completed');
    await tagged('Left', 'Aborted');
  });

  it('hears of what hands remove and rename, and what another tab deletes', async (t) => {
    const { board, make, workspace, dossier } = await start(t);
    const [gone, renamed, deleted] = [await make('Gone'), await make('Renamed'), await make('Del')];
    const { page, complaints } = await look(t, board);
    await card(page, 'Open', 'Renamed').waitFor();
    rmSync(join(workspace, gone.path), { recursive: true });
    await card(page, 'Open', 'Gone').waitFor({ state: 'detached' });
    renameSync(join(workspace, renamed.path), join(workspace, 'cases', 'by-hand'));
    const file = join(workspace, 'cases', 'by-hand', 'case.md');
    writeFileSync(file, readFileSync(file, 'utf8').replace('Renamed', 'Named by hand'));
    await card(page, 'Open', 'Named by hand').waitFor();
    await dossier.call('DELETE /cases/{id}', { id: deleted.id });
    await card(page, 'Open', 'Del').waitFor({ state: 'detached' });
    assert.equal(await page.locator('.card').count(), 1);
    assert.deepEqual(complaints, []);
  });

  it('goes from column to column by the arrow keys', async (t) => {
    const { board, make, dossier } = await start(t);
    await make('Left');
    const { id } = await make('Right');
    await dossier.call('PUT /cases/{id}/state', { id, body: { state: 'VERIFYING' } });
    const { page } = await look(t, board);
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowRight');
    const atHand = () => page.evaluate(() => document.activeElement?.textContent);
    assert.match((await atHand()) ?? '', /^Right/);
    await page.keyboard.press('ArrowLeft');
    assert.match((await atHand()) ?? '', /^Left/);
  });

  it('is no wider than a phone while a card of a far column moves', async (t) => {
    const { board, make, dossier } = await start(t);
    const { id } = await make('Far');
    await dossier.call('PUT /cases/{id}/state', { id, body: { state: 'VERIFYING' } });
    const { page } = await look(t, `${board}?move=${id}`, { size: 'narrow' });
    await page.getByLabel('New state').waitFor();
    await assertFits(page);
  });

  it('has no empty line in a card, and the whole ring around the one at hand', async (t) => {
    const { board, dossier } = await start(t);
    for (let length = 3; length < 24; length += 2)
      await dossier.call('POST /cases', { body: { title: 'T', type: 'x'.repeat(length) } });
    const { page } = await look(t, board);
    const below = await page
      .locator('.card')
      .evaluateAll((cards) =>
        cards.map(
          (one) =>
            one.getBoundingClientRect().bottom -
            (one.querySelector('time')?.getBoundingClientRect().bottom ?? 0),
        ),
      );
    assert.ok(Math.max(...below) < 16, `${below}`);
    await page.keyboard.press('j');
    const beside = await page.locator('.card:focus').evaluate((one) => {
      const { outlineOffset, outlineWidth } = getComputedStyle(one);
      return Number.parseFloat(outlineOffset) + Number.parseFloat(outlineWidth);
    });
    // The column cuts off more than its padding.
    assert.ok(beside <= 2, `${beside}`);
  });

  it('filters, moves and pages without scripts', async (t) => {
    const { board, make, stateOf } = await start(t);
    const { id } = await make('The one', 'with a needle in it\n');
    for (let n = 0; n < 51; n += 1) await make(`Other ${n}`);
    const { page } = await look(t, board, { javaScriptEnabled: false });
    await page.getByLabel('Search titles and descriptions').fill('NEEDLE');
    await page.getByRole('button', { name: 'Filter' }).click();
    assert.match(page.url(), /search=NEEDLE/);
    assert.deepEqual(await page.locator('.card .title').allTextContents(), ['The one']);
    await page.locator('.card').hover();
    await page.getByRole('link', { name: 'Move The one' }).click();
    await page.getByLabel('New state').selectOption('Resolved');
    await page.getByRole('button', { name: 'Move', exact: true }).click();
    assert.equal(await stateOf(id), 'RESOLVED');
    assert.match(page.url(), /search=NEEDLE/);
    assert.equal(await column(page, 'Resolved').getByText('1').count(), 1);
    await page.goto(`${board}?view=list`);
    assert.equal(await page.locator('tbody tr').count(), 50);
    await page.getByRole('link', { name: 'Next page' }).click();
    assert.deepEqual(await page.locator('tbody .title').allTextContents(), ['Other 0', 'The one']);
    assert.equal(await page.locator('tbody .tag.RESOLVED').count(), 1);
  });

  it('holds 2,000 in 3,000 nodes, and fetches more as one scrolls', async (t) => {
    const { board, workspace } = await start(t, (root) => {
      for (let n = 0; n < 2000; n += 1)
        write(join(root, dirOf(n), 'case.md'), caseText(n, n % 2 === 0 ? 'OPEN' : 'BLOCKED'));
    });
    const { page, complaints } = await look(t, board);
    const nodes = () =>
      page.evaluate(() => {
        const all = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
        let count = 0;
        while (all.nextNode() !== null) count += 1;
        return count;
      });
    const last = async (box: string) =>
      Number((await page.locator(`${box} .title`).last().textContent())?.slice(7));
    const scroll = (box: string, isFar: (last: number) => boolean) =>
      eventually(async () => {
        await page.locator(box).evaluate((element) => element.scrollTo(0, element.scrollHeight));
        assert.ok(isFar(await last(box)), `only ${await last(box)}`);
      });
    // Not the last: where more were loaded meanwhile, it is out of view as soon as the rows at the end are drawn.
    const middle = () =>
      eventually(async () => {
        const title = await page.locator('.list').evaluate((list) => {
          const { x, y, width, height } = list.getBoundingClientRect();
          const row = document.elementFromPoint(x + width / 2, y + height / 2)?.closest('tr');
          return row?.querySelector('.title')?.textContent;
        });
        assert.ok(title);
        return Number(title.slice(7));
      });
    assert.equal(await column(page, 'Open').getByRole('heading').textContent(), 'Open 1000');
    assert.ok((await nodes()) <= 3000, `${await nodes()} nodes`);
    await scroll('[data-column=OPEN] .scroll', (n) => n < 1000);
    assert.ok((await nodes()) <= 3000, `${await nodes()} nodes`);
    await page.goto(`${board}?view=list&order=oldest`);
    await scroll('.list', (n) => n > 600);
    assert.ok((await nodes()) <= 3000, `${await nodes()} nodes`);
    const n = await middle();
    writeFileSync(
      join(workspace, dirOf(n), 'case.md'),
      caseText(n).replace(`Number ${n}`, 'By hand'),
    );
    await page.getByRole('link', { name: 'By hand', exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it('keeps the rows that are shown where further ones cannot be loaded, and loads them again', async (t) => {
    const { board } = await start(t, (root) => {
      for (let n = 0; n < 300; n += 1) write(join(root, dirOf(n), 'case.md'), caseText(n));
    });
    const { page } = await look(t, `${board}?view=list&order=oldest`);
    const rows = page.locator('.list');
    const toEnd = () => rows.evaluate((list) => list.scrollTo(0, list.scrollHeight));
    const assertReaches = async (n: number) => {
      await toEnd();
      const last = await rows.locator('.title').last().textContent();
      assert.ok(Number(last?.slice(7)) >= n, `only ${last}`);
    };
    const asked: string[] = [];
    let isRefusing = true;
    await page.route(/\/cases\?.*after=/, (route) => {
      asked.push(new URL(route.request().url()).searchParams.get('after') ?? '');
      const isRefused = isRefusing && asked.length > 1;
      return isRefused ? route.fulfill({ status: 503, body: '' }) : route.continue();
    });
    await eventually(() => assertReaches(100));
    // The third page is refused, and then the second one again; that one alone if the first changed meanwhile.
    await toEnd();
    await eventually(() => assert.ok(asked.lastIndexOf(asked[0] ?? '') > 0));
    await assertReaches(100);
    isRefusing = false;
    await page.evaluate(() => window.dispatchEvent(new Event('focus')));
    await eventually(() => assertReaches(299));
  });

  it('fits a hand-held screen, by light and in the dark', async (t) => {
    const { board, make } = await start(t);
    await make('A title that is long '.repeat(8).trim());
    await make('W'.repeat(200));
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, complaints } = await look(t, board, { size: 'narrow', colorScheme });
      await assertFits(page);
      await assertAccessible(page);
      await page.goto(`${board}?view=list`);
      await assertFits(page);
      await assertAccessible(page);
      assert.deepEqual(complaints, []);
    }
  });
});
