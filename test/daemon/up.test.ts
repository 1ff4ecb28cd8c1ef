import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { orElse } from '../../store/base/attempt.ts';
import { atEnd } from '../helpers/at-end.ts';
import { assertSentence, dossierIn } from '../helpers/command.ts';
import { DOSSIER } from '../helpers/daemon.ts';
import { until } from '../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';

interface Scene {
  home: string;
  workspace: string;
  env: NodeJS.ProcessEnv;
  run(cwd: string, ...args: string[]): ReturnType<typeof dossierIn>;
  owner(): { pid: number; url: string };
}

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

// Whoever is begun outlives its command: it is ended by its number.
const scene = (t: TestContext, more: NodeJS.ProcessEnv = {}): Scene => {
  const home = temporaryDirectory(t);
  const workspace = join(home, 'dossier');
  const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_GLOBAL: '/dev/null', ...more };
  const path = join(workspace, '.dossier/owner.json');
  const owner = () => JSON.parse(readFileSync(path, 'utf8'));
  atEnd(t, async () => {
    if (!existsSync(path)) return;
    const { pid } = owner();
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    await until(() => !isAlive(pid));
  });
  return { home, workspace, env, owner, run: (cwd, ...args) => dossierIn(t, { cwd, env }, args) };
};

const projectsOf = async (url: string): Promise<Record<string, string>> => {
  const { projects } = (await (await fetch(`${url}/settings`)).json()) as {
    projects: { name: string; place: string }[];
  };
  return Object.fromEntries(projects.map(({ name, place }) => [name, place]));
};

// Tells, when a process lists its descriptors, whether Node's tls was loaded: from then on a thread of Node 24 reads files.
const TELL_TLS = `
const fs = require('node:fs');
const { readdirSync } = fs;
fs.readdirSync = (path, ...more) => {
  const loaded = process.moduleLoadList.includes('NativeModule tls');
  if (path === '/proc/self/fd') fs.writeFileSync(__filename + '.said', 'tls loaded: ' + loaded);
  return readdirSync(path, ...more);
};
require('node:module').syncBuiltinESMExports();
`;

const noBash = existsSync('/bin/bash') ? false : 'there is no bash';

describe('a daemon that was begun', () => {
  it('holds nothing that its caller had open', { skip: noBash }, async (t) => {
    const { home, env, owner } = scene(t);
    const script = 'exec 200>"$HOME/lock" && "$0" "$1" up --no-open';
    const words = ['-c', script, process.execPath, DOSSIER];
    const said = execFileSync('/bin/bash', words, { cwd: home, env, encoding: 'utf8' });
    assert.match(said, /^Dossier is ready/);
    const dir = `/proc/${owner().pid}/fd`;
    const held = readdirSync(dir).map((fd) => orElse(() => readlinkSync(join(dir, fd)), ''));
    assert.ok(held.length > 3);
    assert.ok(!held.includes(join(home, 'lock')), held.join(' '));
  });

  it('has closed what its caller had open before Node reads certificates in a thread', async (t) => {
    const preload = join(temporaryDirectory(t), 'tell.cjs');
    writeFileSync(preload, TELL_TLS);
    const { home, run } = scene(t, { NODE_OPTIONS: `--require=${preload}` });
    assert.equal((await run(home, 'up', '--no-open')).code, 0);
    assert.equal(readFileSync(`${preload}.said`, 'utf8'), 'tls loaded: false');
  });

  it('is not looked for where the current directory is gone, which is said', async (t) => {
    const { home, env } = scene(t);
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$1" new Something';
    const ended = spawnSync('/bin/sh', ['-c', script, process.execPath, DOSSIER], {
      cwd: home,
      env,
    });
    assert.equal(ended.status, 1);
    assert.match(
      ended.stderr.toString(),
      /^dossier: The current directory no longer exists\. [^\n]*\n$/,
    );
  });
});

const repositoryIn = (t: TestContext, ...names: string[]): string => {
  const place = join(temporaryDirectory(t), ...names);
  mkdirSync(place, { recursive: true });
  git(place, 'init', '--quiet');
  return place;
};

