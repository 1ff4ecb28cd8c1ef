/** Repositories that a turn leaves where git does not look: what ignores them was written by the turn itself. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { guard, sanitizeNestedRepositories } from '../../lib/code/turn-repository/guard.ts';
import { getWorktree } from '../../lib/code/worktrees/read.ts';
import { atEnd } from '../helpers/at-end.ts';
import { gitScene, type Scene, skipOf } from '../helpers/git-scene.ts';
import { gitIn, temporaryDirectory, writeFiles } from '../helpers/repository.ts';

interface Trap {
  /** A shell line that makes an armed repository at this place. */
  arm: (place: string) => string;
  /** git as the operator runs it there starts nothing, and finds no repository of the turn's. */
  assertNone: (on: Scene, ...places: string[]) => void;
}

const trapIn = (t: TestContext): Trap => {
  const root = temporaryDirectory(t);
  const [trap, mark] = [join(root, 'trap'), join(root, 'ran')];
  writeFileSync(trap, `#!/bin/sh\necho "$PWD" >> ${mark}\n`, { mode: 0o755 });
  return {
    arm: (place) =>
      `git init -q ${place}; git -C ${place} commit -q --allow-empty -m x; git -C ${place} config core.fsmonitor ${trap}`,
    assertNone: (on, ...places) => {
      on.git('status', '--short');
      for (const place of places) {
        assert.equal(existsSync(join(on.path, place, '.git')), false, `${place}: ${on.summary()}`);
        gitIn(join(on.path, place))('status', '--short');
      }
      assert.equal(existsSync(mark), false, existsSync(mark) ? readFileSync(mark, 'utf8') : '');
    },
  };
};

