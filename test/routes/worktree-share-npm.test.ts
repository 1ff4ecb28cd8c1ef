/** The real npm. Its package comes from an archive in the repository, so no registry is needed. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { Worktree } from '../../store/records/worktree.ts';
import { skipOf } from '../helpers/git-scene.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { startForTest } from '../helpers/service.ts';
import { commit } from '../lib/code/worktrees/fixture.ts';

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

describe('worktrees.share with npm', { skip: skipOf('auto') }, () => {
  it('copies node_modules, and runs the scripts of the project itself', async (t) => {
    const own = {
      ...{ name: 'x', version: '1.0.0', dependencies: { dep: 'file:dep-1.0.0.tgz' } },
      scripts: { prepare: 'mkdir -p dist && node -p "require(\'dep\')" > dist/made.txt' },
    };
    const running = await startForTest(t, {
      settings: 'worktrees:\n  setup: [npm ci --no-audit --no-fund]\n  share: [node_modules]',
      state: temporaryDirectory(t),
      files: {
        '.gitignore': 'node_modules/\ndist/\n',
        'package.json': json(own),
        'package-lock.json': json({
          ...{ name: 'x', version: '1.0.0', lockfileVersion: 3, requires: true },
          packages: {
            '': { name: 'x', version: '1.0.0', dependencies: own.dependencies },
            'node_modules/dep': { version: '1.0.0', resolved: 'file:dep-1.0.0.tgz' },
          },
        }),
      },
    });
    const dep = temporaryDirectory(t);
    writeFiles(dep, {
      'package.json': json({ name: 'dep', version: '1.0.0' }),
      'index.js': "module.exports = 'from dep';\n",
    });
    execFileSync('npm', ['pack', '--silent'], { cwd: dep });
    const { root, git } = running.repository;
    copyFileSync(join(dep, 'dep-1.0.0.tgz'), join(root, 'dep-1.0.0.tgz'));
    commit(git, root, 'dep.txt');
    const create = async (): Promise<Worktree> => {
      const { body } = await running.call<Case>('POST', '/cases', { title: 'A', type: 'bug' });
      const made = await running.call<Worktree>('POST', '/api/worktrees', { case_id: body.id });
      assert.equal(made.body.setup?.status, 'completed', made.text);
      return made.body;
    };
    const first = await create();
    assert.match(first.setup?.share?.join() ?? '', /^node_modules: kept as the snapshot of /);
    const second = await create();
    const [command] = second.setup?.commands ?? [];
    assert.equal(command?.status, 'skipped');
    assert.match(
      command?.output ?? '',
      /npm ci --no-audit --no-fund not run, then npm run prepare:\n/,
    );
    for (const { path } of [first, second])
      assert.equal(readFileSync(join(path, 'dist/made.txt'), 'utf8'), 'from dep\n');
  });
});
