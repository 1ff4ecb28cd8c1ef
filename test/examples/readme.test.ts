/** What README.md shows is run here, or compared with what it speaks of. */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { HELP } from '../../lib/cli/help.ts';
import { findProgram } from '../../lib/tools/process/find-program.ts';
import { Settings } from '../../store/records/settings.ts';
import { atEnd } from '../helpers/at-end.ts';
import { startCodeHost } from '../helpers/codehost/code-host.ts';
import { DOSSIER, startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { gitIn, makeRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { clientOf } from '../helpers/stream.ts';
import { PROJECT } from './run.ts';

const README = readFileSync(join(PROJECT, 'README.md'), 'utf8');

/** The one fenced block of this language that begins so. */
const block = (language: string, beginning: string): string => {
  const blocks = [...README.matchAll(/^(`{3,})(\w*)\n([\s\S]*?)^\1$/gm)];
  const found = blocks.filter(
    ([, , lang, text]) => lang === language && text?.startsWith(beginning),
  );
  assert.equal(found.length, 1, `one ${language} block that begins with ${beginning}`);
  return found[0]?.[3] ?? '';
};

/** A user with a home directory, at a shell in which the command is installed. */
const machineIn = (t: TestContext, place: string, name: string) => {
  const home = join(place, name);
  const bin = join(home, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'dossier'), `#!/bin/sh\nexec "${process.execPath}" "${DOSSIER}" "$@"\n`);
  chmodSync(join(bin, 'dossier'), 0o755);
  const gitconfig = `[user]\nname = ${name}\nemail = ${name}@example.com\n`;
  writeFileSync(join(home, '.gitconfig'), gitconfig);
  makeCode(join(home, 'code/my-repository'));
  const PATH = `${bin}:${process.env.PATH}`;
  const env = { ...{ PATH, HOME: home, LC_ALL: 'C', DOSSIER_PORT: '0' }, GIT_CONFIG_NOSYSTEM: '1' };
  return {
    home,
    env,
    type: async (script: string): Promise<string> => {
      const options = { env, cwd: home, timeout: 60_000 };
      return (await promisify(execFile)('sh', ['-euc', `{ ${script}\n} 2>&1`], options)).stdout;
    },
    serve: async (script: string): Promise<string> => {
      const child = spawn('sh', ['-euc', script], {
        env,
        cwd: home,
        stdio: ['ignore', 'pipe', 'ignore'],
        detached: true,
      });
      const gone = once(child, 'exit');
      atEnd(t, () => {
        process.kill(-(child.pid as number), 'SIGKILL');
        return gone;
      });
      return urlIn(child.stdout);
    },
    edit: (path: string, from: string, to: string): void => {
      const file = join(home, path);
      writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
    },
  };
};

const makeCode = (root: string): void => {
  mkdirSync(root, { recursive: true });
  execFileSync('git', ['init', '--quiet'], { cwd: root });
};

const urlIn = async (output: Readable): Promise<string> => {
  for await (const line of createInterface({ input: output })) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url !== undefined) return url;
  }
  throw new Error('It ended before it was ready');
};

const noCurl =
  process.env.CI !== 'true' && findProgram('curl', { PATH: process.env.PATH ?? '' }) === undefined
    ? 'curl is not installed: install the package curl'
    : false;

describe('README.md', () => {
  it('has a flow in curl that ends with a resolved Work item', { skip: noCurl }, async (t) => {
    const repository = await makeRepository(t);
    const args = ['--workspace', temporaryDirectory(t), '--repo', repository.root];
    const { url } = await startDaemon(t, args);
    const flow = block('sh', 'api=').replace('http://127.0.0.1:4870', url);
    const { stdout, stderr } = await promisify(execFile)('sh', ['-eu', '-c', flow], {
      timeout: 60_000,
    });
    assert.equal(stderr, '');
    assert.match(stdout, /# Plan: Leave a note/);
    assert.match(stdout, /^event: complete$/m);
    assert.match(stdout, /^\+Reviewed\.$/m);
    assert.match(stdout, /RESOLVED\n$/);
  });

  it('has a flow in curl from an issue to its pull request', { skip: noCurl }, async (t) => {
    const host = await startCodeHost(t);
    await host.issues.add({ title: 'Say it' });
    const args = ['--workspace', temporaryDirectory(t), '--repo', host.repositories.clone().root];
    const env = { GITHUB_API_URL: host.url, GH_TOKEN: host.token, GITHUB_TOKEN: '' };
    const { url } = await startDaemon(t, args, env);
    const typed = async (script: string): Promise<string> => {
      const here = script.replaceAll('http://127.0.0.1:4870', url);
      return (await promisify(execFile)('sh', ['-eu', '-c', here], { timeout: 60_000 })).stdout;
    };
    const said = await typed(`${block('sh', 'codehost=')}echo "$id"`);
    const [status = '', detected = '', id] = said.trimEnd().split('\n');
    assert.equal(JSON.parse(status).login, 'operator');
    assert.match(detected, /"owner":"acme","name":"app"/);
    const { path, branch } = await clientOf(url).post('/api/worktrees', { case_id: id });
    writeFiles(String(path), { 'said.txt': 'it\n' });
    const git = gitIn(String(path));
    git('add', '--all');
    git('commit', '--quiet', '--message', 'say it');
    const answers = (await typed(`id=${id}\n${block('sh', 'pr=')}`)).trimEnd().split('\n');
    const [made, unresolved, pushed, check, ready, synced] = answers.map((line) =>
      JSON.parse(line),
    );
    assert.deepEqual([made.state, made.head_ref, unresolved], ['draft', branch, []]);
    assert.deepEqual([pushed.status, check.ready], ['up_to_date', false]);
    assert.deepEqual([ready.code, synced.state], ['proof_gate_blocked', 'draft']);
  });

  it('shares a workspace between two machines, and ends a conflict', async (t) => {
    const place = temporaryDirectory(t);
    const remote = join(place, 'remote.git');
    await promisify(execFile)('git', ['init', '--quiet', '--bare', remote]);
    const [one, two] = [machineIn(t, place, 'one'), machineIn(t, place, 'two')];
    const typed = (beginning: string): string =>
      block('sh', beginning).replaceAll('git@example.com:me/dossier.git', remote);
    await one.type(typed('# On the first machine'));
    const { url } = await startDaemon(t, ['--workspace', join(one.home, 'dossier')], one.env);
    const client = clientOf(url);
    const item = await client.post('/cases', { title: 'Told by one', type: 'bug' });
    await one.type(typed('# On either machine'));
    const there = clientOf(await two.serve(typed('# On the second machine')));
    assert.equal((await there.get(`/cases/${item.id}`)).title, 'Told by one');

    two.edit(`dossier/${item.path}/case.md`, 'Told by one', 'Told by two');
    await two.type(typed('# On either machine'));
    one.edit(`dossier/${item.path}/case.md`, 'Told by one', 'Told by one again');
    await assert.rejects(one.type(typed('# On either machine')), (error: { stdout: string }) =>
      error.stdout.includes('CONFLICT'),
    );
    await eventually(async () => {
      const { title, problems } = await client.get(`/cases/${item.id}`);
      assert.equal(title, 'Told by one again');
      assert.match(JSON.stringify(problems), /conflict_markers/);
    });
    const said = await one.type(`cd ~/dossier\n${typed('# At a conflict')}`);
    assert.equal(said.split('\n', 1)[0], `${item.path}/case.md`);
    await eventually(async () =>
      assert.equal((await client.get(`/cases/${item.id}`)).title, 'Told by two'),
    );
  });

  it('shows the receiver as the example has it', () => {
    const path = join(PROJECT, 'examples/receive-webhook.ts');
    assert.equal(block('ts', 'import { createHmac'), readFileSync(path, 'utf8'));
  });

  it('names every flag, every variable and every setting that does something', () => {
    const { worktrees, permissions, ...plain } = Settings.properties;
    const settings = [
      ...Object.keys(plain),
      ...Object.keys(worktrees.properties).map((name) => `worktrees.${name}`),
      ...Object.keys(permissions.properties).map((name) => `permissions.${name}`),
    ];
    for (const name of settings) assert.ok(README.includes(`\`${name}\``), name);
    const told = HELP.match(/(--(?!help|version)[a-z-]+(?= [A-Z]|\s)|DOSSIER_[A-Z_]+)/g) ?? [];
    assert.ok(told.length > 10);
    for (const name of told) assert.ok(README.includes(name), name);
  });

  it('links to files that are there', () => {
    for (const name of ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'examples/README.md']) {
      const text = readFileSync(join(PROJECT, name), 'utf8');
      for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g))
        assert.ok(existsSync(join(PROJECT, name, '..', target)), `${name}: ${target}`);
    }
  });
});
