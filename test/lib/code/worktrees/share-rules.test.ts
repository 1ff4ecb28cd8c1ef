import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { installOf, ownScripts } from '../../../../lib/code/worktrees/setup/installs.ts';
import {
  isLinkInside,
  surplusOf,
  wrongShare,
} from '../../../../lib/code/worktrees/setup/share-rules.ts';
import type { StoredSnapshot } from '../../../../store/worktrees/shared-snapshots.ts';

describe('installOf', () => {
  const isInstall = (command: string, there = ['package-lock.json', 'yarn.lock', 'bun.lockb']) =>
    installOf(command, (lockfile) => there.includes(lockfile)) !== undefined;

  it('knows commands that install what a lockfile names', () => {
    for (const command of [
      'npm ci',
      'npm ci --ignore-scripts --no-audit --omit=dev',
      ' npm  clean-install ',
      'if [ -f package-lock.json ]; then npm ci; fi',
      'yarn install --immutable',
      'yarn --frozen-lockfile',
      'bun install --frozen-lockfile',
    ])
      assert.ok(isInstall(command), command);
    assert.ok(isInstall('pnpm i --frozen-lockfile', ['pnpm-lock.yaml']));
    assert.ok(isInstall('composer install --no-dev', ['composer.lock']));
  });

  it('knows no command that might do more, or that the lockfile does not decide', () => {
    for (const command of [
      'npm install',
      'npm ci && npm run build',
      'npm ci; make',
      'npm ci --prefix app',
      'npm ci --global',
      'npm ci | tee log',
      'cd app && npm ci',
      'FORCE=1 npm ci',
      'if [ -f package-lock.json ]; then npm ci; make; fi',
      'if [ -f yarn.lock ]; then npm ci; fi',
      'yarn install',
      'pnpm install --frozen-lockfile',
      'uv sync --frozen',
      'make',
      '',
    ])
      assert.equal(isInstall(command), false, command);
    assert.equal(isInstall('npm ci', []), false);
  });
});

describe('ownScripts', () => {
  it('names the scripts that npm runs after an install, each once', () => {
    const scripts = (...names: string[]) =>
      ownScripts(JSON.stringify({ scripts: Object.fromEntries(names.map((name) => [name, 'x'])) }));
    assert.equal(scripts('test', 'build'), undefined);
    assert.equal(scripts('prepare', 'postprepare'), 'npm run prepare');
    assert.equal(
      scripts('postinstall', 'preinstall', 'prepare'),
      'npm run preinstall && npm run postinstall && npm run prepare',
    );
    assert.equal(scripts('install', 'postinstall'), 'npm run install');
    assert.equal(ownScripts('{'), undefined);
    assert.equal(ownScripts('null'), undefined);
  });
});

describe('wrongShare', () => {
  it('accepts directories of installs', () => {
    for (const path of ['node_modules', 'packages/a/node_modules', 'vendor'])
      assert.equal(wrongShare(path), undefined, path);
  });

  it('refuses other directories with the reason', () => {
    const wrong: [string, RegExp][] = [
      ['.venv', /absolute paths of the worktree where it was made/],
      ['api/venv', /absolute paths/],
      ['env', /absolute paths/],
      ['.tox', /absolute paths/],
      ['/node_modules', /below the top of the worktree/],
      ['../node_modules', /below the top/],
      ['a//node_modules', /below the top/],
      ['.git/node_modules', /below the top/],
      ['packages/*/node_modules', /is a pattern/],
      ['node_modules\0', /NUL/],
      ['dist', /not determined by a lockfile alone.*node_modules or vendor/],
      ['target', /not determined by a lockfile alone/],
    ];
    for (const [path, why] of wrong) assert.match(wrongShare(path) ?? '', why, path);
  });
});

describe('isLinkInside', () => {
  it('accepts relative links that stay in the worktree', () => {
    assert.ok(isLinkInside('node_modules/.bin/tool', '../dep/tool'));
    assert.ok(isLinkInside('node_modules/a', '../packages/a'));
    assert.ok(isLinkInside('node_modules/a', './b'));
    assert.ok(isLinkInside('node_modules/a', '..'));
  });

  it('refuses links that are absolute, leave the worktree, or go up behind another link', () => {
    for (const target of [
      '/etc/passwd',
      '',
      '../..',
      '../../x',
      'b/../../../x',
      'b/..',
      '../b/../c',
    ])
      assert.equal(isLinkInside('node_modules/a', target), false, target);
  });
});

describe('surplusOf', () => {
  const all = [3, 5, 4].map(
    (bytes, at) => ({ key: `${at}`, snapshot: { bytes } }) as StoredSnapshot,
  );
  const keysOf = (bounds: { count: number; bytes: number }) =>
    surplusOf(all, bounds).map(({ key }) => key);

  it('names the least recently used beyond the number or the size', () => {
    assert.deepEqual(keysOf({ count: 3, bytes: 12 }), []);
    assert.deepEqual(keysOf({ count: 2, bytes: 12 }), ['2']);
    assert.deepEqual(keysOf({ count: 3, bytes: 11 }), ['2']);
    assert.deepEqual(keysOf({ count: 3, bytes: 7 }), ['1', '2']);
  });
});