describe('dossier without a word', () => {
  it('begins a daemon that outlives it, on ~/dossier, and finds that one the next time', async (t) => {
    const { root } = makeRepository(t);
    const { run, owner, workspace } = scene(t, { DOSSIER_PORT: '0' });
    const first = await run(root);
    assert.deepEqual([first.code, first.stderr], [0, '']);
    const { pid, url } = owner();
    const [ready, project] = first.stdout.split('\n');
    assert.equal(ready, `Dossier is ready: ${url}/dashboard (workspace ${workspace})`);
    assert.match(project ?? '', /^Project \S+: .* \(added\)$/);
    const again = await run(root);
    assert.equal(again.stdout.split('\n')[0], ready);
    assert.match(again.stdout, /\(existing\)$/m);
    assert.equal(owner().pid, pid);
    assert.equal((await run(root, 'ls')).code, 0);
  });

  it('shows what hides in the name of a folder', async (t) => {
    const root = repositoryIn(t, 'e\u001b[31mvil');
    const { run } = scene(t, { DOSSIER_PORT: '0' });
    const { stdout } = await run(root);
    assert.match(stdout, /\/e␛\[31mvil \(added\)$/m);
    assert.ok(!stdout.includes('\u001b'));
  });

  it('is in a session of its own, with its log where its owner alone reads it', async (t) => {
    const { run, owner, home, workspace } = scene(t, { DOSSIER_PORT: '0' });
    await run(home);
    const { pid } = owner();
    const [, , , session, terminal] =
      /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]?.split(' ') ?? [];
    assert.deepEqual([Number(session), terminal], [pid, '0']);
    const log = join(workspace, '.dossier/daemon.log');
    assert.equal(statSync(log).mode & 0o777, 0o600);
    assert.match(readFileSync(log, 'utf8'), /Dossier is ready/);
  });

  it('begins its log anew beyond 8 MiB, keeps what was there beside it, and says its last words all the same', async (t) => {
    const { run, home, workspace } = scene(t, { DOSSIER_PORT: '0' });
    assert.equal((await run(home)).code, 0);
    const log = join(workspace, '.dossier/daemon.log');
    const old = 'old\n'.repeat(2 << 20);
    const again = async () => {
      assert.equal((await run(home, 'stop')).code, 0);
      writeFileSync(log, old);
      return run(home);
    };
    assert.equal((await again()).code, 0);
    assert.equal(readFileSync(`${log}.1`, 'utf8'), old);
    assert.equal(statSync(`${log}.1`).mode & 0o777, 0o600);
    assert.match(readFileSync(log, 'utf8'), /^(?!old)[\s\S]*Dossier is ready/);
    const journal = join(workspace, '.dossier/journal');
    rmSync(journal, { recursive: true });
    writeFileSync(journal, '');
    const ended = await again();
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /Its log \(.*\):\n {2}dossier: \S/);
  });

  it('begins one where several are called at once', async (t) => {
    const { run, home, owner } = scene(t, { DOSSIER_PORT: '0' });
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => run(home)));
    const { url } = owner();
    for (const { code, stdout, stderr } of all) {
      assert.equal(code, 0, stderr);
      assert.ok(stdout.startsWith(`Dossier is ready: ${url}/`), stdout);
    }
  });

  it('says the last words of a daemon that ends before it is ready', async (t) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    atEnd(t, () => taken.close());
    const { port } = taken.address() as { port: number };
    const { run, home } = scene(t);
    const ended = await run(home, '--port', `${port}`);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /exited before it was ready/);
    assert.match(ended.stderr, new RegExp(`Port ${port} is in use by another program`));
  });

  for (const [what, spoil] of [
    ['a file', (path: string) => writeFileSync(path, '')],
    ['a link', (path: string) => symlinkSync('/var', path)],
  ] as const)
    it(`begins none where ${what} is in the place of .dossier`, async (t) => {
      const { run, home, workspace } = scene(t);
      mkdirSync(workspace);
      spoil(join(workspace, '.dossier'));
      const ended = await run(home);
      assert.equal(ended.code, 1);
      assertSentence(ended, /\.dossier.* (?:must be a directory, not a link or|is) a file/);
      assert.equal(existsSync('/var/daemon.log'), false);
    });

  it('refuses a flag of the start where one runs', async (t) => {
    const { run, home } = scene(t, { DOSSIER_PORT: '0' });
    await run(home);
    const ended = await run(home, '--log-level', 'debug');
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /--log-level only applies to a new one/);
  });

  it('says what to do where there is no repository, and touches no project', async (t) => {
    const { run, owner, home } = scene(t, { DOSSIER_PORT: '0' });
    const { stdout } = await run(home);
    assert.match(stdout, /is not in a code repository\. Run dossier in one/);
    assert.equal(existsSync(join(home, 'dossier/.git')), true);
    assert.match((await run(join(home, 'dossier'))).stdout, /is not in a code repository\./);
    assert.deepEqual(await projectsOf(owner().url), {});
  });

  it('takes no port that another has, and the same one again the next time', async (t) => {
    const others = await Promise.all(
      [4870, 4871].map(async (port) => {
        const server = createServer().listen(port, '127.0.0.1');
        await Promise.race([once(server, 'listening'), once(server, 'error')]).catch(() => {});
        return server;
      }),
    );
    const free = () => others.forEach((each) => void each.close());
    atEnd(t, free);
    const { run, owner, home } = scene(t);
    await run(home);
    const { pid, url } = owner();
    const port = Number(new URL(url).port);
    assert.ok(port > 4871 && port < 4970, url);
    process.kill(pid, 'SIGTERM');
    await until(() => !isAlive(pid));
    free();
    await run(home);
    assert.equal(owner().url, url);
  });
});

