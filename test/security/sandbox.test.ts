import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createSandbox } from '../../lib/sandbox/sandbox.ts';
import type { SandboxView } from '../../lib/sandbox/view.ts';
import { missing } from '../helpers/inside.ts';
import { OTHER, runInsideAs } from '../helpers/inside-as.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';

const me = process.getuid?.() ?? 0;
const NOT_ROOT = me !== 0 && 'only root can write to /etc';
// Root can be another user, too; another user is only itself.
const USERS = me === 0 ? [0, OTHER] : [me];

const place = (t: TestContext, uid: number, phase: 'plan' | 'work' = 'work'): SandboxView => {
  const cwd = temporaryDirectory(t);
  writeFiles(cwd, { 'file.txt': 'as it was\n' });
  execFileSync('git', ['init', '-q', cwd]);
  for (const path of [cwd, join(cwd, 'file.txt')]) chownSync(path, uid, uid);
  execFileSync('chown', ['-R', `${uid}`, join(cwd, '.git')]);
  return { cwd, phase, writable: [], hidden: [], network: 'host' };
};

for (const uid of USERS) {
  describe(`the sandbox of user ${uid}`, { skip: missing }, () => {
    it('leaves no capability, and the whole system cannot be mounted writable (attack 5)', async (t) => {
      const view = place(t, uid, 'plan');
      const { output } = await runInsideAs(
        uid,
        view,
        'mount -o remount,rw,bind / ; mount -o remount,rw,bind . ; grep -E "Cap(Eff|Prm)" /proc/self/status; echo x > file.txt; echo x > /etc/dossier-was-here',
      );
      assert.deepEqual(output.match(/Cap.*/g), [
        'CapPrm:\t0000000000000000',
        'CapEff:\t0000000000000000',
      ]);
      assert.equal(output.match(/mount: .*(must be superuser|permission denied)/g)?.length, 2);
      assert.equal(readFileSync(join(view.cwd, 'file.txt'), 'utf8'), 'as it was\n');
      assert.throws(() => readFileSync('/etc/dossier-was-here'), /ENOENT/);
    });

    it('has a limit of processes that it cannot raise', async (t) => {
      const script = 'grep processes /proc/self/limits; prlimit --pid $$ --nproc=8192 || echo kept';
      const { output } = await runInsideAs(uid, place(t, uid, 'plan'), script);
      assert.match(output, /^Max processes +\d{1,4} +\d{1,4} +processes/m);
      assert.match(output, /^kept$/m);
    });

    it('reads nothing of the system that root alone may read', { skip: NOT_ROOT }, async (t) => {
      const secret = mkdtempSync('/etc/dossier-test-');
      t.after(() => rmSync(secret, { recursive: true }));
      writeFiles(secret, { 'shut/key': 'a secret\n', 'private.key': 'a secret\n', open: 'open\n' });
      chmodSync(secret, 0o755);
      chmodSync(join(secret, 'shut'), 0o700);
      chmodSync(join(secret, 'private.key'), 0o640);
      const names = `/etc/shadow /etc/gshadow ${secret}/private.key ${secret}/shut/key ${secret}/open`;
      const { output } = await runInsideAs(
        uid,
        place(t, uid, 'plan'),
        `cat ${names} /etc/hostname`,
      );
      assert.doesNotMatch(output, /^root:|a secret/m);
      assert.match(output, /^open$/m);
    });

    it('reaches neither the session’s keyring nor the host of a virtual machine', async (t) => {
      const view = place(t, uid, 'plan');
      const calls = process.arch === 'x64' ? [250, 248, 425] : [219, 217, 425];
      const [keyctl, addKey, ioUring] = calls;
      const { output } = await runInsideAs(
        uid,
        view,
        `perl -e 'for ([${keyctl}, 6, -3, 0, 0], [${addKey}, "user", "dossier-test", "x", 1, -3], [${ioUring}, 8, 0]) { my @call = @$_; print syscall(shift @call, @call), " ", $!+0, "\n" } socket(my $s, 40, 1, 0) or print $!+0, "\n"; socket(my $u, 1, 1, 0) and print "unix\n"'`,
      );
      assert.deepEqual(output.trim().split('\n'), ['-1 38', '-1 38', '-1 38', '97', 'unix']);
    });

    it('lets a namespace of its own mount nothing writable either', async (t) => {
      const view = place(t, uid, 'plan');
      const { output } = await runInsideAs(
        uid,
        view,
        'unshare --user --map-root-user --mount sh -c "mount -o remount,rw,bind / ; umount /proc/sys; umount -l /tmp; echo core > /proc/sys/kernel/core_pattern; echo x > file.txt"',
      );
      assert.match(output, /mount: .*(permission denied|bad usage|not mount point|must be super)/);
      assert.match(output, /core_pattern: (Permission denied|Read-only file system)/);
      assert.equal(readFileSync(join(view.cwd, 'file.txt'), 'utf8'), 'as it was\n');
    });

    it('is nobody of privilege, has a name, and owns its worktree', async (t) => {
      const view = place(t, uid);
      const { output } = await runInsideAs(
        uid,
        view,
        `id -u; echo new > file.txt; stat -c %u file.txt .; git status --short; ${process.execPath} -p 'os.userInfo().username'`,
      );
      const inside = uid === 0 ? '1000' : `${uid}`;
      assert.match(output, new RegExp(`^${inside}\n${inside}\n${inside}\n\\?\\? file.txt`));
      assert.doesNotMatch(output, /dubious/);
      if (uid === 0) assert.match(output, /\nagent$/);
      assert.equal(readFileSync(join(view.cwd, 'file.txt'), 'utf8'), 'new\n');
    });

    it('lets an agent have a sandbox of its own inside, as Codex and browsers do', async (t) => {
      const view = place(t, uid);
      const own = '--die-with-parent --new-session --ro-bind / / --dev /dev --bind $PWD $PWD';
      const { output } = await runInsideAs(
        uid,
        view,
        `bwrap ${own} --unshare-user --unshare-pid --unshare-net ${uid === 0 ? '' : '--proc /proc'} -- sh -c 'echo inner > file.txt; echo x > /etc/x || echo kept'; unshare --user --pid --net --fork sh -c 'echo browser'`,
      );
      assert.match(output, /^kept\nbrowser\n/);
      assert.equal(readFileSync(join(view.cwd, 'file.txt'), 'utf8'), 'inner\n');
    });

    it('shares neither host name nor messages with the machine', async (t) => {
      const ids = ['ipc', 'uts', 'pid', 'user', 'cgroup', 'mnt'].map(
        (name) => `/proc/self/ns/${name}`,
      );
      const { output } = await runInsideAs(uid, place(t, uid), `readlink ${ids.join(' ')}`);
      const inside = output.split('\n');
      const outside = execFileSync('readlink', ids, { encoding: 'utf8' }).trim().split('\n');
      assert.equal(inside.length, ids.length);
      assert.deepEqual(
        inside.filter((id) => outside.includes(id)),
        [],
      );
    });
  });
}

