import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { atEnd, killAtEnd } from '../helpers/at-end.ts';
import { callOf } from '../helpers/call-of.ts';
import { assertSentence, dossier, dossierIn } from '../helpers/command.ts';
import { DOSSIER, startDaemon } from '../helpers/daemon.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { canTrace } from '../helpers/strace.ts';
import { tinyDisk } from '../helpers/tiny-disk.ts';
import { filesOf } from '../helpers/workspace.ts';

/** A user that the system has no entry of. */
const OTHER = { uid: 64_123, gid: 64_123 };
const NOT_ROOT = process.getuid?.() === 0 ? false : "only root can start another user's process";

const create = (url: string, title: string): Promise<Response> =>
  fetch(`${url}/cases`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title, type: 'task' }),
  });

describe('a workspace that is a symbolic link', () => {
  it('is taken for the directory it leads to, an empty one too', async (t) => {
    const dir = temporaryDirectory(t);
    mkdirSync(join(dir, 'real'));
    symlinkSync('real', join(dir, 'link'));
    const daemon = await startDaemon(t, ['--workspace', join(dir, 'link')]);
    assert.equal((await create(daemon.url, 'One')).status, 201);
    await daemon.end('SIGTERM');
    assert.equal(
      [...filesOf(join(dir, 'real')).keys()].some((name) => name.endsWith('case.md')),
      true,
    );
  });

  it('is made where the link leads to nothing yet', async (t) => {
    const dir = temporaryDirectory(t);
    symlinkSync('real', join(dir, 'link'));
    const daemon = await startDaemon(t, ['--workspace', join(dir, 'link')]);
    assert.equal((await create(daemon.url, 'One')).status, 201);
  });

  it('is the same workspace by either name', async (t) => {
    const dir = temporaryDirectory(t);
    mkdirSync(join(dir, 'real'));
    symlinkSync('real', join(dir, 'link'));
    await startDaemon(t, ['--workspace', join(dir, 'real')]);
    const second = await dossier(t, 'serve', '--workspace', join(dir, 'link'), '--port', '0');
    assert.equal(second.code, 1);
    assert.match(second.stderr, new RegExp(`${join(dir, 'real')} is held by process`));
  });

  it('is named as held where its own daemon has the port, too', async (t) => {
    const dir = temporaryDirectory(t);
    const { url } = await startDaemon(t, ['--workspace', dir]);
    const { port } = new URL(url);
    const second = await dossier(t, 'serve', '--workspace', dir, '--port', port);
    assert.equal(second.code, 1);
    assert.match(second.stderr, new RegExp(`${dir} already has a daemon: process .* on ${url}\\.`));
  });

  it('that leads in a circle is refused with a sentence', async (t) => {
    const dir = temporaryDirectory(t);
    symlinkSync('two', join(dir, 'one'));
    symlinkSync('one', join(dir, 'two'));
    const { code, stderr } = await dossier(
      t,
      'serve',
      '--workspace',
      join(dir, 'one'),
      '--port',
      '0',
    );
    assert.equal(code, 1);
    assert.match(stderr, /^dossier: .*one is a loop of symbolic links\..*\n$/);
  });
});