describe('a workspace that dossier makes', () => {
  it('has a git repository to which changes are committed; one that is there gets none', async (t) => {
    const { home, workspace, run } = scene(t);
    writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = a\n\temail = a@b\n');
    const { root } = makeRepository(t);
    assert.equal((await run(root)).code, 0);
    assert.equal(git(workspace, 'log', '--format=%s'), 'workspace: created\n');
    assert.equal((await run(root, 'new', 'One')).code, 0);
    await until(() => git(workspace, 'ls-files', 'cases').includes('case.md'));
    const there = scene(t);
    mkdirSync(there.workspace);
    writeFileSync(join(there.workspace, 'workspace.md'), '---\nmax_sessions: 2\n---\n');
    const kept = await there.run(root);
    assert.equal(kept.code, 0, kept.stderr);
    assert.equal(existsSync(join(there.workspace, '.git')), false);
  });
});

describe('the repository in which dossier is called', () => {
  it('is added under its folder name to the daemon that runs, and none gets another repository', async (t) => {
    const { run, owner } = scene(t, { DOSSIER_PORT: '0' });
    const [one, two, odd] = [
      repositoryIn(t, 'shop'),
      repositoryIn(t, 'shop'),
      repositoryIn(t, 'ein Büro!'),
    ];
    for (const each of [one, two, odd, one, two]) assert.equal((await run(each)).code, 0);
    const wanted = { shop: one, 'shop-2': two, 'ein-Buro': odd };
    assert.deepEqual(await projectsOf(owner().url), wanted);
  });

  it('is known below its root, in its worktrees, and under whatever name it has', async (t) => {
    const { run, owner, workspace } = scene(t, { DOSSIER_PORT: '0' });
    const root = repositoryIn(t, 'shop');
    git(root, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'x', '--allow-empty');
    const linked = join(temporaryDirectory(t), 'beside');
    git(root, 'worktree', 'add', '--quiet', linked);
    mkdirSync(join(root, 'deep'));
    assert.match((await run(linked)).stdout, /Project shop: .*shop \(added\)/);
    for (const place of [root, join(root, 'deep'), linked])
      assert.match((await run(place)).stdout, /Project shop: .*shop \(existing\)/);
    const { url } = owner();
    const body = JSON.stringify({ projects: { shop: null, market: root } });
    await fetch(`${url}/settings`, {
      ...{ method: 'PUT', headers: { 'content-type': 'application/json' } },
      body,
    });
    assert.match((await run(linked)).stdout, /Project market: .* \(existing\)/);
    assert.deepEqual(await projectsOf(url), { market: root });
    assert.match(readFileSync(join(workspace, '.dossier/local.md'), 'utf8'), /market:/);
  });

  it('is not the workspace itself, and never takes the name of items that name none', async (t) => {
    const { run, owner, workspace } = scene(t, { DOSSIER_PORT: '0' });
    mkdirSync(workspace);
    git(workspace, 'init', '--quiet');
    writeFileSync(join(workspace, 'note'), '');
    assert.equal((await run(workspace)).code, 0);
    const named = repositoryIn(t, 'default');
    assert.match((await run(named)).stdout, /Project default-2: /);
    assert.deepEqual(await projectsOf(owner().url), { 'default-2': named });
  });
});
