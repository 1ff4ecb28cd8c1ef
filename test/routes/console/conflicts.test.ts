import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../lib/client/client.ts';
import { assertAccessible, assertFits, look, noBrowser } from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { gitIn, makeRepository, temporaryDirectory } from '../../helpers/repository.ts';
import { commit } from '../../lib/work/conflicts/fixture.ts';

const start = async (t: TestContext) => {
  const { root, git } = makeRepository(t, { files: { 'a.txt': 'one\n', 'b.txt': 'one\n' } });
  const daemon = await startHere(t, ['--workspace', temporaryDirectory(t), '--repo', root]);
  const dossier = connect({ url: daemon.url });
  const { id } = await dossier.call('POST /cases', { body: { title: 'Rebase', type: 'bug' } });
  const { path } = await dossier.call('POST /api/worktrees', { body: { case_id: id } });
  commit(git, root, { 'a.txt': 'base\n' });
  commit(gitIn(path), path, { 'a.txt': 'branch <script>alert(1)</script> \u202e\n' });
  const read = (name: string) => readFileSync(join(path, name), 'utf8');
  const state = async () => (await dossier.call('GET /cases/{id}', { id })).state;
  return {
    root,
    git,
    worktree: path,
    dossier,
    id,
    read,
    state,
    url: `${daemon.url}/dashboard/cases/${id}/conflicts`,
  };
};

// A file that was deleted, and a rebase that ended while the page loads, answer 404.
const withoutMissing = (complaints: readonly string[]) =>
  complaints.filter((said) => !said.includes('404'));

