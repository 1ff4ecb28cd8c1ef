import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../lib/client/client.ts';
import { assertAccessible, assertFits, look, noBrowser, openTab } from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { eventually, until } from '../../helpers/eventually.ts';
import { makeRepository, temporaryDirectory, writeFiles } from '../../helpers/repository.ts';

const start = async (t: TestContext, count: number, settings = '') => {
  const workspace = temporaryDirectory(t);
  const file = join(workspace, 'workspace.md');
  writeFileSync(file, `---\n${settings}worktrees:\n  ttl_hours: 1000 # long\n---\n`);
  const repository = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
  const given = ['--workspace', workspace, '--repo', repository.root, '--trust'];
  const { url } = await startHere(t, given);
  const dossier = connect({ url });
  const made = [];
  for (let number = 0; number < count; number += 1) {
    const title = number === 0 ? '<script>x</script>' : `Number ${number}`;
    const { id } = await dossier.call('POST /cases', { body: { title, type: 'bug' } });
    made.push(
      await dossier.call('POST /api/worktrees', {
        body: { case_id: id, branch: `work/\u202e<b>${number}` },
      }),
    );
  }
  const at = (path = '') => `${url}/dashboard/settings/worktrees${path}`;
  const stale = () => dossier.call('PUT /api/worktrees/config', { body: { ttl_hours: 0 } });
  return { workspace, file, repository, dossier, made, at, stale };
};

const WITHOUT_SCRIPTS = { javaScriptEnabled: false };