describe('createSandbox', { skip: missing }, () => {
  it('tries out what a run is given, the network of its own too, and tells what failed', (t) => {
    const bin = temporaryDirectory(t);
    writeFiles(bin, {
      bwrap:
        '#!/bin/sh\ncase "$*" in *--cap-drop*ALL*--unshare-net*) echo "loopback: Failed RTM_NEWADDR" >&2; exit 1;; esac\n',
    });
    execFileSync('chmod', ['755', join(bin, 'bwrap')]);
    const { kind, reason } = createSandbox('auto', { PATH: bin, HOME: userInfo().homedir });
    assert.equal(kind, 'none');
    assert.equal(reason, 'bubblewrap does not work here: loopback: Failed RTM_NEWADDR.');
  });

  it('starts nothing where a run could not be prepared on a machine that allows sandboxes, until it can', (t) => {
    const bin = temporaryDirectory(t);
    const ready = join(bin, 'ready');
    writeFiles(bin, {
      bwrap: `#!/bin/sh\ncase "$*" in *--chdir*) [ -e ${ready} ] || { echo "no space" >&2; exit 1; };; esac\n`,
    });
    execFileSync('chmod', ['755', join(bin, 'bwrap')]);
    const sandbox = createSandbox('auto', { PATH: bin, HOME: userInfo().homedir });
    assert.equal(sandbox.kind, 'bubblewrap');
    const wrap = () => sandbox.wrap(['true'], place(t, me));
    assert.throws(wrap, /could not be prepared: no space\. Nothing starts until it can/);
    assert.match(sandbox.reason ?? '', /no space/);
    writeFileSync(ready, '');
    assert.ok(wrap().includes('true'));
    assert.equal(sandbox.reason, undefined);
  });

  it('tries again when a file that is to be hidden was removed meanwhile', (t) => {
    const bin = temporaryDirectory(t);
    const seen = join(bin, 'seen');
    const message = "bwrap: Can't mkdir parents for /var/cache/a: Read-only file system";
    writeFiles(bin, {
      bwrap: `#!/bin/sh\n[ -e ${seen} ] && exit 0\n: >${seen}\necho "${message}" >&2\nexit 1\n`,
    });
    chmodSync(join(bin, 'bwrap'), 0o755);
    const { kind, reason } = createSandbox('auto', { PATH: bin, HOME: userInfo().homedir });
    assert.equal(kind, 'bubblewrap', reason);
  });
});
