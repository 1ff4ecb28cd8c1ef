/** What outlives its run without a sandbox is found, whatever it shed, ended if it can be, and told if not. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { cleanEnvironment } from '../../lib/tools/environment.ts';
import { createRuns, type Left } from '../../lib/tools/runs.ts';
import { startProgram } from '../../lib/tools/spawn.ts';
import { attacker, noAttacker } from '../helpers/attacker.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryDirectory } from '../helpers/repository.ts';

const env = cleanEnvironment({ PATH: process.env.PATH });
const ESCAPES = {
  'cleared its environment and left its parents':
    'env -i /usr/bin/setsid /bin/sh -c "cd /; (echo up \\$\\$ > $OUT; exec /bin/sleep 600) &"',
  'cannot be looked into': 'python3 $ATTACKER run_away 127.0.0.1 9 GET / $OUT',
  'lost its first thread': `env -i python3 -c 'import ctypes, os, platform, threading, time
open("'$OUT'", "w").write("up %d" % os.getpid())
threading.Thread(target=lambda: time.sleep(600)).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)' & sleep 0.5`,
};

const isThere = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/\) [ZX]/.test(stat);
  } catch {
    return false;
  }
};

describe('a process that outlives its run', { skip: noAttacker }, () => {
  for (const [what, script] of Object.entries(ESCAPES))
    it(`is ended though it ${what}`, async (t) => {
      const out = join(temporaryDirectory(t), 'out');
      const runs = createRuns();
      const program = startProgram({
        argv: ['/bin/sh', '-c', `${script}; while [ ! -s $OUT ]; do sleep 0.1; done`],
        cwd: '/',
        env: { ...env, OUT: out, ATTACKER: attacker(t) },
        marker: randomUUID(),
        runs,
        loopback: true,
      });
      const { code } = await program.exited;
      assert.equal(code, 0);
      const pid = Number(/up (\d+)/.exec(readFileSync(out, 'utf8'))?.[1]);
      assert.ok(pid > 1);
      assert.equal(isThere(pid), false);
      assert.equal(runs.live.size, 0);
    });

  it('is told, and keeps its run in the table, where nobody can say whose it is', async (t) => {
    const out = join(temporaryDirectory(t), 'out');
    const runs = createRuns();
    const told: Left[] = [];
    runs.onLeft((left) => told.push(left));
    // Out of the cgroup of its run, where it has one, and under a limit that is no run's.
    const lowered = [
      'import os, re, resource, time',
      'own = re.search("^0::(.*)/dossier-[^/]*$", open("/proc/self/cgroup").read(), re.M)',
      'mount = re.search(r"(\\S+) \\S+(?: \\S+:\\d+)* - cgroup2 ", open("/proc/self/mountinfo").read())',
      'place = mount.group(1) + own.group(1) + "/cgroup.procs" if own and mount else "/dev/null"',
      'open(place, "w").write(str(os.getpid()))',
      'resource.setrlimit(10, (5, 5))',
      `open("${out}", "w").write("up")`,
      'time.sleep(3)',
    ].join('\n');
    const program = startProgram({
      argv: [
        '/bin/sh',
        '-c',
        `env -i setsid python3 -c '${lowered}' & while [ ! -s ${out} ] && kill -0 $!; do sleep 0.1; done`,
      ],
      ...{ cwd: '/', env, marker: randomUUID(), runs, loopback: true },
    });
    await program.exited;
    assert.equal(runs.live.size, 1);
    assert.deepEqual(
      told.map(({ sure, processes }) => [sure, processes.length]),
      [[false, 1]],
    );
    await eventually(() => assert.equal(runs.live.size, 0));
  });
});