describe('the page of worktrees', { skip: noBrowser }, () => {
  it('removes what it showed and no other, and says why the rest stays', async (t) => {
    const { dossier, made, at, stale } = await start(t, 3);
    const [dirty, clean, late] = made;
    writeFiles(dirty?.path ?? '', { 'new.txt': 'new' });
    await stale();
    const { page, browser, complaints } = await look(t, at());
    const goes = page.getByRole('list', { name: 'Can be removed' }).getByRole('listitem');
    const stays = page.getByRole('list', { name: 'Cannot be removed' }).getByRole('listitem');
    assert.deepEqual([await goes.count(), await stays.count()], [2, 1]);
    await stays.getByText('1 uncommitted file').waitFor();
    await stays.getByText('<script>x</script>').waitFor();
    assert.doesNotMatch((await page.locator('body').textContent()) ?? '', /\u202e/);
    await assertAccessible(page);
    const narrow = await openTab(browser, at(), { size: 'narrow' });
    await assertFits(narrow.page);
    // Of one that was made since, the page had not said a word.
    const { id } = await dossier.call('POST /cases', { body: { title: 'After', type: 'bug' } });
    const after = await dossier.call('POST /api/worktrees', { body: { case_id: id } });
    writeFiles(late?.path ?? '', { 'new.txt': 'new' });
    await page.keyboard.press('x');
    await goes.filter({ hasText: 'After' }).waitFor();
    await stays.filter({ hasText: 'Number 2' }).waitFor();
    assert.deepEqual(
      [dirty, clean, late, after].map((one) => existsSync(one?.path ?? '')),
      [true, false, true, true],
    );
    assert.deepEqual(complaints, []);
  });

  it('changes how they are made, and no line of the file that was not changed', async (t) => {
    const { dossier, file, at } = await start(t, 0, '# mine\n');
    const { page } = await look(t, at(), WITHOUT_SCRIPTS);
    await page.getByText('A session creates one for its Work item').waitFor();
    await page.getByLabel('Branch name').fill('{slug}');
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('alert')
      .getByText(/^Branch template /)
      .waitFor();
    await page.getByLabel('Setup').fill('npm ci\n\nnpm test\n');
    await page.getByLabel('Base branch').fill('main');
    await page.getByRole('button', { name: 'Save' }).click();
    const { setup, base_branch } = await dossier.call('GET /api/worktrees/config');
    assert.deepEqual([setup, base_branch], [['npm ci', 'npm test'], 'main']);
    const text = readFileSync(file, 'utf8');
    assert.match(text, /^---\n# mine\n[\s\S]* # long\n/);
    assert.doesNotMatch(text, /prefix|template|root|copy|commit/);
    await page.getByLabel('Work of a completed session').selectOption('never');
    // A page that is being loaded cannot be loaded again.
    await Promise.all([
      page.waitForEvent('load'),
      page.getByRole('button', { name: 'Save' }).click(),
    ]);
    await until(async () => (await dossier.call('GET /api/worktrees/config')).commit === 'never');
    writeFileSync(file, text);
    await page.reload();
    await page.getByLabel('Base branch').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await until(async () => (await dossier.call('GET /api/worktrees/config')).base_branch === null);
    writeFileSync(file, text.replace('1000', '2000'));
    await page.getByLabel('Base branch').fill('other');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').waitFor();
    assert.equal((await dossier.call('GET /api/worktrees/config')).base_branch, 'main');
    const { page: live } = await look(t, at());
    await live.getByLabel('Setup').fill('npm ci\nnpm run build');
    await live.reload();
    await live.getByText('Your unsent text was restored.').waitFor();
    assert.equal(await live.getByLabel('Setup').inputValue(), 'npm ci\nnpm run build');
  });
});

describe('the page of one worktree', { skip: noBrowser }, () => {
  it('keeps its work, gives it back and lets go of it, live and by keyboard', async (t) => {
    const { dossier, repository, made, at } = await start(t, 1);
    const [worktree] = made;
    const { path = '', case_id = '' } = worktree ?? {};
    writeFiles(path, { 'new.txt': 'mine' });
    const { page, browser, complaints } = await look(t, at());
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await page.getByText('1 uncommitted file.').waitFor();
    await page.getByText('Work is saved when').waitFor();
    await page.getByText('Remove…').click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('alert').getByText('1 uncommitted file').waitFor();
    await page.getByRole('button', { name: 'Save work and remove' }).click();
    await page.getByText('The Work item has no worktree.').waitFor();
    assert.equal(existsSync(path), false);
    await assertAccessible(page);
    const narrow = await openTab(browser, at(`/${case_id}`), { size: 'narrow' });
    await assertFits(narrow.page);
    await page.goto(at('').replace(/settings\/worktrees$/, `cases/${case_id}`));
    await page.getByRole('link', { name: 'Saved work (1)' }).click();
    await page.getByText('The Work item has no worktree.').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('R');
    await page.getByText('1 uncommitted file.').waitFor();
    assert.equal(readFileSync(join(path, 'new.txt'), 'utf8'), 'mine');
    const plain = await openTab(browser, at(`/${case_id}`), WITHOUT_SCRIPTS);
    await plain.page.getByText('Remove the worktree to restore saved work').waitFor();
    await plain.page.getByText('Delete…').click();
    await plain.page.getByText('This cannot be undone.').waitFor();
    await plain.page.getByRole('button', { name: 'Delete saved work' }).click();
    await plain.page.getByText('Work is saved when').waitFor();
    assert.deepEqual(
      await dossier.call('GET /api/worktrees/{case_id}/recoveries', { case_id }),
      [],
    );
    assert.equal(repository.git('for-each-ref', 'refs/dossier/recovered'), '');
    // The call that was refused above.
    assert.deepEqual(
      complaints.filter((one) => !one.includes('409')),
      [],
    );
  });

  it('says of one whose Work item is gone what to do, and leads there', async (t) => {
    const { dossier, workspace, made, at } = await start(t, 2);
    const [, { case_id = '', path = '' } = {}] = made;
    const item = await dossier.call('GET /cases/{id}', { id: case_id });
    rmSync(join(workspace, item.path), { recursive: true });
    await eventually(async () => assert.equal((await dossier.call('GET /cases')).length, 1));
    const { page } = await look(t, at());
    const gone = page.getByRole('list', { name: 'Without a Work item' }).getByRole('listitem');
    await gone.getByText("Restore the Work item's directory, or").waitFor();
    assert.equal(
      await page.getByRole('list', { name: 'Worktrees' }).getByRole('listitem').count(),
      1,
    );
    await assertAccessible(page);
    await gone.getByRole('link', { name: 'save its work and remove it…' }).click();
    await page.getByText('Remove…').click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('The Work item has no worktree.').waitFor();
    assert.equal(existsSync(path), false);
  });

  it('lets go of a directory of the operator, and leaves it', async (t) => {
    const { dossier, repository, at } = await start(t, 0);
    const path = join(temporaryDirectory(t), 'mine');
    repository.git('worktree', 'add', '--quiet', '-b', 'mine', path);
    const { id } = await dossier.call('POST /cases', { body: { title: 'Mine', type: 'bug' } });
    await dossier.call('POST /api/worktrees/{case_id}/attach', { case_id: id, body: { path } });
    const { page } = await look(t, at(), WITHOUT_SCRIPTS);
    await page.getByText('Attached').waitFor();
    await page.getByRole('link', { name: 'Mine' }).click();
    await page.getByText('Detach…').click();
    await page.getByRole('button', { name: 'Detach' }).click();
    await page.getByText('The Work item has no worktree.').waitFor();
    assert.ok(existsSync(join(path, 'README.md')));
  });
});
