/** What the commands of a set-up fetched: the operator's own git starts nothing of it afterwards. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Setup, Worktree } from '../../store/records/worktree.ts';
import { skipOf } from '../helpers/git-scene.ts';
import { gitIn, temporaryDirectory } from '../helpers/repository.ts';
import { type SessionTest, withCase } from '../helpers/sessions.ts';

const ARM = (name: string, trap: string) =>
  `git init -q ${name}; git -C ${name} -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; git -C ${name} config core.fsmonitor ${trap}`;

const withSetup = (t: TestContext, sandbox: 'auto' | 'off', script: string): Promise<SessionTest> =>
  withCase(t, undefined, {
    settings: `sandbox: ${sandbox}\nworktrees:\n  setup: ${JSON.stringify([script])}`,
    env: { HOME: temporaryDirectory(t) },
    files: { '.gitignore': 'node_modules/\n', 'a.txt': 'one\n' },
  });

interface Made {
  test: SessionTest;
  setup: Setup;
  path: string;
  /** What the operator's git does there, and whether it started anything. */
  startsNothing: () => void;
}

const setUpBy = async (
  t: TestContext,
  sandbox: 'auto' | 'off',
  script: (trap: string) => string,
): Promise<Made> => {
  const root = temporaryDirectory(t);
  const [trap, mark] = [join(root, 'trap'), join(root, 'ran')];
  writeFileSync(trap, `#!/bin/sh\necho "$0 $PWD" >> ${mark}\n`, { mode: 0o755 });
  const test = await withSetup(t, sandbox, script(trap));
  const { git, root: main } = test.repository;
  // A place for a submodule, whose repository nobody brought yet.
  git('update-index', '--add', '--cacheinfo', `160000,${git('rev-parse', 'HEAD').trim()},sub`);
  git('commit', '-qm', 'linked');
  mkdirSync(join(main, 'sub'), { recursive: true });
  const { body } = await test.call<Worktree>('POST', '/api/worktrees', { case_id: test.item.id });
  assert.ok(body.setup !== undefined, JSON.stringify(body));
  const { path, setup } = body;
  const startsNothing = (): void => {
    for (const dir of ['', 'sub', 'deep/er'].map((name) => join(path, name)))
      if (existsSync(dir)) gitIn(dir)('status', '--short');
    assert.equal(existsSync(mark), false, existsSync(mark) ? readFileSync(mark, 'utf8') : '');
  };
  return { test, setup, path, startsNothing };
};

for (const sandbox of ['auto', 'off'] as const)
  describe(`a set-up (sandbox: ${sandbox})`, { skip: skipOf(sandbox) }, () => {
    it('leaves no armed repository at a gitlink or elsewhere: each is taken aside, and told', async (t) => {
      const { setup, test, path, startsNothing } = await setUpBy(
        t,
        sandbox,
        (trap) => `${ARM('sub', trap)}; ${ARM('deep/er', trap)}`,
      );
      startsNothing();
      assert.equal(existsSync(join(path, 'sub/.git')), false);
      assert.equal(setup.status, 'failed');
      assert.match(
        setup.error ?? '',
        /added repositories to the worktree: sub \(its .*, deep\/er \(its .*recovered/,
      );
      assert.deepEqual(
        setup.commands.map(({ status }) => status),
        ['completed'],
      );
      const recovered = join(test.workspace, test.item.path, 'recovered');
      const [place = ''] = readdirSync(recovered);
      const config = join(recovered, place, 'sub.git-directory/config.disarmed');
      assert.match(readFileSync(config, 'utf8'), /trap/);
    });

    // What is looked at afterwards is the same with a sandbox.
    if (sandbox === 'auto') return;

    it('may fetch repositories where the base ignores them', async (t) => {
      const { setup, path, startsNothing } = await setUpBy(t, sandbox, (trap) =>
        ARM('node_modules/one', trap),
      );
      startsNothing();
      assert.deepEqual([setup.status, setup.error], ['completed', null]);
      assert.ok(existsSync(join(path, 'node_modules/one/.git/HEAD')));
    });

    it('tells it in the stream of the session that wanted it, which fails', async (t) => {
      const test = await withSetup(t, sandbox, ARM('sub', 'trap'));
      const { id } = await test.start();
      const { error } = await test.until(id, 'failed');
      assert.match(error ?? '', /added repositories to the worktree: sub/);
      const told = (await test.eventsOf(id)).filter(
        ({ data }) => data.tool_call_id === 'setup-git',
      );
      assert.match(String(told[0]?.data.output), /added repositories to the worktree: sub/);
    });
  });
