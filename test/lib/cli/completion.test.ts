import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { COMMANDS } from '../../../lib/cli/commands.ts';
import { connect } from '../../../lib/client/client.ts';
import { findProgram } from '../../../lib/tools/process/find-program.ts';
import { dossier } from '../../helpers/command.ts';
import { DOSSIER, startDaemon } from '../../helpers/daemon.ts';
import { temporaryDirectory, writeFiles } from '../../helpers/repository.ts';

/** What a shell makes of each line whose last word is being typed, when it is asked for the rest: all that it offers. */
type Shell = (lines: readonly string[]) => string[][];

/** A home in which `dossier` is on the path, and completed as its guide says. */
const homeFor = async (t: TestContext, shell: string, workspace: string) => {
  const home = temporaryDirectory(t);
  const { stdout: script } = await dossier(t, 'completion', shell);
  writeFiles(home, {
    'bin/dossier': `#!/bin/sh\nexec "${process.execPath}" "${DOSSIER}" "$@"\n`,
    '.bashrc': script,
    '.zfunc/_dossier': script,
    '.config/fish/completions/dossier.fish': script,
  });
  chmodSync(join(home, 'bin/dossier'), 0o755);
  const PATH = `${join(home, 'bin')}:${process.env.PATH}`;
  const env = { PATH, HOME: home, TERM: 'xterm', DOSSIER_WORKSPACE: workspace };
  const run = (...args: string[]): string => {
    const { stdout, stderr, error } = spawnSync(shell, args, {
      ...{ cwd: home, env, encoding: 'utf8', timeout: 60_000 },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    assert.deepEqual([error, stderr], [undefined, '']);
    return stdout;
  };
  return { home, run };
};

const linesOf = (text: string): string[] => text.split('\n').filter(Boolean);

type Run = Awaited<ReturnType<typeof homeFor>>['run'];

const SHELLS: Readonly<Record<string, (run: Run) => Shell>> = {
  bash: (run) => (lines) =>
    lines.map((line) => {
      const script = `source ~/.bashrc; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dossier
        printf '%s\\n' "\${COMPREPLY[@]}"`;
      return linesOf(run('--norc', '-euc', script, 'bash', ...line.split(' ')));
    }),
  zsh: (run) => (lines) =>
    // At a terminal, as a person does it: what Tab made of the line is what Enter runs.
    run('-f', '-c', AT_ZSH, 'zsh', ...lines)
      .split(/<\r\n/)
      .slice(1)
      .map((words) => [words.split('>\r\n')[0]?.trimEnd().split('\r\n').at(-1) ?? '']),
  fish: (run) => (lines) =>
    lines.map((line) =>
      linesOf(run('-c', 'complete -C $argv[1]', line)).map((each) => each.split('\t')[0] ?? ''),
    ),
};

// The first question is asked before the function of the file was ever called.
const AT_ZSH = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit -u -D
  dossier() { if [[ -t 1 ]]; then print -rl -- "<" "$@" ">"; else command dossier "$@"; fi }; print REA""DY'
zpty -r shell said '*READY*'
for line in "$@"; do
  zpty -w -n shell "$line"$'\\t\\r'
  zpty -r shell said $'*<\\r\\n*>\\r\\n*'
  print -r -- "$said"
done`;

const lacks = (shell: string) =>
  process.env.CI !== 'true' &&
  findProgram(shell, { PATH: process.env.PATH ?? '' }) === undefined &&
  `${shell} is not installed: install the package ${shell}`;

const assertWhole = (script: string): void => {
  for (const { name, options } of COMMANDS) {
    assert.match(script, new RegExp(`\\b${name}\\b`));
    for (const option of Object.keys(options))
      assert.match(script, new RegExp(`(?:--|-l )${option}\\b`));
  }
};

describe('dossier completion', () => {
  for (const [shell, offers] of Object.entries(SHELLS)) {
    it(`completes commands, options, their values, words and ids in ${shell}`, {
      skip: lacks(shell),
    }, async (t) => {
      const workspace = temporaryDirectory(t);
      const { url } = await startDaemon(t, ['--workspace', workspace]);
      const body = { title: 'Say it: `touch bad` $(touch bad) \\', type: 'bug' };
      const { id } = await connect({ url }).call('POST /cases', { body });
      const { id: proof } = await connect({ url }).call('POST /cases/{id}/proof', {
        ...{ id, body: { type: 'log', content: 'It ran' } },
      });
      const known = {
        'dossier ap': 'approve',
        'dossier approve --ha': '--hash',
        'dossier --no-o': '--no-open',
        'dossier service in': 'install',
        'dossier completion z': 'zsh',
        'dossier help rev': 'revise',
        [`dossier show ${id.slice(0, 3)}`]: id.slice(0, 8),
        'dossier ls --state op': 'open',
        'dossier start --type inv': 'investigating',
        'dossier new --type fea': 'feature',
        'dossier start x --provider run': 'runbook',
        'dossier wait --for pl': 'plan',
        'dossier worktrees cl': 'clean',
        [`dossier verify ${id.slice(0, 8)} ${proof.slice(0, 4)}`]: proof.slice(0, 8),
      };
      const { home, run } = await homeFor(t, shell, workspace);
      const said = offers(run)(Object.keys(known));
      assert.deepEqual(
        said,
        Object.values(known).map((word) => [word]),
      );
      const other = await homeFor(t, shell, temporaryDirectory(t));
      const named = [
        `dossier --workspace ${workspace} tail --li`,
        `dossier --workspace ${workspace} show ${id.slice(0, 3)}`,
        `dossier show --workspace ${workspace} ${id.slice(0, 3)}`,
      ];
      const id8 = id.slice(0, 8);
      assert.deepEqual(offers(other.run)(named), [['--lines'], [id8], [id8]]);
      for (const place of [home, other.home]) assert.equal(existsSync(join(place, 'bad')), false);
    });
  }

  it('offers every command first, and nothing where no daemon runs', async (t) => {
    const workspace = temporaryDirectory(t);
    const { run } = await homeFor(t, 'bash', workspace);
    const [all, ids, words] =
      SHELLS.bash?.(run)(['dossier ', 'dossier show ', 'dossier serve ']) ?? [];
    assert.deepEqual(readdirSync(workspace), []);
    assert.deepEqual(
      all,
      COMMANDS.map(({ name }) => name),
    );
    assert.deepEqual([ids, words], [[], []]);
  });

  it('has every command and option for each shell, and a syntax that a shell that is here reads', async (t) => {
    for (const shell of Object.keys(SHELLS)) {
      const { code, stdout } = await dossier(t, 'completion', shell);
      assert.equal(code, 0);
      assertWhole(stdout);
      const file = join(temporaryDirectory(t), 'script');
      writeFileSync(file, stdout);
      const { error, status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
      if (lacks(shell) === false) assert.deepEqual([error, status, stderr], [undefined, 0, '']);
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
