import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../../lib/client/client.ts';
import { dossier } from '../../../helpers/command.ts';
import { startHere } from '../../../helpers/daemon-here.ts';
import { makeRepository, temporaryDirectory } from '../../../helpers/repository.ts';
import { atTerminal, noTerminal } from '../../../helpers/terminal.ts';

const withWorktrees = async (t: TestContext, ...titles: string[]) => {
  const { root } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
  const workspace = temporaryDirectory(t);
  const { url } = await startHere(t, ['--workspace', workspace, '--repo', root]);
  const api = connect({ url });
  const made = [];
  for (const title of titles) {
    const { id } = await api.call('POST /cases', { body: { title, type: 'bug' } });
    made.push(await api.call('POST /api/worktrees', { body: { case_id: id } }));
  }
  const args = (...words: string[]) => ['worktrees', ...words, '--workspace', workspace];
  const said = (...words: string[]) => dossier(t, ...args(...words));
  return { api, made, args, said };
};

describe('dossier worktrees', () => {
  it('lists them with their Work items, and removes one; work in it only with --force, which keeps it', async (t) => {
    const { api, made, said } = await withWorktrees(t, 'One', 'Two');
    const [one, two] = made;
    assert.ok(one !== undefined && two !== undefined);
    const listed = (await said()).stdout.trimEnd().split('\n');
    assert.deepEqual(
      listed.toSorted(),
      [
        [one.case_id.slice(0, 8), 'OPEN', 'One', one.branch, one.path].join('\t'),
        [two.case_id.slice(0, 8), 'OPEN', 'Two', two.branch, two.path].join('\t'),
      ].toSorted(),
    );
    assert.match((await said('rm', 'One')).stdout, /^Removed .* The branch work\/\S+ is kept\.\n$/);
    assert.equal(existsSync(one.path), false);
    assert.match((await said('rm', 'One')).stderr, /no worktree yet/);
    writeFileSync(join(two.path, 'new.txt'), 'new');
    const refused = await said('rm', 'Two');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /uncommitted files .*dossier worktrees rm [0-9a-f]{8} --force/);
    assert.equal((await said('rm', 'Two', '--force')).code, 0);
    const at = { case_id: two.case_id };
    assert.equal((await api.call('GET /api/worktrees/{case_id}/recoveries', at)).length, 1);
    for (const wrong of [
      ['rm'],
      ['clean', 'One'],
      ['list', '--force'],
      ['rm', 'One', '--dry-run'],
      ['tea'],
    ])
      assert.equal((await said(...wrong)).code, 2, wrong.join(' '));
  });

  it('cleans up after closed Work items, on a yes at a terminal', {
    skip: noTerminal,
  }, async (t) => {
    const { api, made, args, said } = await withWorktrees(t, 'Open', 'Closed', 'Dirty');
    const [open, closed, dirty] = made;
    assert.ok(open !== undefined && closed !== undefined && dirty !== undefined);
    writeFileSync(join(dirty.path, 'new.txt'), 'new');
    for (const { case_id: id } of [closed, dirty])
      await api.call('PUT /cases/{id}/state', { id, body: { state: 'NON_ISSUE' } });
    const tried = await said('clean', '--dry-run');
    assert.match(tried.stdout, /\twould be removed\t.*\n[0-9a-f]{8}\tkept\t.*1 uncommitted file/);
    const left = await atTerminal(t, args('clean'), [[/branches are kept\. \[y\/N\]/, 'n\n']]);
    assert.deepEqual([left.code, existsSync(closed.path)], [1, true], left.text);
    const done = await atTerminal(t, args('clean'), [[/branches are kept\. \[y\/N\]/, 'y\n']]);
    assert.equal(done.code, 0, done.text);
    assert.deepEqual(
      [open, closed, dirty].map(({ path }) => existsSync(path)),
      [true, false, true],
    );
    const { removed, skipped } = JSON.parse((await said('clean', '--json')).stdout);
    assert.deepEqual([removed.length, skipped.length], [0, 1]);
  });
});
