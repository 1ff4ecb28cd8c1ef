import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { doctor } from '../../../lib/cli/doctor.ts';
import { node } from '../../../lib/cli/doctor-programs.ts';
import { inotify } from '../../../lib/cli/doctor-workspace.ts';
import { findProgram } from '../../../lib/tools/process/find-program.ts';
import { describeSelf } from '../../../store/workspace/owner.ts';
import { callOf } from '../../helpers/call-of.ts';
import { startDaemon } from '../../helpers/daemon.ts';
import { place } from '../../helpers/daemon-lock.ts';
import { inject } from '../../helpers/faults.ts';
import { gitIn, makeRepository, temporaryDirectory, writeFiles } from '../../helpers/repository.ts';
import { tinyDisk } from '../../helpers/tiny-disk.ts';

/** Only git and a shell are on the PATH: what else this machine has is out of the way. */
const onlyGit = (t: TestContext): string => {
  const bin = temporaryDirectory(t);
  for (const name of ['git', 'sh', 'bash']) {
    const program = findProgram(name, { PATH: process.env.PATH ?? '' });
    if (program !== undefined) symlinkSync(program, join(bin, name));
  }
  return bin;
};

const run = async (
  PATH: string,
  ...given: (string | Record<string, string>)[]
): Promise<{ code: number; said: string }> => {
  const args = given.filter((each) => typeof each === 'string');
  const more = given.filter((each) => typeof each !== 'string');
  const env = Object.assign({ HOME: join(tmpdir(), 'nobody'), PATH }, ...more);
  const call = callOf(['doctor', ...args], env);
  const said: string[] = [];
  const code = await doctor(call, (line) => said.push(line));
  return { code, said: said.join('\n') };
};

