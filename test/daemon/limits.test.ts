import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { killAtEnd } from '../helpers/at-end.ts';
import { DOSSIER } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { caseText, dirOf, idOf, writeItems } from '../helpers/many-items.ts';
import { temporaryDirectory } from '../helpers/repository.ts';

const WATCH = fileURLToPath(new URL('../helpers/watch-store.js', import.meta.url));
const COUNT = 30;

// A user namespace has limits of its own.
const CAN_LIMIT = spawnSync('unshare', ['--user', '--map-root-user', 'true']).status === 0;

const mayRun = (t: TestContext): boolean => {
  if (CAN_LIMIT) return true;
  assert.notEqual(process.env.CI, 'true', 'user namespaces have to be allowed in CI');
  t.skip('user namespaces are not allowed here');
  return false;
};

type SystemLimit = readonly [name: string, value: number];

interface Limited {
  process: ChildProcess;
  /** What it said so far, on either stream. */
  lines: string[];
}

/** Runs a program of ours where a limit of the system is this low. */
const limited = (
  t: TestContext,
  [name, value]: readonly [string, number],
  args: string[],
): Limited => {
  const script = `echo ${value} > /proc/sys/user/${name} && exec "$0" "$@"`;
  const child = spawn(
    'unshare',
    ['--user', '--map-root-user', 'sh', '-c', script, process.execPath, ...args],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  killAtEnd(t, child);
  const lines: string[] = [];
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => lines.push(line));
  return { process: child, lines };
};

const raise = ({ process: { pid } }: Limited, name: string): void => {
  const write = `echo 100000 > /proc/sys/user/${name}`;
  execFileSync('nsenter', ['--preserve-credentials', '-U', '-t', String(pid), 'sh', '-c', write]);
};

const edit = (root: string, n: number, state: string): void =>
  writeFileSync(join(root, dirOf(n), 'case.md'), caseText(n, state));

const numbers = Array.from({ length: COUNT }, (_, n) => n);

describe('a workspace that wants more than the system gives', () => {
  for (const [limit, told] of [
    [['max_inotify_watches', 50], /no more directories .* needs about 184\. .*watches is 50,/],
    [['max_inotify_instances', 0], /no more programs to watch files\. .*instances is 0,/],
  ] as const)
    it(`is swept, every change is told once, and watched again with more ${limit[0]}`, (t) =>
      mayRun(t) ? sweptThenWatched(t, limit, told) : undefined);

  it('is served all the same, and the log says what to do in one line', async (t) => {
    if (!mayRun(t)) return;
    const root = temporaryDirectory(t);
    writeItems(root, COUNT);
    const args = [DOSSIER, 'serve', '--workspace', root, '--port', '0'];
    const { lines } = limited(t, ['max_inotify_watches', 50], args);
    const isWarning = (line: string): boolean => line.includes('"level":"warn"');
    await eventually(() => assert.ok(lines.some(isWarning)));
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(lines.join('\n'))?.[0];
    edit(root, COUNT - 1, 'BLOCKED');
    const answer = await fetch(`${url}/cases/${idOf(COUNT - 1)}`);
    assert.equal(((await answer.json()) as { state: string }).state, 'BLOCKED');
    assert.equal(lines.filter(isWarning).length, 1, lines.join('\n'));
  });
});

const sweptThenWatched = async (
  t: TestContext,
  limit: SystemLimit,
  told: RegExp,
): Promise<void> => {
  const root = temporaryDirectory(t);
  writeItems(root, COUNT);
  const store = limited(t, limit, [WATCH, root]);
  const { lines } = store;
  await eventually(() => assert.equal(lines.at(-1), 'ready, not watching'));
  assert.equal(lines.length, 2, lines.join('\n'));
  assert.match(lines[0] ?? '', told);
  assert.match(lines[0] ?? '', /within 10 s.* sudo sysctl -w user\.max_inotify_\w+=\d+\. .* tee /);
  const changes = numbers.map((n) => `case_state_changed ${idOf(n)}`);
  for (const n of numbers) edit(root, n, 'BLOCKED');
  await eventually(() => assert.deepEqual(lines.slice(2).toSorted(), changes));
  raise(store, limit[0]);
  await eventually(() => assert.equal(lines.at(-1), 'reported All directories are watched again'));
  for (const n of numbers) edit(root, n, 'OPEN');
  await eventually(() => assert.deepEqual(lines.slice(COUNT + 3).toSorted(), changes));
};
