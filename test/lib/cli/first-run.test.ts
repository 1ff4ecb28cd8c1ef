import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { atEnd } from '../../helpers/at-end.ts';
import { dossierIn } from '../../helpers/command.ts';
import { putConversations } from '../../helpers/conversations.ts';
import { DOSSIER } from '../../helpers/daemon.ts';
import { eventually } from '../../helpers/eventually.ts';
import { skipOf } from '../../helpers/git-scene.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';
import { atTerminal, noTerminal } from '../../helpers/terminal.ts';

const AGENT = fileURLToPath(new URL('../../helpers/acp-agent.js', import.meta.url));

/** A user with a clean home, an installed and logged-in agent, and a repository with a lockfile. */
const newUser = (t: TestContext) => {
  const home = temporaryDirectory(t);
  const bin = join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'claude-agent-acp'),
    `#!/bin/sh\nexec "${process.execPath}" "${AGENT}" plan\n`,
  );
  chmodSync(join(bin, 'claude-agent-acp'), 0o755);
  writeFileSync(join(home, '.gitconfig'), '[user]\nname = me\nemail = me@example.com\n');
  const { root, git } = makeRepository(t, { files: { 'package-lock.json': '{}' } });
  const env = {
    ...{
      HOME: home,
      PATH: `${bin}:${process.env.PATH}`,
      DOSSIER_PORT: '0',
      ANTHROPIC_API_KEY: 'x',
    },
    ...{ DOSSIER_WORKSPACE: '', XDG_STATE_HOME: '', XDG_RUNTIME_DIR: '' },
  };
  const type = (...words: string[]) => dossierIn(t, { cwd: root, env }, words);
  const shown = (answers: Parameters<typeof atTerminal>[2], more: Record<string, string> = {}) =>
    atTerminal(t, ['up', '--no-open'], answers, { cwd: root, env: { ...env, ...more } });
  atEnd(t, () => type('stop'));
  return { home, root, git, shown, type };
};

const PLACE = /Where should Work items be kept\? \[.*\/dossier\] /;
const AGENT_ASKED = /Which one should plan and work\? \[claude\] /;
const SETUP = /Run npm ci in each new worktree that has package-lock\.json\? \[Y\/n(?:\/s)?\] /;

