// Runs groups of tests, a process for each, some at a time.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const {
  env: { PATH = '' },
} = process;
const OPT = '/opt';
const isInOpt = [process.execPath, process.cwd(), ...PATH.split(':')].some((path) =>
  `${path}/`.startsWith(`${OPT}/`),
);
// Who is not root may do that in a user namespace. The tests themselves run without its capabilities.
const IS_ROOT = process.getuid() === 0;
const OWN_USER = IS_ROOT ? [] : ['--user', '--map-current-user', '--keep-caps'];
const UNPRIVILEGED = IS_ROOT ? '' : 'setpriv --inh-caps=-all --ambient-caps=-all ';

/** A sandbox of root looks into each directory of /opt for what root alone may read: there are none but those of tests. */
const EMPTY_OPT =
  IS_ROOT && existsSync(OPT) && !isInOpt ? `mount -t tmpfs -o mode=755 tests ${OPT} && ` : '';

/**
 * Each process has a network and a table of processes to itself where the system gives it one: daemons of one test do not
 * look at the runs of another, and what a test leaves behind ends with it. Its temporary files are in memory.
 */
const apart = (tmp) => {
  const namespaces = [
    'unshare',
    ...OWN_USER,
    '--net',
    '--pid',
    '--fork',
    '--kill-child',
    '--mount-proc',
  ];
  // The shell stays, as the first process of its table: it takes over orphans, and Node would not. `times` says what all took.
  const script = `ip link set lo up && ${EMPTY_OPT}mount -t tmpfs -o mode=1777 tests "$0" && ${UNPRIVILEGED}"$@"; code=$?; [ -z "$TEST_CPU" ] || times > "$TEST_CPU"; exit $code`;
  return [...namespaces, 'sh', '-c', script, tmp];
};

const temporary = () => mkdtempSync(join(tmpdir(), 'dst-'));

const isPossible = () => {
  const tmp = temporary();
  const [program, ...argv] = [...apart(tmp), 'true'];
  const { status } = spawnSync(program, argv);
  rmSync(tmp, { recursive: true });
  return status === 0;
};

const CAN_BE_APART = isPossible();

// V8 optimizes what is called often enough: with Node 20, whose V8 has this option, later than by default, as most that a test
// calls is called too seldom for that to be worth its time.
const LATER = process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : [];
// Most of what a test imports it never calls: that is not compiled.
const HOW = ['--max-lazy', ...LATER, '--test-reporter=./.ci/test-reporter.mjs'];

// Node has no time limit for the tests of a process that is started with one file. The longest test takes two minutes of a slow machine.
const SILENT_MIN = 10;

/** Prints what the tests say, in one piece, and answers their counts, times and failures. */
const runGroup = async ({ name, files }, folder) => {
  const counts = join(folder, `${name}.json`);
  const cpu = join(folder, `${name}.cpu`);
  const tmp = temporary();
  const inside = CAN_BE_APART ? apart(tmp) : [];
  const [program, ...argv] = [...inside, process.execPath, ...HOW, join(folder, `${name}.test.js`)];
  // Node reads this file as it starts, for longer than all else takes: in thousands of processes, of which none needs it.
  const {
    env: { NODE_EXTRA_CA_CERTS: _, ...own },
  } = process;
  // Daemons of the tests have their default sockets beside no other's, at a short path.
  const env = {
    ...own,
    TEST_COUNTS: counts,
    TEST_CPU: cpu,
    TMPDIR: tmp,
    XDG_STATE_HOME: tmp,
    XDG_RUNTIME_DIR: '',
  };
  const child = spawn(program, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = [];
  const hung = setTimeout(() => child.kill('SIGKILL'), SILENT_MIN * 60_000);
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => {
      said.push(piece);
      hung.refresh();
    });
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(hung);
  rmSync(tmp, { recursive: true, force: true });
  process.stdout.write(Buffer.concat(said));
  const died = () => ({
    ...NONE,
    failures: files.map((file) => ({ file, name: nameOfEnd(code) })),
  });
  const told = await readFile(counts, 'utf8').then(JSON.parse).catch(died);
  const counted = { ...told, name, cpu_s: secondsIn(await readFile(cpu, 'utf8').catch(() => '')) };
  if (code === 0 || counted.failures.length > 0) return counted;
  return { ...counted, failures: died().failures };
};

const nameOfEnd = (code) =>
  code === null ? `killed: no test ended in ${SILENT_MIN} minutes` : `ended with ${code}`;

/** Of the shell's `times`, as `0m1.50s 0m0.20s`, all together. */
const secondsIn = (text) =>
  [...text.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + 60 * m + Number(s), 0);

const NONE = { times: {}, passed: 0, skipped: 0, failures: [] };

/** The first of them begin first. */
export const runGroups = async (groups, folder, atOnce) => {
  const left = [...groups];
  const results = [];
  const work = async () => {
    for (let group = left.shift(); group !== undefined; group = left.shift())
      results.push(await runGroup(group, folder));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return {
    times: Object.assign({}, ...results.map(({ times }) => times)),
    failures: results.flatMap(({ failures }) => failures),
    passed: results.reduce((sum, { passed }) => sum + passed, 0),
    skipped: results.reduce((sum, { skipped }) => sum + skipped, 0),
    groups: results.map(({ name, cpu_s }) => ({ name, cpu_s })),
  };
};
