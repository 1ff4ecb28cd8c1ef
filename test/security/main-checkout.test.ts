/** The operator's checkout of the repository, which a run in a worktree of it does not need. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createSandbox } from '../../lib/sandbox/sandbox.ts';
import type { SandboxView } from '../../lib/sandbox/view.ts';
import { missing, runInside } from '../helpers/inside.ts';
import { gitIn, makeRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { withCase, withScript } from '../helpers/sessions.ts';

const PLACES: Record<string, (home: string, t: TestContext) => string> = {
  'in the home directory': (home) => join(home, 'code/repo'),
  'in no home directory': (_, t) => join(temporaryDirectory(t, '/var/tmp'), 'repo'),
};

/** A checkout with an ignored `.env`, a stash, and what a removed worktree had, packed or loose. */
const checkout = (t: TestContext, root: string, isPacked = false) => {
  mkdirSync(root, { recursive: true });
  const files = { 'a.txt': 'one\n', '.gitignore': '.env\nnode_modules\n' };
  cpSync(makeRepository(t, { files }).root, root, { recursive: true });
  const git = gitIn(root);
  writeFiles(root, { 'a.txt': 'SECRET stashed\n', '.env': 'TOKEN=SECRET\n' });
  git('stash', 'push', '--quiet');
  writeFiles(root, { 'files/.env': 'TOKEN=SECRET\n', 'node_modules/one/index.js': 'a package\n' });
  git('add', '--force', 'files');
  const kept = git('commit-tree', '-m', 'kept', git('write-tree').trim()).trim();
  git('update-ref', 'refs/dossier/recovered/1', kept);
  git('reset', '--quiet', '--hard');
  if (isPacked) git('pack-refs', '--all');
  return { root, git };
};

const reading = (main: string): string =>
  [
    `cat ${main}/.env ${main}/a.txt; ls -A ${main}`,
    ...['.', main].flatMap((dir) =>
      [
        'stash show -p',
        'show refs/dossier/recovered/1:files/.env',
        'stash list',
        'for-each-ref',
      ].map((command) => `git -c safe.directory='*' -C ${dir} ${command}`),
    ),
    `git -c safe.directory='*' log -1 --format=%s; git -c safe.directory='*' status --short`,
  ].join('\n');

const assertHidden = (output: string): void => {
  assert.doesNotMatch(output, /SECRET|refs\/stash\n|stash@\{0\}:|refs\/dossier\/recovered\/1\n/);
  assert.match(output, /\nstart\n/);
};

for (const [place, placeIn] of Object.entries(PLACES))
  describe(`the main checkout, ${place}, in the sandbox`, { skip: missing }, () => {
    const prepared = (t: TestContext, isPacked: boolean) => {
      const HOME = temporaryDirectory(t);
      const on = checkout(t, placeIn(HOME, t), isPacked);
      const cwd = join(temporaryDirectory(t), 'worktree');
      on.git('worktree', 'add', '--quiet', cwd);
      const common = join(on.root, '.git');
      const view: SandboxView = {
        ...{ cwd, phase: 'plan', writable: [], hidden: [], network: 'host' },
        ...{ readable: [common], covered: [on.root] },
      };
      return { ...on, HOME, cwd, view };
    };

    for (const isPacked of [false, true])
      it(`shows no file, stash or recovery of it (${isPacked ? 'packed' : 'loose'} refs)`, async (t) => {
        const { root, HOME, view } = prepared(t, isPacked);
        const env = { HOME, PATH: process.env.PATH ?? '' };
        const box = createSandbox('auto', env);

        const { output } = await runInside(view, reading(root), { box, env });

        assertHidden(output);
        assert.match(output, /^\.git\nnode_modules\n/);
        assert.doesNotMatch(output, /broken|bad object/);
        assert.match(output, /refs\/heads\/main\n/);
      });

    it('shows packages, programs on the PATH, and what sandbox_readable names', async (t) => {
      const { root, HOME, view } = prepared(t, false);
      writeFiles(root, { 'tools/bin/run': '', 'tools/lib.txt': 'a library\n', 'data/x': 'data\n' });
      const env = { HOME, PATH: `${root}/tools/bin:${process.env.PATH}` };
      const script = `cat ${root}/node_modules/one/index.js ${root}/tools/lib.txt ${root}/data/x ${root}/.env; touch ${root}/new`;

      const some = await runInside(view, script, {
        ...{ box: createSandbox('auto', env, [join(root, 'data')]), env },
      });
      const whole = await runInside(view, script, { box: createSandbox('auto', env, [root]), env });

      assert.match(some.output, /^a package\na library\ndata\ncat: .*\.env: No such file/);
      assert.match(some.output, /touch: .*Read-only file system/);
      assert.match(whole.output, /^a package\na library\ndata\nTOKEN=SECRET\n/);
    });

    it('shows no more of a home directory that is the checkout itself', async (t) => {
      const { HOME, cwd, view } = prepared(t, false);
      const files = {
        '.local/bin/run': '',
        '.local/share/x/y.txt': 'SECRET\n',
        'vendor/z': 'SECRET\n',
      };
      writeFiles(HOME, files);
      const env = { HOME, PATH: `${HOME}/.local/bin:${process.env.PATH}` };
      const box = createSandbox('auto', env);

      const { output } = await runInside(
        { ...view, covered: [HOME] },
        `cat ${Object.keys(files)
          .map((path) => join(HOME, path))
          .join(' ')}; ls ${cwd}`,
        { box, env },
      );

      assert.doesNotMatch(output, /SECRET/);
      assert.match(output, /^a\.txt$/m);
    });

    it('is not read by an agent in Plan mode and in Work mode', async (t) => {
      const options = withScript(t, {}, 'auto');
      const home = options.env?.HOME ?? '';
      const repository = checkout(t, placeIn(home, t));
      writeFiles(join(home, '.test-agent'), {
        'plan.sh': reading(repository.root),
        'work.sh': reading(repository.root),
      });
      const test = await withCase(t, 'Work.', { ...options, repository });
      const { id } = await test.worked();
      const outputs = (await test.eventsOf(id)).flatMap(({ data }) => data.output ?? []);
      assert.equal(outputs.length, 2);
      for (const output of outputs) assertHidden(String(output));
    });
  });