describe('dossier in a new workspace at a terminal', { skip: noTerminal }, () => {
  it('asks three things, each with a default, and trusts what was answered', async (t) => {
    const { home, root, git, shown, type } = newUser(t);
    putConversations(home, root);
    const { code, text } = await shown([
      [PLACE, '\n'],
      [AGENT_ASKED, '\n'],
      [SETUP, '\n'],
    ]);
    assert.equal(code, 0, text);
    assert.match(text, /Or continue earlier work in this repository \(\d+ found\): dossier adopt/);
    assert.match(text, /claude \(logged in\)/);
    assert.match(text, /Next: dossier run "What should be done\?"/);
    const settings = readFileSync(join(home, 'dossier/workspace.md'), 'utf8');
    assert.match(settings, /^provider: claude$/m);
    assert.match(settings, /^autocommit: true$/m);
    assert.match(settings, /if \[ -f package-lock\.json \]; then npm ci; fi/);
    assert.match((await type('trust', '--list')).stdout, /^Nothing to confirm in /);
    assert.equal(git('status', '--porcelain'), '');
    // Asked once: the next one asks nothing.
    const again = await shown([]);
    assert.equal(again.code, 0);
    assert.doesNotMatch(again.text, /\? \[/);
  });

  it('keeps another place, another agent and no set-up', async (t) => {
    const { home, shown } = newUser(t);
    const { code, text } = await shown([
      [PLACE, '~/cases here\n'],
      [AGENT_ASKED, 'nobody\n'],
      [/nobody is not one of claude[\s\S]*?\[claude\] /, 'runbook\n'],
      [SETUP, 'n\n'],
    ]);
    assert.equal(code, 0, text);
    assert.match(text, /export DOSSIER_WORKSPACE='.*cases here'/);
    assert.doesNotMatch(text, /dossier adopt/);
    const settings = readFileSync(join(home, 'cases here/workspace.md'), 'utf8');
    assert.match(settings, /^provider: runbook$/m);
    assert.doesNotMatch(settings, /npm ci/);
    assert.equal(existsSync(join(home, 'dossier')), false);
    const env = { ...process.env, HOME: home, DOSSIER_WORKSPACE: join(home, 'cases here') };
    execFileSync(process.execPath, [DOSSIER, 'stop'], { env });
  });

  it('offers to copy what was installed, in the same question', {
    skip: skipOf('auto'),
  }, async (t) => {
    const { home, shown, type } = newUser(t);
    const { code, text } = await shown([
      [PLACE, '\n'],
      [AGENT_ASKED, '\n'],
      [SETUP, 's\n'],
    ]);
    assert.equal(code, 0, text);
    assert.match(
      text,
      /s: run it once for each version of package-lock\.json, then copy node_modules/,
    );
    const settings = readFileSync(join(home, 'dossier/workspace.md'), 'utf8');
    assert.match(settings, /^ {2}share:\n {4}- node_modules$/m);
    assert.match((await type('trust', '--list')).stdout, /^Nothing to confirm in /);
  });

  it('offers it too where the sandbox cannot be prepared at present', async (t) => {
    const { shown } = newUser(t);
    const bin = temporaryDirectory(t);
    const script = '#!/bin/sh\necho "bwrap: Cannot allocate memory" >&2\nexit 1\n';
    writeFileSync(join(bin, 'bwrap'), script, { mode: 0o755 });
    const answers = [
      [PLACE, '\n'],
      [SETUP, 'n\n'],
    ] as const;
    // No agent, whose version would be asked for in the sandbox.
    const { code, text } = await shown(answers, { PATH: `${bin}:/usr/bin:/bin` });
    assert.equal(code, 0, text);
    assert.match(text, /then copy node_modules/);
  });

  it('takes no default from Ctrl-D', async (t) => {
    const { home, shown } = newUser(t);
    assert.equal((await shown([[PLACE, '\u0004']])).code, 130);
    assert.equal(existsSync(join(home, 'dossier')), false);
    const { code, text } = await shown([
      [PLACE, '\n'],
      [AGENT_ASKED, '\n'],
      [SETUP, '\u0004'],
    ]);
    assert.equal(code, 130, text);
    assert.doesNotMatch(readFileSync(join(home, 'dossier/workspace.md'), 'utf8'), /npm ci/);
  });

  it('stops with its command under npx', async (t) => {
    const { shown, type } = newUser(t);
    const { text } = await shown(
      [
        [PLACE, '\n'],
        [AGENT_ASKED, '\n'],
        [SETUP, '\n'],
        [/Ctrl-C stops the daemon/, '\u0003'],
      ],
      { npm_command: 'exec' },
    );
    assert.match(text, /Dossier is ready/);
    assert.equal((await type('status')).code, 3);
  });
});

describe('dossier in a new workspace without a terminal', () => {
  it('asks nothing', async (t) => {
    const { home, type } = newUser(t);
    const { code, stdout } = await type('up', '--no-open');
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /\?/);
    assert.match(readFileSync(join(home, 'dossier/workspace.md'), 'utf8'), /^provider: runbook$/m);
  });
});

describe('a command that starts the daemon on a new workspace', () => {
  it('makes the history of the workspace', async (t) => {
    const { home, type } = newUser(t);
    const { code, stderr } = await type('new', 'Fix the typo');
    assert.equal(code, 0, stderr);
    const log = () =>
      execFileSync('git', ['log', '--format=%s'], { cwd: join(home, 'dossier'), encoding: 'utf8' });
    await eventually(() => assert.equal(log(), 'case Fix the typo: created\nworkspace: created\n'));
  });
});
