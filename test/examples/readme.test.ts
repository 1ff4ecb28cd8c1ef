/** What README.md and the guides show is run here. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { howToInstall, PRESETS, type Preset } from '../../lib/agents/presets.ts';
import { findProgram } from '../../lib/tools/process/find-program.ts';
import { startCodeHost } from '../codehost/code-host.ts';
import { atEnd } from '../helpers/at-end.ts';
import { DOSSIER } from '../helpers/daemon.ts';
import { startHere } from '../helpers/daemon-here.ts';
import { eventually } from '../helpers/eventually.ts';
import { gitIn, makeRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { clientOf } from '../helpers/stream.ts';
import { BLOCKS, block } from './guides.ts';

/** A user with a home directory, at a shell in which the command is installed. */
const machineIn = (place: string, name: string) => {
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
    edit: (path: string, from: string, to: string): void => {
      const file = join(home, path);
      writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
    },
  };
};

const makeCode = (root: string): void => {
  mkdirSync(root, { recursive: true });
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  const me = ['-c', 'user.name=me', '-c', 'user.email=me@example.com'];
  gitIn(root)(...me, 'commit', '--quiet', '--allow-empty', '--message', 'begin');
};

const noCurl =
  process.env.CI !== 'true' && findProgram('curl', { PATH: process.env.PATH ?? '' }) === undefined
    ? 'curl is not installed: install the package curl'
    : false;

/** A program that stands for Claude's, of one who has logged in with it. */
const installAgent = (home: string, name: string): void => {
  const agent = fileURLToPath(new URL('../helpers/acp-agent.js', import.meta.url));
  const path = join(home, 'bin', name);
  writeFileSync(
    path,
    `#!/bin/sh\nCODEX_HOME=~/.claude/kept exec "${process.execPath}" "${agent}" plan\n`,
  );
  chmodSync(path, 0o755);
  mkdirSync(join(home, '.claude'));
};