describe('a start that is refused', () => {
  it('leaves nothing behind', async (t) => {
    const dir = temporaryDirectory(t);
    const taken = createServer().listen(0, '127.0.0.1');
    atEnd(t, () => taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const space = ['--workspace', join(dir, 'space')];
    for (const args of [
      ['--port', String(port)],
      ['--host', '0.0.0.0'],
      ['--host', '192.0.2.1'],
      ['--repo', dir, '--port', '0'],
      ['--log-level', 'loud'],
    ]) {
      const { code, stderr } = await dossier(t, 'serve', ...space, ...args);
      assert.notEqual(code, 0, stderr);
      assert.deepEqual(readdirSync(dir), [], args.join(' '));
    }
  });

  /** A workspace that was in use, and what is done to it then. */
  const spoilt: readonly [what: string, spoil: (root: string) => void, pattern: RegExp][] = [
    [
      'a link in the place of .dossier',
      (root) => {
        renameSync(join(root, '.dossier'), join(root, '../elsewhere'));
        symlinkSync('../elsewhere', join(root, '.dossier'));
      },
      /\.dossier must be a directory, not a link or a file/,
    ],
    [
      'a link in .dossier',
      (root) => symlinkSync('/etc/passwd', join(root, '.dossier/secrets/one')),
      /secrets\/one is a symbolic link/,
    ],
    [
      'a file in the place of .dossier',
      (root) => {
        rmSync(join(root, '.dossier'), { recursive: true });
        writeFileSync(join(root, '.dossier'), '');
      },
      /\.dossier must be a directory/,
    ],
    [
      'a directory in the place of the journal',
      (root) => {
        const [name = ''] = readdirSync(join(root, '.dossier/journal'));
        rmSync(join(root, '.dossier/journal', name));
        mkdirSync(join(root, '.dossier/journal', name));
      },
      /journal\/\S+ is a directory, but must be a file/,
    ],
  ];
  for (const [what, spoil, pattern] of spoilt)
    it(`says so in a sentence, and changes nothing: ${what}`, async (t) => {
      const root = join(temporaryDirectory(t), 'space');
      await (await startDaemon(t, ['--workspace', root])).end('SIGTERM');
      spoil(root);
      const before = [filesOf(root), readdirSync(root), readdirSync(join(root, '..'))];
      const ended = await dossier(
        t,
        'serve',
        '--workspace',
        root,
        '--port',
        '0',
        '--log-level',
        'silent',
      );
      assert.equal(ended.code, 1);
      assertSentence(ended, pattern);
      assert.deepEqual([filesOf(root), readdirSync(root), readdirSync(join(root, '..'))], before);
      assert.equal(existsSync(join(root, '.dossier/owner.json')), false);
    });

  it('says that the disk is full', async (t) => {
    const disk = tinyDisk(t, 256);
    if (disk === undefined) return;
    disk.leave(0);
    const ended = await dossier(
      t,
      'serve',
      '--workspace',
      disk.dir,
      '--port',
      '0',
      '--log-level',
      'silent',
    );
    assert.equal(ended.code, 1);
    assertSentence(ended, /is on a disk that is full/);
  });

  it('names the state directory, too, where an open file of it cannot be read', async (t) => {
    if (!canTrace(t)) return;
    const [root, state] = [join(temporaryDirectory(t), 'space'), temporaryDirectory(t)];
    const args = ['--workspace', root, '--state-dir', state, '--port', '0'];
    await (await startDaemon(t, args.slice(0, -2))).end('SIGTERM');
    const [id = ''] = readdirSync(join(state, 'workspaces'));
    const log = join(state, 'workspaces', id, 'consent.log');
    const fault = ['-f', '-qq', '-o', '/dev/null', '-P', log, '--inject=pread64:error=EIO'];
    const { status, stderr } = spawnSync(
      'strace',
      [...fault, process.execPath, DOSSIER, 'serve', ...args],
      { encoding: 'utf8' },
    );
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^dossier: \S+space, or the state directory, is on a disk that fails \(EIO\)\. /,
    );
  });

  it('says that the journal cannot be written', { skip: NOT_ROOT }, async (t) => {
    const root = join(temporaryDirectory(t), 'space');
    await (await startDaemon(t, ['--workspace', root])).end('SIGTERM');
    const journal = join(root, '.dossier/journal');
    chmodSync(join(root, '..'), 0o755);
    for (const name of readdirSync(root, { recursive: true }) as string[])
      chownSync(join(root, name), OTHER.uid, OTHER.gid);
    chownSync(root, OTHER.uid, OTHER.gid);
    for (const name of readdirSync(journal)) chownSync(join(journal, name), 0, 0);
    const ended = await dossierIn(t, { user: OTHER }, [
      'serve',
      '--workspace',
      root,
      '--port',
      '0',
    ]);
    assert.equal(ended.code, 1);
    assertSentence(ended, /cannot be read and written by this user/);
  });
});

