/** A daemon of root: what root alone may read of the machine, wherever it lies, no sandboxed program reads. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { nameFor, rootOnly } from '../../lib/sandbox/root-user.ts';
import type { SandboxView } from '../../lib/sandbox/view.ts';
import { missing, runInside } from '../helpers/inside.ts';
import { temporaryDirectory } from '../helpers/repository.ts';

const skip = process.getuid?.() === 0 ? missing : 'the daemon is root here only where this test is';

const view = (t: TestContext, more: Partial<SandboxView> = {}): SandboxView => ({
  ...{ cwd: temporaryDirectory(t), phase: 'plan', writable: [], hidden: [], network: 'host' },
  ...more,
});

const SECRET = 'a secret of root';

/**
 * A directory of the system's, until the end of the test. What is in it the test's own mount namespace has alone: the sandboxes
 * of other tests hide each file of root, and fail where one is gone by then.
 */
const below = (t: TestContext, parent: string): string => {
  if (!existsSync(parent)) mkdirSync(parent, { recursive: true });
  const dir = mkdtempSync(join(parent, 'dossier-test-'));
  chmodSync(dir, 0o755);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=0755', 'test', dir]);
  t.after(() => {
    execFileSync('umount', ['--lazy', dir]);
    rmSync(dir, { recursive: true });
  });
  return dir;
};

const put = (path: string, text: string, mode: number): string => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  writeFileSync(path, `${text}\n`);
  chmodSync(path, mode);
  return path;
};

describe('a sandbox of root', { skip }, () => {
  it('starts beside a socket in a private directory of another user, and hides one beside it', async (t) => {
    const dir = below(t, '/opt');
    const sockets = ['private/a.sock', 'open/b.sock'].map((name) => join(dir, name));
    for (const socket of sockets) {
      mkdirSync(dirname(socket));
      const server = createServer().listen(socket);
      t.after(() => server.close());
    }
    chownSync(join(dir, 'private'), 1234, 1234);
    chmodSync(join(dir, 'private'), 0o700);
    const { output, code } = await runInside(
      view(t),
      `ls -l ${dir}/open/b.sock; ls ${dir}/private`,
    );
    assert.match(output, /^crw-rw-rw-.*b\.sock\n[^\n]*private'?: Permission denied/);
    assert.notEqual(code, 0);
  });

  it('shows no secret of the system, however deep: debconf, crontabs, keys, passwords of services', async (t) => {
    const paths = [
      ...['/var/cache', '/var/lib', '/var/spool', '/var/log', '/etc', '/opt', '/srv', '/usr/local'],
    ].flatMap((parent) => {
      const dir = below(t, parent);
      return [
        put(join(dir, 'passwords.dat'), SECRET, 0o600),
        put(join(dir, 'a/b/c/d/e/f/secret.key'), SECRET, 0o640),
      ];
    });
    const shut = below(t, '/opt');
    paths.push(put(join(shut, 'secret'), SECRET, 0o644));
    chmodSync(shut, 0o700);
    const known = ['/etc/shadow', '/var/cache/debconf/passwords.dat'].filter(existsSync);
    const { output } = await runInside(view(t), `cat ${[...paths, ...known].join(' ')}`);
    assert.doesNotMatch(output, /a secret of root|^Name: |^root:/m);
    assert.match(output, /Permission denied|No such file/);
  });

  it('shows what others may read, and what another user alone may read no more than before', async (t) => {
    const dir = below(t, '/var/lib');
    const open = put(join(dir, 'open/file'), 'open to all', 0o644);
    const another = put(join(dir, 'another'), SECRET, 0o600);
    chownSync(another, 1234, 1234);
    const { output } = await runInside(view(t), `cat ${open} ${another}`);
    assert.match(output, /open to all/);
    assert.doesNotMatch(output, /a secret/);
  });

  it('shows what a run is given of such a place, and the programs that it is started with', async (t) => {
    const shut = below(t, '/srv');
    const cwd = join(shut, 'repository');
    put(join(cwd, 'file.txt'), 'mine', 0o600);
    put(join(shut, 'beside.txt'), SECRET, 0o600);
    const program = put(
      join(shut, 'tools/agent.sh'),
      `#!/bin/sh\ncat ${shut}/beside.txt file.txt`,
      0o700,
    );
    chmodSync(shut, 0o700);
    const { output } = await runInside(view(t, { cwd }), program);
    assert.match(output, /^mine$/m);
    assert.doesNotMatch(output, /a secret/);
  });

  it('starts on a machine of thousands of users, with the names of the first', (t) => {
    const passwd = join(temporaryDirectory(t), 'passwd');
    const user = (id: number): string => `user-${id}:x:${id}:${id}::/home/user-${id}:/bin/sh\n`;
    writeFileSync(passwd, Array.from({ length: 10_000 }, (_, id) => user(id)).join(''));
    const [program = '', ...args] = nameFor({ HOME: '/home/me' }, passwd);
    const names = execFileSync(program, [...args, 'sh', '-c', 'cat <&9'], { encoding: 'utf8' });
    assert.ok(names.startsWith(user(0)));
    assert.match(
      names,
      /\nuser-\d+:[^\n]*:\/bin\/sh\nagent:x:1000:1000::\/home\/me:\/bin\/sh\n\n?$/,
    );
    writeFileSync(passwd, 'x'.repeat(3_000_000));
    assert.equal(nameFor({}, passwd).at(-1), 'agent:x:1000:1000::/:/bin/sh');
  });

  it('covers a directory as a whole where too much of it is shut', (t) => {
    const dir = join(below(t, '/var/lib'), 'many');
    for (let at = 0; at < 100; at += 1) put(join(dir, `${at}`), SECRET, 0o600);
    const found = rootOnly([]).filter((path) => path.startsWith(dirname(dir)));
    assert.deepEqual(found, [dir]);
  });

  it('sees a file that came since it last looked, and one that was shut', async (t) => {
    const dir = below(t, '/etc');
    const file = put(join(dir, 'one'), 'not yet', 0o644);
    assert.ok(!rootOnly([]).includes(file));
    const late = put(join(dir, 'two'), SECRET, 0o600);
    chmodSync(file, 0o600);
    assert.deepEqual(
      rootOnly([]).filter((path) => path.startsWith(dir)),
      [file, late],
    );
  });

  it('sees a file that was shut since, also while the clock is behind', (t) => {
    const dir = below(t, '/etc');
    const file = put(join(dir, 'one'), 'not yet', 0o644);
    utimesSync(dir, 1, 1);
    assert.ok(!rootOnly([]).includes(file));
    chmodSync(file, 0o600);
    const [clock, passed] = [Date.now() - 40 * 86_400_000, performance.now() + 61_000];
    t.mock.timers.enable({ apis: ['Date'], now: clock });
    t.mock.method(performance, 'now', () => passed);
    assert.ok(rootOnly([]).includes(file));
  });
});