describe('README.md and the guides', () => {
  it('have three lines with which Claude plans, and works once that is approved', async (t) => {
    const lines = block('sh', 'npm ci && npm install -g').trimEnd().split('\n');
    const [install = '', begin = '', run = ''] = lines;
    assert.equal(lines.length, 3);
    const { argv } = PRESETS.claude as Preset;
    const [, ours, agent = ''] = /^npm ci && npm install -g (\S+) (\S+) #/.exec(install) ?? [];
    assert.equal(ours, '.');
    assert.ok(howToInstall(argv[0] ?? '').includes(`npm package ${agent} `));
    const machine = machineIn(temporaryDirectory(t), 'me');
    installAgent(machine.home, argv[0] ?? '');
    atEnd(t, () => machine.type('dossier stop'));
    // Without a terminal it ends with 4 once the plan waits.
    const said = await machine.type(
      `export ANTHROPIC_API_KEY=x\n${begin}\n${run.replace(/ #.*/, '')} || test $? = 4`,
    );
    const [, id, hash] = /^([0-9a-f]{8})\t([0-9a-f]{64})$/m.exec(said) ?? assert.fail(said);
    const done = await machine.type(`dossier approve ${id} --hash ${hash} && dossier wait ${id}`);
    assert.match(done, /is completed/);
    assert.match(await machine.type(`dossier show ${id}`), /claude/);
  });

  it('have a first hour that ends with a change that is merged', async (t) => {
    const machine = machineIn(temporaryDirectory(t), 'me');
    atEnd(t, () => machine.type('dossier stop'));
    const blocks = BLOCKS.filter(
      ({ path, language }) => path === 'lib/guides/first-hour.md' && language === 'sh',
    );
    assert.equal(blocks.length, 5);
    const [make = '', begin = '', write = '', run = '', merge = ''] = blocks.map(
      ({ text }) => text,
    );
    await machine.type(`${make}\n${begin}\n${write}`);
    // Without a terminal it ends with 4, and prints the command that approves.
    const waits = await machine.type(`${run.trimEnd()} || test $? = 4`);
    const [approve] = /dossier approve [0-9a-f]{8} --hash [0-9a-f]{64} --follow/.exec(waits) ?? [];
    assert.match(await machine.type(approve ?? assert.fail(waits)), /-- ended: completed/);
    const checked = await machine.type(merge);
    assert.match(checked, /Hello, Ada!/);
    const [verify] = /dossier verify [0-9a-f]{8} [0-9a-f]{8}/.exec(checked) ?? [];
    const [command] = /git -C \S+ merge --no-edit work\/greet-by-name-\S+/.exec(checked) ?? [];
    await machine.type(`${verify}\n${command}`);
    assert.match(await machine.type('dossier show greet'), /^RESOLVED/m);
    const merged = await machine.type('sh ~/code/greeter/greet.sh Ada');
    assert.equal(merged, 'Hello, Ada!\n');
  });

  it('have a flow in curl that ends with a resolved Work item', { skip: noCurl }, async (t) => {
    const repository = await makeRepository(t);
    const args = ['--workspace', temporaryDirectory(t), '--repo', repository.root];
    const { url } = await startHere(t, args);
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

  it('have a script of the command line that ends with a plan', async (t) => {
    const { home, type } = machineIn(temporaryDirectory(t), 'me');
    const there = join(home, 'code/my-repository');
    writeFileSync(join(there, 'note.md'), 'Write it:\n\n```sh\necho Hello > note.txt\n```\n');
    atEnd(t, () => type('dossier stop'));
    const said = await type(`cd ${there}\n${block('sh', 'id=$(dossier new')}`);
    assert.match(
      said,
      /^Session [0-9a-f]{8} of runbook is planning\. Follow it with dossier tail/m,
    );
    assert.match(said, /^ {2}dossier approve [0-9a-f]{8}$/m);
    assert.match(said, /echo Hello > note\.txt/);
  });

  it('have a flow in curl from an issue to its pull request', { skip: noCurl }, async (t) => {
    const host = await startCodeHost(t);
    await host.issues.add({ title: 'Say it' });
    const args = ['--workspace', temporaryDirectory(t), '--repo', host.repositories.clone().root];
    const env = { GITHUB_API_URL: host.url, GH_TOKEN: host.token, GITHUB_TOKEN: '' };
    const { url } = await startHere(t, args, env);
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

  it('share a workspace between two machines, and end a conflict', async (t) => {
    const place = temporaryDirectory(t);
    const remote = join(place, 'remote.git');
    await promisify(execFile)('git', ['init', '--quiet', '--bare', remote]);
    const [one, two] = [machineIn(place, 'one'), machineIn(place, 'two')];
    const typed = (beginning: string): string =>
      block('sh', beginning).replaceAll('git@example.com:me/dossier.git', remote);
    await one.type(typed('# On the first machine'));
    const { url } = await startHere(t, ['--workspace', join(one.home, 'dossier')], one.env);
    const client = clientOf(url);
    const item = await client.post('/cases', { title: 'Told by one', type: 'bug' });
    await one.type(typed('# On either machine'));
    atEnd(t, () => two.type('dossier stop'));
    const begun = await two.type(typed('# On the second machine'));
    assert.match(begun, /^Project my-repository: /m);
    const there = clientOf(/http:\/\/127\.0\.0\.1:\d+/.exec(begun)?.[0] ?? assert.fail(begun));
    assert.equal((await there.get(`/cases/${item.id}`)).title, 'Told by one');

    two.edit(`dossier/${item.path}/case.md`, 'Told by one', 'Told by two');
    await two.type(typed('# On either machine'));
    one.edit(`dossier/${item.path}/case.md`, 'Told by one', 'Told by one again');
    // What was not read before the conflict is in no answer.
    await eventually(async () =>
      assert.equal((await client.get(`/cases/${item.id}`)).title, 'Told by one again'),
    );
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
});
