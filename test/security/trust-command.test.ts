/** The command as it ships: at a terminal and without one, beside a daemon and without one. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { TrustedValue, WaitingValue } from '../../store/records/trust.ts';
import { killAtEnd } from '../helpers/at-end.ts';
import { DOSSIER, startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { atTerminal, noTerminal } from '../helpers/terminal.ts';

const HOSTILE = '---\nsandbox: off\nworktrees: { setup: ["\\e[2Jmake", x] }\n---\n';
const ESC = String.fromCharCode(27);

const dossier = (...args: string[]) => dossierWith({}, ...args);

const dossierWith = (
  more: Record<string, string>,
  ...args: string[]
): { status: number | null; said: string } => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [DOSSIER, ...args], {
    env: { ...process.env, DOSSIER_TRUST: '', ...more },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { status, said: stdout + stderr };
};

const workspaceWith = (t: TestContext, text: string): string => {
  const dir = temporaryDirectory(t);
  writeFiles(dir, { 'workspace.md': text });
  return dir;
};

const waiting = async (url: string): Promise<string[]> => {
  const values = (await (await fetch(`${url}/trust`)).json()) as WaitingValue[];
  return values.map(({ key }) => key);
};

describe('dossier trust', () => {
  it('shows a difference that moves no cursor, and trusts nothing where nobody can be asked', (t) => {
    const dir = workspaceWith(t, HOSTILE);
    const { status, said } = dossier('trust', '--workspace', dir);
    assert.equal(status, 1);
    assert.match(said, /^workspace\.md:2 {2}sandbox\n {2}\+ off$/m);
    assert.match(said, /^ {2}\+ - .*2Jmake/m);
    assert.equal(said.includes(ESC), false);
    assert.match(said, /Without a terminal.*dossier trust --workspace \S+ --all/);
    assert.match(dossier('trust', '--list', '--workspace', dir).said, /sandbox/);
    assert.match(dossier('trust', '--list', '--workspace', dir).said, /worktrees\.setup/);
  });

  it('is believed by the daemon that starts afterwards, and by the command itself', async (t) => {
    const dir = workspaceWith(t, HOSTILE);
    const first = dossier('trust', '--all', '--workspace', dir);
    assert.deepEqual([first.status, /2 values trusted/.test(first.said)], [0, true], first.said);
    assert.match(dossier('trust', '--workspace', dir).said, /^Nothing to confirm in /);
    const { url } = await startDaemon(t, ['--workspace', dir], { DOSSIER_TRUST: '' });
    assert.deepEqual(await waiting(url), []);
    writeFileSync(join(dir, 'workspace.md'), HOSTILE.replace(', x]', ', y]'));
    assert.match(dossier('trust', '--list', '--workspace', dir).said, /^ {2}- - x\n {2}\+ - y$/m);
  });

  it('takes effect at once in the daemon that runs, which said once in its log what waits', async (t) => {
    const dir = workspaceWith(t, HOSTILE);
    const daemon = await startDaemon(t, ['--workspace', dir], { DOSSIER_TRUST: '' });
    assert.deepEqual(await waiting(daemon.url), ['sandbox', 'worktrees.setup']);
    assert.equal(daemon.errors().match(/run dossier trust --workspace \S+","line"/g)?.length, 1);
    assert.ok(daemon.errors().includes(`run dossier trust --workspace ${dir}"`), daemon.errors());
    const { status, said } = dossier('trust', '--all', '--workspace', dir);
    assert.equal(status, 0, said);
    assert.deepEqual(await waiting(daemon.url), []);
  });

  it('lists what was trusted and takes it back, without a daemon and beside one', async (t) => {
    const dir = workspaceWith(t, HOSTILE);
    const trust = (...args: string[]) => dossier('trust', ...args, '--workspace', dir);
    assert.match(trust('--trusted').said, /^No trusted values/);
    trust('--all');
    const trusted = () => JSON.parse(trust('--trusted', '--json').said) as TrustedValue[];
    const keys = () => trusted().map(({ key }) => key);
    assert.deepEqual(keys(), ['sandbox', 'worktrees.setup']);
    assert.match(trust('--trusted').said, /^sandbox {2}"off"$/m);
    assert.equal(trust('--trusted').said.includes(ESC), false);
    const unknown = trust('--revoke', 'network');
    assert.deepEqual([unknown.status, /network is not trusted/.test(unknown.said)], [1, true]);
    const gone = trust('--revoke', 'sandbox');
    assert.deepEqual([gone.status, /^Revoked sandbox\./.test(gone.said)], [0, true], gone.said);
    assert.match(trust('--list').said, /sandbox/);
    assert.deepEqual(keys(), ['worktrees.setup']);
    const { url } = await startDaemon(t, ['--workspace', dir], { DOSSIER_TRUST: '' });
    assert.deepEqual(await waiting(url), ['sandbox']);
    const revoked = trust('--revoke', 'worktrees.setup', '--json').said;
    assert.deepEqual(JSON.parse(revoked), { key: 'worktrees.setup' });
    assert.deepEqual(await waiting(url), ['sandbox', 'worktrees.setup']);
    assert.deepEqual(keys(), []);
    const again = trust('--revoke', 'worktrees.setup');
    assert.equal(again.status, 1);
    assert.match(
      again.said,
      /setup is not trusted\. List what is: dossier trust --workspace \S+ --trusted\n$/,
    );
  });

  it('shows a daemon that asks for a key the one of DOSSIER_KEY', async (t) => {
    const dir = workspaceWith(t, '---\nrequire_key: true\n---\n');
    const daemon = await startDaemon(t, ['--workspace', dir]);
    await daemon.end('SIGTERM');
    const key = dossier('key', 'shell', '--workspace', dir).said.trim();
    writeFileSync(join(dir, 'workspace.md'), HOSTILE.replace('---', '---\nrequire_key: true'));
    await startDaemon(t, ['--workspace', dir], { DOSSIER_TRUST: '' });
    const list = (env: Record<string, string>) =>
      dossierWith({ ...env }, 'trust', '--list', '--workspace', dir);
    assert.match(list({}).said, /require_key.*dossier key.*DOSSIER_KEY/);
    assert.match(
      list({ DOSSIER_KEY: 'dossier_x' }).said,
      /DOSSIER_KEY is unknown, revoked or not confirmed/,
    );
    const { status, said } = list({ DOSSIER_KEY: key });
    assert.deepEqual([status, /sandbox/.test(said)], [0, true], said);
  });

  it('is not needed beside serve --trust, also for what comes later', async (t) => {
    const dir = workspaceWith(t, HOSTILE);
    const { url } = await startDaemon(t, ['--trust', '--workspace', dir], { DOSSIER_TRUST: '' });
    assert.deepEqual(await waiting(url), []);
    appendFileSync(join(dir, 'workspace.md'), 'More.\n');
    writeFileSync(join(dir, 'workspace.md'), HOSTILE.replace(', x]', ', y]'));
    const config = async () => (await fetch(`${url}/api/worktrees/config`)).json();
    await eventually(async () =>
      assert.deepEqual(((await config()) as { setup: string[] }).setup.at(-1), 'y'),
    );
  });

  const skip = process.platform === 'linux' ? false : 'script(1) is another program there';
  it('is asked at a terminal by serve, which answers meanwhile', { skip }, async (t) => {
    const dir = workspaceWith(t, HOSTILE);
    const command = `${process.execPath} ${DOSSIER} serve --port 0 --workspace ${dir}`;
    const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      env: { ...process.env, DOSSIER_TRUST: '' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    killAtEnd(t, child);
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await eventually(() => assert.match(said, /Trust 2 values on this machine\? \[y\/N\]/));
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? '';
    assert.deepEqual(await waiting(url), ['sandbox', 'worktrees.setup']);
    child.stdin.write('y\r');
    await eventually(async () => assert.deepEqual(await waiting(url), []));
    child.stdin.write('\u0003');
    child.stdin.end();
    await once(child, 'exit');
  });

  it('lets Ctrl-C at the question of serve stop the daemon', { skip: noTerminal }, async (t) => {
    const dir = workspaceWith(t, HOSTILE);
    const { code, text } = await atTerminal(
      t,
      ['serve', '--port', '0', '--workspace', dir],
      [[/Trust 2 values on this machine\? \[y\/N\]/, '\u0003']],
      { env: { DOSSIER_TRUST: '' } },
    );
    assert.equal(code, 0, text);
    assert.doesNotMatch(text, /ERROR/);
  });
});
