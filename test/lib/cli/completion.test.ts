import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { COMMANDS } from '../../../lib/cli/commands.ts';
import { connect } from '../../../lib/client/client.ts';
import { dossier } from '../../helpers/command.ts';
import { DOSSIER, startDaemon } from '../../helpers/daemon.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

/** A bash with the completion in it: what it offers for a line, whose last word is being typed. */
const bashIn = (t: TestContext, workspace: string) => {
  const bin = temporaryDirectory(t);
  writeFileSync(join(bin, 'dossier'), `#!/bin/sh\nexec "${process.execPath}" "${DOSSIER}" "$@"\n`, {
    mode: 0o755,
  });
  symlinkSync(process.execPath, join(bin, 'node'));
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: bin, DOSSIER_WORKSPACE: workspace };
  return (...line: string[]): string[] => {
    const script = `source <(dossier completion bash)
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dossier; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-euc', script, 'bash', ...line], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    assert.equal(stderr, '');
    return stdout.split('\n').filter(Boolean);
  };
};

const assertWhole = (script: string): void => {
  for (const { name, options } of COMMANDS) {
    assert.match(script, new RegExp(`\\b${name}\\b`));
    for (const option of Object.keys(options))
      assert.match(script, new RegExp(`(?:--|-l )${option}\\b`));
  }
};

const SHELLS = ['bash', 'zsh', 'fish'];

describe('dossier completion', () => {
  it('completes commands, options and the ids of Work items in bash', async (t) => {
    const workspace = temporaryDirectory(t);
    const { url } = await startDaemon(t, ['--workspace', workspace]);
    const body = { title: 'Say it', type: 'bug' };
    const { id } = await connect({ url }).call('POST /cases', { body });
    const offered = bashIn(t, workspace);
    assert.deepEqual(offered('dossier', 'ap'), ['approve']);
    assert.equal(offered('dossier', '').length, COMMANDS.length);
    assert.deepEqual(offered('dossier', 'approve', '--ha'), ['--hash']);
    assert.deepEqual(offered('dossier', '--workspace', workspace, 'tail', '--li'), ['--lines']);
    assert.deepEqual(offered('dossier', 'show', ''), [id.slice(0, 8)]);
    assert.deepEqual(offered('dossier', 'show', 'zz'), []);
    assert.deepEqual(offered('dossier', 'help', 'rev'), ['revise']);
    assert.deepEqual(offered('dossier', 'serve', ''), []);
  });

  it('offers no id, and says nothing, where no daemon runs', (t) => {
    const offered = bashIn(t, temporaryDirectory(t));
    assert.deepEqual(offered('dossier', 'show', ''), []);
  });

  it('has every command and option for each shell, and a syntax that a shell that is here reads', async (t) => {
    for (const shell of SHELLS) {
      const { code, stdout } = await dossier(t, 'completion', shell);
      assert.equal(code, 0);
      assertWhole(stdout);
      const { error, status, stderr } = spawnSync(shell, ['-n'], {
        input: stdout,
        encoding: 'utf8',
      });
      if (error === undefined) assert.deepEqual([status, stderr], [0, '']);
      else t.diagnostic(`${shell} is not installed: its syntax was not looked at`);
    }
    const none = await dossier(t, 'completion', 'csh');
    assert.equal(none.code, 2);
    assert.match(none.stderr, /bash, zsh, fish/);
  });
});

describe('the page of the manual', () => {
  const path = join(DOSSIER, '../dossier.1');

  it('has every command with its options', () => {
    const text = readFileSync(path, 'utf8').replaceAll('\\-', '-');
    for (const { name, words, options } of COMMANDS) {
      assert.ok(
        text.includes(`\n.B ${['dossier', name, words].filter(Boolean).join(' ')}\n`),
        name,
      );
      for (const option of Object.keys(options)) assert.match(text, new RegExp(`--${option}\\b`));
    }
  });

  it('is one that man reads without a warning', (t) => {
    if (spawnSync('man', ['--version']).status !== 0 && process.env.CI !== 'true')
      return t.skip('man is not installed: install the package man-db');
    const args = ['--warnings', '-l', path];
    const env = { ...process.env, MANWIDTH: '100', LC_ALL: 'C.UTF-8' };
    const { stdout, stderr } = spawnSync('man', args, { env, encoding: 'utf8' });
    assert.equal(stderr, '');
    assert.match(stdout, /dossier approve ITEM/);
  });
});