describe('doctor', () => {
  it('finds nothing missing where git is, and says what optional things would give', async (t) => {
    const workspace = temporaryDirectory(t);
    const { root } = makeRepository(t);
    const { code, said } = await run(onlyGit(t), '--workspace', workspace, '--repo', root);
    assert.equal(code, 0, said);
    assert.match(said, /^ok {6}node/m);
    assert.match(said, /^ok {6}git {11}\d+\.\d+/m);
    assert.match(said, /^note {4}bubblewrap .*Install the package bubblewrap/m);
    assert.match(said, /^note {4}gh .*optional/m);
    assert.match(said, new RegExp(`^ok {6}repository +default: ${root}$`, 'm'));
    assert.match(said, /^ok {6}provider +runbook \(\w+, used for new sessions\)$/m);
    assert.match(said, /^note {4}provider +claude: .*Install the npm package/m);
    assert.match(said, /Nothing required is missing/);
  });

  it('says which repository on the code host a project is, and where a token is from, but never the token', async (t) => {
    const workspace = temporaryDirectory(t);
    const { root, git } = makeRepository(t);
    const said = async (env: Record<string, string> = {}): Promise<string> =>
      (await run(onlyGit(t), env, '--workspace', workspace, '--repo', root)).said;
    assert.match(await said(), /^note {4}code host +default: .*There is no remote\./m);
    git('remote', 'add', 'origin', 'https://github.com/acme/app.git');
    assert.match(
      await said(),
      /^ok {6}code host +default: github\.com\/acme\/app by the remote origin$/m,
    );
    assert.match(await said(), /^note {4}token +none for github\.com: run gh auth login/m);
    const with_token = await said({ GITHUB_TOKEN: 'ghp_nobodysees' });
    assert.match(with_token, /^ok {6}token +for github\.com, from GITHUB_TOKEN$/m);
    assert.doesNotMatch(with_token, /nobodysees/);
    git('remote', 'add', 'upstream', 'https://github.com/base/app.git');
    assert.match(
      await said(),
      /^note {4}code host +default: .*by the remote upstream, which is a guess/m,
    );
  });

  it('notes a partial clone, with what fetches the rest, until that was done', async (t) => {
    const made = makeRepository(t, { files: { 'a.txt': 'a\n' } });
    made.git('config', 'uploadpack.allowFilter', 'true');
    const clone = join(temporaryDirectory(t), 'the clone');
    made.git('clone', '-q', '--filter=blob:none', '--no-checkout', `file://${made.root}`, clone);
    const bin = onlyGit(t);
    const said = async () =>
      (await run(bin, '--workspace', temporaryDirectory(t), '--repo', clone)).said;
    const line = (await said()).split('\n').find((each) => each.includes('partial clone')) ?? '';
    assert.match(line, /^note {4}repository +default: .* is a partial clone of origin, /);
    const [, command = 'false'] = /To fetch all: (.*)$/.exec(line) ?? [];
    execFileSync('sh', ['-c', command], { stdio: 'ignore' });
    assert.equal(
      gitIn(clone)('rev-list', '--objects', '--all', '--missing=print').includes('?'),
      false,
    );
    assert.match(await said(), /^ok {6}repository +default: .*the clone$/m);
  });

  it('misses the answer of a daemon that holds the workspace', async (t) => {
    const layout = place(t);
    const owner = { ...describeSelf(layout.root), url: 'http://127.0.0.1:1' };
    writeFileSync(layout.owner, JSON.stringify(owner));
    const { code, said } = await run(onlyGit(t), '--workspace', layout.root);
    assert.equal(code, 1, said);
    assert.match(
      said,
      /^missing daemon +The daemon of .* does not answer at http:.*:1\. Read its/m,
    );
  });

  it('writes nothing', async (t) => {
    const workspace = temporaryDirectory(t);
    await run(onlyGit(t), '--workspace', workspace);
    await run(onlyGit(t), '--workspace', join(workspace, 'not-there'));
    assert.deepEqual(readdirSync(workspace), []);
  });

  it('misses a sandbox that is there and cannot be prepared, because then nothing starts', async (t) => {
    const workspace = temporaryDirectory(t);
    const bin = onlyGit(t);
    // It starts with the least mounts alone.
    const script = '#!/bin/sh\ncase "$*" in *--chdir*) echo "bwrap: no" >&2; exit 1;; esac\n';
    writeFileSync(join(bin, 'bwrap'), script, { mode: 0o755 });
    const { code, said } = await run(bin, '--workspace', workspace);
    assert.equal(code, 1);
    assert.match(said, /^missing sandbox .*bwrap: no.*Nothing starts until it can/m);
  });

  it('misses git, and says which', async (t) => {
    const workspace = temporaryDirectory(t);
    const { code, said } = await run('/nonexistent', '--workspace', workspace);
    assert.equal(code, 1);
    assert.match(said, /^missing git +not installed: install git 2\.39 or newer$/m);
    assert.match(said, /1 of these need your attention/);
  });

  it('misses a repository that is none, and a workspace that is a file', async (t) => {
    const dir = temporaryDirectory(t);
    writeFileSync(join(dir, 'file'), '');
    const { code, said } = await run(
      onlyGit(t),
      ...['--workspace', join(dir, 'file'), '--repo', dir],
    );
    assert.equal(code, 1);
    assert.match(said, /^missing workspace .*file is a file/m);
    const other = await run(onlyGit(t), '--workspace', join(dir, 'space'), '--repo', dir);
    assert.match(other.said, /^missing repository +default: .* is not a git repository/m);
    const broken = join(dir, 'line\nbreak');
    renameSync(makeRepository(t).root, broken);
    const unfit = await run(onlyGit(t), '--workspace', join(dir, 'space'), '--repo', broken);
    assert.match(
      unfit.said,
      /^missing repository +default: ".*line\\nbreak" has a line break in its real path/m,
    );
    const moved = await run(
      onlyGit(t),
      ...['--workspace', join(dir, 'space'), '--repo', join(dir, 'gone')],
    );
    assert.match(moved.said, /^missing repository +default: .*gone does not exist: if it moved/m);
  });

  it('misses a state directory that cannot be used, and creates none', async (t) => {
    const dir = temporaryDirectory(t);
    const workspace = join(dir, 'space');
    mkdirSync(workspace);
    writeFileSync(join(dir, 'file'), '');
    const stateAt = async (state: string): Promise<string> =>
      (await run(onlyGit(t), '--workspace', workspace, '--state-dir', join(dir, state))).said;
    assert.match(await stateAt('file/state'), /^missing state .*a part of that path is a file/m);
    assert.match(await stateAt('new/state'), /^ok {6}state +\S+new\/state$/m);
    assert.equal(existsSync(join(dir, 'new')), false);
    mkdirSync(join(dir, 'open'), { mode: 0o755 });
    assert.match(await stateAt('open'), /^missing state .* Run chmod 700 /m);
    assert.match(await stateAt('space/state'), /^missing state .* must not contain each other/m);
  });

  it('tries a write: a disk that is full is told', async (t) => {
    const disk = tinyDisk(t, 512);
    if (disk === undefined) return;
    disk.leave(0);
    const { code, said } = await run(onlyGit(t), '--workspace', disk.dir);
    assert.equal(code, 1, said);
    assert.match(said, /^missing workspace .* is on a disk that is full$/m);
    disk.free();
    assert.match((await run(onlyGit(t), '--workspace', disk.dir)).said, /^ok {6}workspace/m);
    assert.deepEqual(readdirSync(disk.dir), []);
  });

  it('misses links and modes, which a file system may not have', async (t) => {
    const workspace = temporaryDirectory(t);
    mkdirSync(join(workspace, '.dossier/tmp'), { recursive: true });
    chmodSync(join(workspace, '.dossier'), 0o777);
    const path = onlyGit(t);
    if ((await inject(t, process.pid, 'symlink,symlinkat:error=ENOSYS')) === undefined) return;
    const { said } = await run(path, '--workspace', workspace);
    assert.match(
      said,
      /^missing workspace .* without symbolic links .*, which sessions of agents need/m,
    );
    assert.match(said, /^missing workspace +other users can access .*, whose mode is 0777: /m);
  });

  it('goes on where the directory of temporary files is closed to this user', async (t) => {
    const workspace = temporaryDirectory(t);
    mkdirSync(join(workspace, '.dossier/tmp'), { recursive: true });
    const path = onlyGit(t);
    const faults = await inject(t, process.pid, 'symlink,symlinkat,unlink:error=EACCES');
    if (faults === undefined) return;
    const { said } = await run(path, '--workspace', workspace).finally(faults.end);
    assert.match(said, /^missing workspace .* cannot be read and written by this user$/m);
    assert.doesNotMatch(said, /symbolic links/);
    assert.match(said, /need your attention/);
  });

  it('tells settings that are wrong, with the line, and a provider that is not there', async (t) => {
    const workspace = temporaryDirectory(t);
    writeFiles(workspace, { 'workspace.md': '---\nprovider: manual\nmax_sessions: many\n---\n' });
    const wrong = await run(onlyGit(t), '--workspace', workspace);
    assert.equal(wrong.code, 1);
    assert.match(wrong.said, /^missing settings +workspace\.md:3: /m);
    writeFiles(workspace, { 'workspace.md': '---\nprovider: qwen\n---\n' });
    const untrusted = await run(onlyGit(t), '--workspace', workspace);
    assert.match(untrusted.said, /^note {4}trust +provider: .* dossier trust --workspace \S+$/m);
    const trusting = { DOSSIER_TRUST: '1' };
    const { code, said } = await run(onlyGit(t), trusting, '--workspace', workspace);
    assert.equal(code, 1);
    assert.match(said, /^missing provider +qwen: qwen is not installed/m);
  });

  it('says that files cannot be read, and what names them', async (t) => {
    const workspace = temporaryDirectory(t);
    const file = 'cases/2026-01/broken/case.md';
    writeFiles(workspace, { [file]: '---\ntitle: [\n---\n' });
    const { code, said } = await run(onlyGit(t), '--workspace', workspace);
    assert.equal(code, 0);
    assert.match(
      said,
      new RegExp(
        `^note {4}records +1 cannot be read, the first is ${file}:\\d+:\\d+: dossier check`,
        'm',
      ),
    );
  });

  it('works beside a daemon, and says which', async (t) => {
    const workspace = temporaryDirectory(t);
    const { process: daemon, url } = await startDaemon(t, ['--workspace', workspace]);
    const { code, said } = await run(onlyGit(t), '--workspace', workspace);
    assert.equal(code, 0, said);
    const listed = new RegExp(`^ok {6}daemon +process ${daemon.pid} .*listening on ${url}$`, 'm');
    assert.match(said, listed);
  });
});