describe('a command whose reader has heard enough', () => {
  for (const args of [
    ['doctor'],
    ['check'],
    ['init'],
    ['trust'],
    ['key', '--list'],
    ['help'],
    ['version'],
  ])
    it(`${args} ends without a stack`, async (t) => {
      const root = temporaryDirectory(t);
      await (await startDaemon(t, ['--workspace', root])).end('SIGTERM');
      const child = spawn(process.execPath, [DOSSIER, ...args, '--workspace', root], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      killAtEnd(t, child);
      child.stdout.destroy();
      const stderr = child.stderr.toArray();
      const [code, signal] = await once(child, 'exit');
      assert.equal(Buffer.concat(await stderr).toString(), '');
      assert.equal(signal, null);
      assert.ok([0, 1].includes(code), String(code));
    });

  it('lets a daemon run on', async (t) => {
    const daemon = await startDaemon(t, ['--workspace', temporaryDirectory(t)]);
    daemon.process.stdout?.destroy();
    daemon.process.stderr?.destroy();
    assert.equal((await create(daemon.url, 'One')).status, 201);
    assert.deepEqual(await daemon.end('SIGTERM'), { code: 0, signal: null });
  });
});

describe('where the workspace is by default', () => {
  it('is at home, also where HOME is not set, is empty or no path from the top', () => {
    const workspaceOf = (env: Record<string, string>): string =>
      callOf(['serve'], env).config.workspace;
    assert.equal(workspaceOf({ HOME: '/nowhere/at/all' }), '/nowhere/at/all/dossier');
    for (const env of [{}, { HOME: '' }, { HOME: 'below' }] as Record<string, string>[])
      assert.equal(workspaceOf(env), join(userInfo().homedir, 'dossier'));
  });

  it('is nowhere for a user without a home: the command is refused, and makes nothing', {
    skip: NOT_ROOT,
  }, async (t) => {
    const cwd = temporaryDirectory(t);
    chmodSync(cwd, 0o777);
    const ended = await dossierIn(t, { cwd, env: { PATH: process.env.PATH }, user: OTHER }, [
      'serve',
    ]);
    assert.equal(ended.code, 2);
    assertSentence(ended, /HOME is not set/);
    assert.deepEqual(readdirSync(cwd), []);
  });
});

describe('an older Node', () => {
  const older = (version: string): string =>
    `data:text/javascript,${encodeURIComponent(
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`,
    )}`;

  for (const version of ['18.20.8', '20.18.3'])
    it(`is told in one sentence: ${version}`, async (t) => {
      const env = { ...process.env, NODE_OPTIONS: `--import=${older(version)}` };
      const ended = await dossierIn(t, { env }, ['--version']);
      assert.equal(ended.code, 1);
      assertSentence(ended, /^dossier: Node \S+ is too old\. Install Node 20\.19 or newer/);
    });

  it('is asked nothing else first: the file that starts loads no other before it knows', () => {
    const text = readFileSync(DOSSIER, 'utf8');
    const loaded = [...text.matchAll(/\bfrom\s*"([^"]+)"|^import\s*"([^"]+)"/gm)];
    assert.deepEqual(loaded, []);
    assert.match(text, /await import\("\.\/chunks\/main\.js"\)/);
  });
});

describe('a browser at the top', () => {
  it('is led to the console, and a program told where the API is', async (t) => {
    const { url } = await startDaemon(t, ['--workspace', temporaryDirectory(t)]);
    const page = await fetch(url, { headers: { accept: 'text/html,application/xhtml+xml,*/*' } });
    assert.equal(page.status, 200);
    assert.match(page.url, /\/dashboard$/);
    assert.match(await page.text(), /<!doctype html>/);
    const other = await fetch(url);
    assert.equal(other.status, 404);
    assert.equal(other.headers.get('content-type'), 'application/problem+json');
    const { code, detail } = (await other.json()) as { code: string; detail: string };
    assert.equal(code, 'route_not_found');
    for (const word of ['/openapi.json', '/cases', '/dashboard']) assert.ok(detail.includes(word));
  });
});
