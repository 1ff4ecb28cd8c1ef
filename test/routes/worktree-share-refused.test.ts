import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { skipOf } from '../helpers/git-scene.ts';
import { saidOf, withSharedInstall } from '../helpers/shared-install.ts';

describe('worktrees.share, what is not shared', { skip: skipOf('auto') }, () => {
  it('does not keep what a copy would lack or lead astray, and says why', async (t) => {
    const cases: [string, RegExp][] = [
      ['echo x > beside.txt', /npm ci also wrote beside\.txt/],
      [
        'mkdir -p app/node_modules/x; touch app/node_modules/x/y',
        /also creates app\/node_modules\. Add app\/node_modules to worktrees\.share/,
      ],
      ['ln -s /etc/passwd node_modules/out', /the link node_modules\/out is absolute or leads out/],
      ['ln -s ../../../x node_modules/out', /the link node_modules\/out is absolute or leads out/],
      ['mkfifo node_modules/pipe', /node_modules\/pipe is a set-uid program, a socket, a pipe/],
      ['touch node_modules/pyvenv.cfg', /is a Python virtual environment/],
      ['echo 1 >> package-lock.json', /the command changed package-lock\.json/],
    ];
    const { create, snapshots, installs } = await withSharedInstall(t);
    for (const [more, why] of cases) {
      installs(more);
      const made = await create();
      assert.equal(made.setup.status, 'completed');
      assert.match(made.setup.share?.join() ?? '', why);
      assert.match(made.setup.share?.join() ?? '', /^node_modules: not shared, because /);
      assert.deepEqual(snapshots(), []);
    }
  });

  it('keeps links into the worktree, as npm makes them for workspaces', async (t) => {
    const { create } = await withSharedInstall(t, {
      more: 'ln -s ../packages/a node_modules/a',
      files: { 'packages/a/a.txt': 'a\n' },
    });
    await create();
    const second = await create();
    assert.deepEqual(saidOf(second), ['completed', ['skipped']]);
    assert.equal(readFileSync(join(second.path, 'node_modules/a/a.txt'), 'utf8'), 'a\n');
  });

  it('installs where a directory exists already, and where git does not ignore it', async (t) => {
    const { create, call } = await withSharedInstall(t, { setup: ['npm ci'] });
    await create();
    const { case_id } = await create();
    const again = await call<{ setup: { commands: { status: string }[]; share: string[] } }>(
      'POST',
      `/api/worktrees/${case_id}/setup`,
    );
    assert.equal(again.body.setup.commands[0]?.status, 'completed');
    assert.deepEqual(again.body.setup.share, [
      'node_modules: not shared, because node_modules already exists.',
    ]);
    const shown = await withSharedInstall(t, { files: { '.gitignore': 'x\n' } });
    assert.match(
      (await shown.create()).setup.share?.join() ?? '',
      /git does not ignore node_modules/,
    );
  });

  it('fails for a directory of workspace.md that cannot be shared', async (t) => {
    const { create } = await withSharedInstall(t, { share: ['.venv'] });
    const { setup } = await create();
    assert.deepEqual([setup.status, setup.commands], ['failed', []]);
    assert.match(
      setup.error ?? '',
      /^\.venv, in worktrees\.share of workspace\.md, contains absolute paths/,
    );
  });
});