describe('what the doctor thinks of numbers', () => {
  for (const [version, verdict] of [
    ['18.20.0', 'missing'],
    ['20.18.9', 'missing'],
    ['20.19.0', 'ok'],
    ['24.1.0', 'ok'],
  ]) {
    it(`finds node ${version} ${verdict}`, () =>
      assert.equal(node(version as string).verdict, verdict));
  }

  const name = 'fs.inotify.max_user_watches';
  for (const [wanted, value, verdict] of [
    [100, 100, 'ok'],
    [100, 99, 'note'],
  ] as const) {
    it(`finds ${value} watches for ${wanted} ${verdict}`, () => {
      assert.equal(inotify(wanted, { name, value }).verdict, verdict);
    });
  }

  it('finds no limit ok', () => assert.equal(inotify(100, undefined).verdict, 'ok'));

  it('says how to raise a limit, for now and for good', () => {
    const { detail } = inotify(300_000, { name, value: 8192 });
    assert.ok(detail.startsWith(`${name} is 8192, and about 300000 are needed`), detail);
    assert.ok(detail.includes(`sudo sysctl -w ${name}=600000.`), detail);
    assert.ok(detail.includes(`echo ${name}=600000 | sudo tee /etc/sysctl.d/60-dossier.conf`));
  });
});
