import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runTriggers } from '../../../../../lib/code/worktrees/inspect/runs-later.ts';
import { filesOf, patched } from '../../../../../lib/text/patch.ts';

const patchOf = (
  path: string,
  body = '@@ -0,0 +1 @@\n+x\n',
  head = 'new file mode 100644\n',
): string => `diff --git a/${path} b/${path}\n${head}--- /dev/null\n+++ b/${path}\n${body}`;

const runsOf = (path: string, body?: string, head?: string): string[] =>
  filesOf(patchOf(path, body, head)).flatMap((file) => runTriggers(file));

const HOOK = 'runs when you commit, push or check out: a git hook';
const CI = 'runs in CI when you push';

describe('runTriggers', () => {
  for (const [path, when] of [
    ['.envrc', 'runs when you enter the directory with direnv'],
    ['deep/er/.ENVRC', 'runs when you enter the directory with direnv'],
    ['.vscode/tasks.json', 'runs when you open the folder in VS Code'],
    ['.vscode', 'runs when you open the folder in VS Code'],
    ['.idea/runConfigurations/x.xml', 'runs when you open the project in a JetBrains IDE'],
    ['.devcontainer/devcontainer.json', 'runs when you open the folder in a dev container'],
    ['sub/Makefile', 'runs when you run `make`'],
    ['.husky/pre-commit', HOOK],
    ['.githooks/post-checkout', HOOK],
    ['.pre-commit-config.yaml', HOOK],
    ['.github/workflows/ci.yml', CI],
    ['.github/actions/x/action.yml', CI],
    ['.gitlab-ci.yml', CI],
    ['conftest.py', 'runs when you run `pytest`'],
    ['setup.py', 'runs when you run `pip install`'],
    ['build.rs', 'runs when you run `cargo build`'],
    ['Dockerfile.dev', 'runs when you build or start the containers'],
    ['vite.config.ts', 'runs when you build, test or lint'],
    ['.claude/settings.json', 'runs when you start an agent here'],
    ['.gitmodules', 'brings in other repositories when you run `git submodule update`'],
  ] as const)
    it(`of ${path}: ${when}`, () => assert.deepEqual(runsOf(path), [when]));

  it('is nothing of other files, names that only hold such a one, and deleted files', () => {
    for (const path of [
      'src/make.ts',
      'Makefile.md',
      'x.envrc',
      'idea/x',
      'github/workflows/a.yml',
      'docs/package.json.md',
    ])
      assert.deepEqual(runsOf(path), [], path);
    assert.deepEqual(runsOf('.envrc', '@@ -1 +0,0 @@\n-x\n', 'deleted file mode 100644\n'), []);
  });

  it('is of .gitattributes where a driver is added, and of a submodule where its commit changes', () => {
    const drivers = 'runs the filters, diff and merge drivers of your git settings';
    assert.deepEqual(runsOf('.gitattributes', '@@ -0,0 +1 @@\n+*.bin filter=lfs -text\n'), [
      drivers,
    ]);
    assert.deepEqual(runsOf('.gitattributes', '@@ -0,0 +1 @@\n+*.sh text eol=lf\n'), []);
    const moved = 'brings in other commits when you run `git submodule update`';
    const body = '@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n';
    assert.deepEqual(runsOf('sub', body, `index ${'1'.repeat(40)}..${'2'.repeat(40)} 160000\n`), [
      moved,
    ]);
    assert.deepEqual(runsOf('sub.txt', '@@ -0,0 +1 @@\n+index 1..2 160000\n'), []);
  });

  it('is of package.json the scripts that are other ones now', () => {
    const [file] = filesOf(patchOf('app/package.json'));
    assert.ok(file !== undefined);
    const runs = (before: object | string, after: object | string): string[] => {
      const [one, two] = [before, after].map((each) =>
        typeof each === 'string' ? each : JSON.stringify(each),
      );
      return runTriggers(file, { before: one, after: two });
    };
    const npm = (name: string): string => `runs when you run \`npm run ${name}\``;
    const scripts = { test: 'x', lint: 'y', postinstall: 'z' };
    assert.deepEqual(runs({ scripts }, { scripts, version: '2' }), []);
    assert.deepEqual(runs({ scripts }, { scripts: { ...scripts, test: 'evil' } }), [npm('test')]);
    assert.deepEqual(runs({ scripts }, { scripts: { ...scripts, postinstall: 'evil' } }), [
      'runs when you run `npm install`',
    ]);
    assert.deepEqual(runs('', { scripts: { prepare: 'x', a: 'y' } }), [
      'runs when you run `npm install`',
      npm('a'),
    ]);
    // Nobody can tell: more is said, not less.
    assert.deepEqual(runs({ scripts }, '{'), ['runs when you run `npm install`']);
    assert.deepEqual(runTriggers(file), ['runs when you run `npm install`']);
  });
});

describe('patched', () => {
  it('is what the file holds after its patch, and nothing of another file', () => {
    const before = 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n';
    const body = '@@ -1,3 +1,4 @@\n+0\n a\n b\n c\n@@ -8,3 +9,2 @@\n h\n-i\n j\n';
    const [file] = filesOf(patchOf('x', body, ''));
    assert.ok(file !== undefined);
    assert.equal(patched(before, file), '0\na\nb\nc\nd\ne\nf\ng\nh\nj\n');
    assert.equal(patched(before.replace('h', 'H'), file), undefined);
    const [made] = filesOf(patchOf('x', '@@ -0,0 +1,2 @@\n+{\n+}\n\\ No newline at end of file\n'));
    assert.ok(made !== undefined);
    assert.equal(patched('', made)?.trim(), '{\n}');
  });
});
