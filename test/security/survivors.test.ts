/** What outlives its run without a sandbox is found, whatever it shed, ended if it can be, and told if not. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment } from '../../lib/tools/process/environment.ts';
import { findPeerDaemons } from '../../lib/tools/process/peer-daemons.ts';
import { createRuns, type LeftProcesses } from '../../lib/tools/process/runs.ts';
import { startProgram } from '../../lib/tools/process/spawn.ts';
import type { Session } from '../../store/records/session.ts';
import { killAtEnd } from '../helpers/at-end.ts';
import { attacker, noAttacker } from '../helpers/attacker.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { newestSession } from '../helpers/service.ts';
import { withCase } from '../helpers/sessions.ts';

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

// Out of the cgroup of its run, where it has one, and under a limit that is no run's.
const loweredIn = (out: string): string =>
  [
    'import os, re, resource, time',
    'own = re.search("^0::(.*)/dossier-[^/]*$", open("/proc/self/cgroup").read(), re.M)',
    'mount = re.search(r"(\\S+) \\S+(?: \\S+:\\d+)* - cgroup2 ", open("/proc/self/mountinfo").read())',
    'place = mount.group(1) + own.group(1) + "/cgroup.procs" if own and mount else "/dev/null"',
    'open(place, "w").write(str(os.getpid()))',
    'resource.setrlimit(10, (5, 5))',
    `open("${out}", "w").write("up")`,
    'time.sleep(3)',
  ].join('\n');

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
    const told: LeftProcesses[] = [];
    runs.onLeft((left) => told.push(left));
    const lowered = loweredIn(out);
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

describe('a session of which something is left', { skip: noAttacker }, () => {
  it('says so in its stream and in session.md, with the number and name of each', async (t) => {
    const dir = temporaryDirectory(t);
    const out = join(dir, 'out');
    writeFiles(dir, { 'low.py': loweredIn(out) });
    const script = `cd /\nenv -i setsid python3 ${dir}/low.py > /dev/null 2>&1 &\nwhile [ ! -s ${out} ] && kill -0 $!; do sleep 0.1; done`;
    const test = await withCase(t, `Do it:\n\n\`\`\`sh\n${script}\n\`\`\`\n`, {
      settings: 'sandbox: off',
    });
    const { id } = await test.planned();
    await test.post(`/sessions/${id}/approve`);
    const ended = await eventually(async () => {
      const { body } = await test.call<Session>('GET', `${test.at}/sessions/${id}`);
      assert.ok(['completed', 'failed'].includes(body.status), body.status);
      return body;
    });
    const told = (await test.eventsOf(id)).find(({ data }) => data.code === 'processes_left');
    assert.match(
      String(told?.data.message),
      /may belong to this turn are still running: \d+ \(python3[^)]*\)/,
      ended.status,
    );
    const text = readFileSync(join(newestSession(test, test.item), 'session.md'), 'utf8');
    assert.match(text, /## Processes left[\s\S]*python3/);
  });
});

const OPERATOR = 65_534;
const OTHER = 65_533;

// A daemon's part, as another process and user: starts a program, ends it when told, and says what is left of it.
const DAEMON = `
const [spawning, table] = await Promise.all(process.argv.slice(1).map((path) => import(path)));
const runs = table.createRuns();
const told = [];
runs.onLeft(({ processes }) => told.push(...processes));
const program = spawning.startProgram({ argv: ['/bin/cat'], cwd: '/', env: { PATH: process.env.PATH },
  marker: crypto.randomUUID(), runs, loopback: true });
console.log('up');
await new Promise((resolve) => process.stdin.once('data', resolve));
program.stdin.end();
await program.exited;
console.log(JSON.stringify(told));
process.exit();`;

const compiled = (path: string): string =>
  fileURLToPath(new URL(`../../lib/tools/process/${path}.js`, import.meta.url));

const lineOf = async (stream: NodeJS.ReadableStream): Promise<string> =>
  String((await once(stream, 'data'))[0]).trim();

/** What the daemon of a user says is left of its run, while a program of `uid`, under the limit of a run, is alive. */
const leftBeside = async (t: TestContext, uid: number, orphan: boolean): Promise<string> => {
  const as = { uid: OPERATOR, gid: OPERATOR, cwd: '/', env: { PATH: process.env.PATH } };
  const modules = ['spawn', 'runs'].map(compiled);
  const args = ['--input-type=module', '-e', DAEMON, ...modules];
  const daemon = spawn(process.execPath, args, { ...as, stdio: ['pipe', 'pipe', 'inherit'] });
  killAtEnd(t, daemon);
  assert.equal(await lineOf(daemon.stdout), 'up');
  const sleep = 'exec env -i prlimit --locks=777:777 sh -c "echo \\$\\$; exec sleep 600"';
  const script = orphan ? `setsid sh -c '${sleep}' & exit` : sleep;
  const other = spawn('/bin/sh', ['-c', script], {
    ...{ ...as, uid, gid: uid },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = Number(await lineOf(other.stdout));
  t.after(() => process.kill(pid, 'SIGKILL'));
  daemon.stdin.write('end\n');
  const told: string[] = JSON.parse(await lineOf(daemon.stdout));
  return told.some((one) => one.startsWith(`${pid} `)) ? 'told' : 'not told';
};

const ANNOUNCE = `require('node:net').createServer().listen(
  '\\0dossier-runs/' + process.pid + '/1/0', () => console.log('up'))`;

/** Whether this process counts what a process of `uid` announces as another daemon's runs. */
const countsAsDaemon = async (t: TestContext, uid: number): Promise<boolean> => {
  const other = spawn(process.execPath, ['-e', ANNOUNCE], {
    uid,
    gid: uid,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  killAtEnd(t, other);
  assert.equal(await lineOf(other.stdout), 'up');
  return (await findPeerDaemons()).some(({ pid }) => pid === other.pid);
};

describe('a run of another daemon', {
  skip:
    process.platform !== 'linux' || (process.getuid?.() !== 0 && 'only root can be other users'),
}, () => {
  const CASES: [string, number, boolean, 'told' | 'not told'][] = [
    ['root’s, whose daemon lives', 0, false, 'not told'],
    ['the same user’s, whose daemon lives', OPERATOR, false, 'not told'],
    ['another user’s, whose daemon lives', OTHER, false, 'not told'],
    ['another user’s that outlived its daemon', OTHER, true, 'not told'],
    ['root’s that outlived its daemon', 0, true, 'told'],
    ['the same user’s that outlived its daemon', OPERATOR, true, 'told'],
  ];
  for (const [what, uid, orphan, expected] of CASES)
    it(`is ${expected} to be left of ours: ${what}`, async (t) => {
      assert.equal(await leftBeside(t, uid, orphan), expected);
    });

  it('shuts the door of a daemon of root if it is root’s, and not if it is another user’s', async (t) => {
    assert.equal(await countsAsDaemon(t, OTHER), false);
    assert.equal(await countsAsDaemon(t, 0), true);
  });
});
