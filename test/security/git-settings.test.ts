/** Logins in git's settings, the operator's and the repository's, are not seen in the sandbox; git works there as ever. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { settingsCopy } from '../../lib/sandbox/git-config.ts';
import { createSandbox } from '../../lib/sandbox/sandbox.ts';
import type { SandboxView } from '../../lib/sandbox/view.ts';
import { missing, runInside } from '../helpers/inside.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';

const LOGIN =
  '[url "https://u:SECRET@h/"]\n\tinsteadOf = https://h/\n[http]\n\textraHeader = X: SECRET\n';

const scene = (t: TestContext) => {
  const root = temporaryDirectory(t);
  const HOME = join(root, 'home');
  writeFiles(HOME, {
    'dotfiles/gitconfig': `[user]\n\tname = Me\n\temail = me@h\n[alias]\n\tco = checkout\n[include]\n\tpath = ~/more.inc\n\tpath = ${root}/open/seen.inc\n${LOGIN}`,
    '.config/git/config': `[init]\n\tdefaultBranch = trunk\n${LOGIN}`,
    'more.inc': LOGIN,
  });
  symlinkSync('dotfiles/gitconfig', join(HOME, '.gitconfig'));
  writeFiles(join(root, 'open'), { 'seen.inc': `[core]\n\tabbrev = 11\n${LOGIN}` });
  const main = join(HOME, 'code/main');
  const cwd = join(HOME, 'code/worktree');
  mkdirSync(main, { recursive: true });
  const env = { HOME, PATH: process.env.PATH ?? '' };
  const git = (...args: string[]) => execFileSync('git', ['-C', main, ...args], { env });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  git('worktree', 'add', '-q', '-b', 'work', cwd);
  git('remote', 'add', 'origin', 'https://x:ghp_SECRET@h/a');
  git('config', 'extensions.worktreeConfig', 'true');
  execFileSync('git', ['-C', cwd, 'config', '--worktree', 'http.extraHeader', 'SECRET'], { env });
  git('init', '-q', '--bare', '.git/modules/deep/er');
  git('-C', '.git/modules/deep/er', 'remote', 'add', 'origin', 'https://SECRET@h/b');
  const view: SandboxView = {
    ...{ cwd, phase: 'plan', writable: [], hidden: [], network: 'host' },
    readable: [main, join(root, 'open')],
  };
  return { root, HOME, main, cwd, env, view, box: createSandbox('auto', env) };
};

const SCRIPT =
  'git config user.name; git config alias.co; git config init.defaultBranch; git config core.abbrev; git remote get-url origin; git rev-parse --abbrev-ref HEAD; git -C "$MAIN/.git/modules/deep/er" remote get-url origin; git status --short; grep -rsl SECRET $ROOT /etc/gitconfig';

describe('git settings in the sandbox', { skip: missing }, () => {
  it('hold no login, of nobody, and say all else as ever', async (t) => {
    const { view, env, main, box, root } = scene(t);
    const { output } = await runInside(
      view,
      SCRIPT.replaceAll('$MAIN', main).replace('$ROOT', root),
      { box, env },
    );
    assert.deepEqual(output.split('\n'), [
      ...['Me', 'checkout', 'trunk', '11', 'https://h/a', 'work', 'https://h/b'],
    ]);
  });

  it('hold none where a repository is seen at another path', async (t) => {
    const { view, env, main, cwd, box, root } = scene(t);
    const from = join(main, '.git');
    const to = join(cwd, 'elsewhere');
    mkdirSync(to);
    const own = join(root, 'own');
    writeFiles(own, { HEAD: 'ref: refs/heads/x\n', config: LOGIN });
    const at = join(cwd, 'turn');
    mkdirSync(at);
    const binds = [
      { from, to, write: false },
      { from: own, to: at, write: true },
      { from: join(own, 'config'), to: join(at, 'config'), write: false },
    ];
    const script = `grep -rl SECRET ${to} ${at}; git config --file ${to}/config core.bare; git config --file ${at}/config --list`;
    const { output } = await runInside({ ...view, phase: 'work', binds }, script, { box, env });
    assert.equal(output, 'false\nurl.https://h/.insteadof=https://h/');
  });

  it('open no file by a link in a repository that an agent can write in', async (t) => {
    const { view, env, HOME, cwd, root, box } = scene(t);
    writeFiles(HOME, { 'private.ini': '[a]\n\tb = MINE\n\ttoken = SECRET\n' });
    const own = join(root, 'own');
    writeFiles(own, { HEAD: 'ref: refs/heads/x\n' });
    symlinkSync(join(HOME, 'private.ini'), join(own, 'config'));
    const { output } = await runInside(
      { ...view, phase: 'work', writable: [own] },
      `cat ${own}/config; cat ${HOME}/private.ini; grep -rl MINE ${cwd} ${HOME}`,
      { box, env },
    );
    assert.doesNotMatch(output, /MINE|SECRET/);
  });
});

describe('settingsCopy', () => {
  it('removes copies that were not used for a week, and no others', () => {
    const [unused, used] = [settingsCopy('unused'), settingsCopy('used')];
    const longAgo = new Date(Date.now() - 8 * 24 * 3_600_000);
    for (const path of [unused, used]) utimesSync(path, longAgo, longAgo);
    assert.equal(settingsCopy('used'), used);
    const made = settingsCopy('new');
    assert.deepEqual([unused, used, made].map(existsSync), [false, true, true]);
  });
});