for (const sandbox of ['auto', 'off'] as const)
  describe(`an armed repository in what a turn had git ignore (sandbox: ${sandbox})`, {
    skip: skipOf(sandbox),
  }, () => {
    for (const [how, script] of [
      ['by a .gitignore beside it', `mkdir new; echo '*' > new/.gitignore`],
      ['by the .gitignore of the base, changed', `printf 'lib/\\nnew/\\n' >> .gitignore`],
      [
        'by a .gitignore that is committed',
        `printf 'lib/\\nnew/\\n' > .gitignore; git add .; git commit -qm x`,
      ],
      ['by info/exclude', `echo 'new/' >> "$(git rev-parse --git-dir)/info/exclude"`],
    ] as const)
      it(`${how} is taken aside, and told`, async (t) => {
        const on = await gitScene(t, sandbox, undefined, {
          '.gitignore': '*.log\n',
          'lib/a.txt': 'one\n',
        });
        const { arm, assertNone } = trapIn(t);
        await on.work(`${script}; ${arm('lib/vendored')}; ${arm('new/vendored')}`, 'failed');
        assertNone(on, 'lib/vendored', 'new/vendored');
        assert.match(on.summary(), /new\/vendored \(its git directory is in [^ ]*recovered/);
      });

    it('by what an earlier turn committed is taken aside, too', async (t) => {
      const on = await gitScene(t, sandbox);
      const { arm, assertNone } = trapIn(t);
      await on.work(`echo 'lib/' > .gitignore; git add .gitignore; git commit -qm ignore`);
      await on.work(arm('lib/vendored'), 'failed');
      assertNone(on, 'lib/vendored');
    });

    it('stays where the rules of the base, or of the operator, ignore the place', async (t) => {
      const on = await gitScene(t, sandbox, undefined, {
        '.gitignore': 'node_modules/\n/out\n!/out/kept\n',
        'app/.gitignore': 'build*\n!build-tools\n',
        'out/tracked.txt': 'one\n',
      });
      const exclude = join(on.test.running.repository.root, '.git/info/exclude');
      writeFileSync(exclude, 'mine/\n');
      const { arm, assertNone } = trapIn(t);
      const places = ['app/node_modules/a', 'app/build/a', 'mine/a', 'out/cache/a'];
      const seen = ['app/build-tools', 'out', 'build', 'other/mine.txt', 'app/#x', 'app/:(top)x'];
      const quoted = [...places, ...seen].map((place) => arm(`'${place}'`));
      await on.work(`${quoted.join('\n')}\n: > .gitignore`, 'failed');
      assertNone(on, ...seen);
      for (const place of places) assert.ok(existsSync(join(on.path, place, '.git')), place);
    });

    it('is told where it is too deep to be looked for', async (t) => {
      const on = await gitScene(t, sandbox);
      await on.work(
        `n=$(printf 'a%.0s' $(seq 250)); for i in $(seq 20); do mkdir $n; cd $n; done; git init -q x`,
        'failed',
      );
      // Node removes nothing so deep.
      atEnd(t, () => execFileSync('rm', ['-rf', on.path]));
      const told = (await on.told()).find(({ code }) => code === 'left_unseen');
      assert.match(String(told?.message), /^Directories of the worktree were not checked.*aaaa/);
      assert.match(on.summary(), /were not checked/);
    });
  });

describe('what a turn leaves', () => {
  const scene = async (t: TestContext) => {
    const on = await gitScene(t, 'off');
    const worktree = getWorktree(on.test.running.service.store, on.test.item.id);
    const git = on.test.running.service.git.at(worktree);
    return { on, git, base: worktree.base_commit, aside: join(temporaryDirectory(t), 'aside') };
  };

  it('is told where the walk stopped at its bound', async (t) => {
    const { on, git, base, aside } = await scene(t);
    const before = await guard(git, base);
    for (const name of ['aa', 'bb/cc', 'zz']) gitIn(on.path)('init', '--quiet', name);
    const most = { directories: 3, entries: 1000 };
    const { taken, unseen } = await sanitizeNestedRepositories(git, {
      before,
      links: [],
      aside,
      most,
    });
    assert.deepEqual([taken.map(({ path }) => path), unseen], [['aa'], ['zz', 'bb/cc']]);
    const few = { directories: 1000, entries: 1 };
    const again = await sanitizeNestedRepositories(git, { before, links: [], aside, most: few });
    assert.deepEqual(again.unseen, ['.']);
    const rest = await sanitizeNestedRepositories(git, { before, links: [], aside });
    assert.deepEqual([rest.taken.map(({ path }) => path), rest.unseen], [['zz', 'bb/cc'], []]);
  });

  it('is taken aside where the settings are gone, and where its path is long', async (t) => {
    const { on, git, base, aside } = await scene(t);
    const deep = join('a'.repeat(150), 'b'.repeat(150));
    for (const name of ['inner', deep]) gitIn(on.path)('init', '--quiet', name);
    const before = await guard(git, base);
    rmSync(join(on.path, 'inner/.git/config'));
    for (const name of ['inner', deep])
      writeFiles(join(on.path, name, '.git/hooks'), { 'pre-commit': 'exit 1\n' });
    const { mended } = await sanitizeNestedRepositories(git, { before, links: [], aside });
    assert.deepEqual(mended.toSorted(), [deep, 'inner']);
    for (const name of mended) assert.ok(!existsSync(join(on.path, name, '.git/hooks')), name);
    assert.equal(readdirSync(aside).filter((name) => name.endsWith('.hooks')).length, 2);
  });

  it('is kept where it cannot be copied', async (t) => {
    const { on, git, base, aside } = await scene(t);
    gitIn(on.path)('init', '--quiet', 'inner');
    const before = await guard(git, base);
    const hooks = join(on.path, 'inner/.git/hooks');
    writeFiles(hooks, { 'pre-commit': 'exit 1\n' });
    execFileSync('mkfifo', [join(hooks, 'a-pipe')]);
    const { mended } = await sanitizeNestedRepositories(git, { before, links: [], aside });
    assert.deepEqual([mended, existsSync(hooks)], [['inner'], false]);
    const kept = readdirSync(join(aside, 'inner.hooks'));
    assert.deepEqual(
      ['a-pipe', 'pre-commit'].filter((name) => !kept.includes(name)),
      [],
    );
  });

  it('is looked for behind no link, and below a git directory that was there', async (t) => {
    const { on, git, base, aside } = await scene(t);
    const outside = temporaryDirectory(t);
    gitIn(outside)('init', '--quiet', 'theirs');
    gitIn(on.path)('init', '--quiet', '--bare', 'fixture');
    const before = await guard(git, base);
    on.git('config', 'core.excludesFile', join(on.path, 'rules'));
    writeFiles(on.path, { rules: '*\n' });
    gitIn(on.path)('init', '--quiet', 'fixture/objects/in');
    mkdirSync(join(on.path, 'links'));
    symlinkSync(outside, join(on.path, 'links/out'));
    const { taken, unseen } = await sanitizeNestedRepositories(git, { before, links: [], aside });
    assert.deepEqual([taken.map(({ path }) => path), unseen], [['fixture/objects/in'], []]);
    assert.ok(existsSync(join(outside, 'theirs/.git')));
  });
});