describe('the conflicts of a Work item', { skip: noBrowser }, () => {
  it('are met by a rebase, resolved by hand and applied', async (t) => {
    const { url, read, state } = await start(t);
    const { page, complaints } = await look(t, url);
    await page.getByText('No rebases.').waitFor();
    await page.keyboard.press('a');
    await page.getByText('Rebase stopped at conflicts:').waitFor();
    await page.getByText('changed on both sides').first().waitFor();
    assert.equal(await page.getByText('both_modified').count(), 0);
    const ours = page.locator('.side', { hasText: 'branch <script>alert(1)</script> ⟦U+202E⟧' });
    await ours.waitFor();
    assert.equal(await state(), 'BLOCKED');
    await assertAccessible(page);
    await page.getByLabel('a.txt: resolved text').fill('both\n');
    await page.getByRole('button', { name: 'Save file' }).click();
    await page.getByText('No conflict markers left.').waitFor();
    assert.equal(read('a.txt'), 'both\n');
    await page.keyboard.press('a');
    await page.getByRole('button', { name: 'Push rebased branch' }).waitFor();
    await page.getByText('1 rebase, 1 with conflicts.').waitFor();
    await assertAccessible(page);
    assert.deepEqual(withoutMissing(complaints), []);
  });

  it('are not resolved over what somebody else has made of them since', async (t) => {
    const { url, read, dossier, id } = await start(t);
    await dossier.call('POST /api/cases/{id}/pr/rebase', { id });
    const { page } = await look(t, url);
    await page.getByLabel('a.txt: resolved text').fill('mine\n');
    // Between the click and its call: an earlier change would be shown, and the button be gone.
    await page.route(
      ({ pathname }) => pathname.endsWith('/editor/files'),
      async (route) => {
        const body = { content: 'theirs\n' };
        await dossier.call('PUT /cases/{id}/editor/files', { id, query: { path: 'a.txt' }, body });
        await route.continue();
      },
      { times: 1 },
    );
    await page.getByRole('button', { name: 'Save file' }).click();
    await page.getByRole('alert').waitFor();
    assert.equal(read('a.txt'), 'theirs\n');
    const changed = page.getByRole('status').filter({ hasText: 'changed since you began editing' });
    await changed.getByText('theirs').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Save file' }).count(), 0);
    await page.reload();
    await changed.getByText('mine').waitFor();
    assert.equal(await page.getByLabel('a.txt: resolved text').inputValue(), 'mine\n');
    await page.getByRole('button', { name: 'Keep my version' }).click();
    await page.getByRole('button', { name: 'Save file' }).click();
    await page.getByText('Your unsent text was restored').waitFor({ state: 'detached' });
    assert.equal(read('a.txt'), 'mine\n');
  });

  it('are not applied while text is unsaved, which a reload keeps', async (t) => {
    const { url, read, dossier, id } = await start(t);
    await dossier.call('POST /api/cases/{id}/pr/rebase', { id });
    const { page } = await look(t, url);
    const text = page.getByLabel('a.txt: resolved text');
    await text.fill('saved\n');
    await page.getByRole('button', { name: 'Save file' }).click();
    await page.getByText('No conflict markers left.').waitFor();
    await text.fill('better\n');
    await page.reload();
    await page.getByText('Your unsent text was restored.').waitFor();
    assert.equal(await text.inputValue(), 'better\n');
    await page.getByRole('button', { name: 'Stage files and continue' }).click();
    const refusal = page.getByRole('alert').filter({ hasText: 'save or discard it first' });
    await refusal.getByRole('link', { name: 'a.txt' }).waitFor();
    const [open] = await dossier.call('GET /api/cases/{id}/conflicts/history', { id });
    assert.equal(open?.outcome, null);
    await page.getByRole('button', { name: 'Save file' }).click();
    await refusal.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Stage files and continue' }).click();
    await page.getByRole('button', { name: 'Push rebased branch' }).waitFor();
    assert.equal(read('a.txt'), 'better\n');
    await page.locator('h2:focus', { hasText: 'Rebase' }).waitFor();
  });

  it('are of a file that one side deleted: it is deleted there, and the branch pushed after', async (t) => {
    const { url, dossier, id, root, git, worktree } = await start(t);
    const remote = makeRepository(t, { bare: true });
    git('remote', 'add', 'origin', remote.root);
    git('push', '--quiet', '--force', 'origin', 'main');
    commit(git, root, { 'b.txt': 'base\n' });
    commit(gitIn(worktree), worktree, { 'b.txt': null });
    gitIn(worktree)('push', '--quiet', 'origin', 'HEAD');
    await dossier.call('POST /api/cases/{id}/pr/rebase', { id });
    const { page, complaints } = await look(t, url);
    await page.getByLabel('a.txt: resolved text').fill('both\n');
    await page.getByRole('button', { name: 'Save file' }).click();
    await page.getByText('No conflict markers left.').waitFor();
    await page.getByRole('button', { name: 'Stage files and continue' }).click();
    await page.getByText('deleted in the branch').first().waitFor();
    await page.getByRole('button', { name: 'Delete file' }).click();
    await page.getByRole('button', { name: 'Delete file' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Stage files and continue' }).click();
    await page.getByRole('button', { name: 'Push rebased branch' }).click();
    await page.getByText('pushed', { exact: true }).waitFor();
    assert.equal(remote.git('log', '--format=%s', '-1', '--all').trim(), 'change b.txt');
    assert.deepEqual(withoutMissing(complaints), []);
  });

  it('are given to a session, by keyboard', async (t) => {
    const { url, dossier, id } = await start(t);
    await dossier.call('POST /api/cases/{id}/pr/rebase', { id });
    const { page } = await look(t, url);
    await page.keyboard.press('s');
    await page.waitForURL(/\/sessions\//);
    const [session] = await dossier.call('GET /cases/{id}/sessions', { id });
    assert.equal(session?.type, 'conflict');
  });

  it('are taken back without scripts, on a narrow screen, after a question', async (t) => {
    const { url, read, dossier, id } = await start(t);
    await dossier.call('POST /api/cases/{id}/pr/rebase', { id });
    const { page } = await look(t, url, { javaScriptEnabled: false, size: 'narrow' });
    await assertFits(page);
    await page.getByRole('button', { name: 'Stage files and continue' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByText('Abort…').click();
    await page.getByRole('button', { name: 'Restore the state before the rebase' }).click();
    await page.getByText('aborted').waitFor();
    assert.match(read('a.txt'), /^branch/);
  });
});
