import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  descendantGroups,
  familyOf,
  groupsBelow,
  killRun,
  processTable,
} from '../../../../lib/tools/process/process-tree.ts';
import { RUN_VARIABLE } from '../../../../lib/tools/process/processes.ts';
import { atEnd, killAtEnd } from '../../../helpers/at-end.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { alive } from '../../../helpers/processes.ts';
import { temporaryDirectory } from '../../../helpers/repository.ts';

const skip = existsSync('/proc/self/environ') ? false : 'this host has no /proc';

// Starts `script` in a shell and waits for its first line: the process is up and so are those it started before.
const startMarked = (t: TestContext, script: string, marker: string): Promise<number[]> =>
  startWith(t, script, { [RUN_VARIABLE]: marker });

const startUnmarked = (t: TestContext, script: string): Promise<number[]> =>
  startWith(t, script, {});

// Forked twice: the shell between has gone when the first line is read, and with it every trace of a parent.
const escapeIn = (dir: string): string =>
  `cd ${dir}; env -i /usr/bin/setsid /bin/sh -c '/bin/sh -c "echo \\$\\$; exec /bin/sleep 600" &'`;

const startWith = async (
  t: TestContext,
  script: string,
  env: Record<string, string>,
): Promise<number[]> => {
  const child = spawn('/bin/sh', ['-c', script], {
    env: { PATH: process.env.PATH, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  killAtEnd(t, child);
  const [line] = await once(child.stdout, 'data');
  return String(line).trim().split(' ').map(Number);
};

const exists = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('sweep', { skip }, () => {
  it('kills a grandchild in a session of its own, which the group kill misses', async (t) => {
    const marker = randomUUID();
    const script = 'setsid sh -c "echo \\$PPID \\$\\$; exec sleep 600" & wait';
    const [parent = 0, orphan = 0] = await startMarked(t, script, marker);
    process.kill(-parent, 'SIGKILL');
    assert.equal(exists(orphan), true);
    assert.equal(await alive(marker), true);
    assert.ok((await killRun(marker)) >= 1);
    assert.equal(await alive(marker), false);
  });

  it('kills a child that cleared its environment while its parent is there', async (t) => {
    const marker = randomUUID();
    const script = 'env -i /usr/bin/setsid /bin/sh -c "echo \\$\\$; exec /bin/sleep 600" & wait';
    const [bare = 0] = await startMarked(t, script, marker);
    assert.equal(await killRun(marker), 2);
    assert.equal(await isGone(bare), true);
  });

  it('kills one that cleared its environment, left its parent and stands in the worktree', async (t) => {
    const marker = randomUUID();
    const dir = temporaryDirectory(t);
    const [bare = 0] = await startMarked(t, escapeIn(dir), marker);
    await eventually(async () => assert.equal(await alive(marker), false));
    assert.equal(await alive(marker, { dir }), true);
    assert.ok((await killRun(marker, { dir })) >= 1);
    assert.equal(await isGone(bare), true);
  });

  it('leaves the shell of an operator in a worktree alone, and what stands elsewhere', async (t) => {
    const dir = temporaryDirectory(t);
    const home = escapeIn(dir).replace('-i', 'HOME=/home/one');
    const [shell = 0] = await startUnmarked(t, home);
    const [beside = 0] = await startUnmarked(t, escapeIn(join(dir, '..')));
    atEnd(t, () => [shell, beside].map((pid) => process.kill(pid, 'SIGKILL')));
    assert.equal(await killRun(randomUUID(), { dir }), 0);
    assert.deepEqual([exists(shell), exists(beside)], [true, true]);
  });

  it('kills whoever belonged to the run before its parents died', async (t) => {
    const marker = randomUUID();
    const script =
      'cd /; env -i /usr/bin/setsid /bin/sh -c "echo \\$PPID \\$\\$; exec /bin/sleep 600" & wait';
    const [parent = 0, bare = 0] = await startMarked(t, script, marker);
    const family = await familyOf(marker, parent);
    process.kill(parent, 'SIGKILL');
    await eventually(async () => assert.equal(await alive(marker), false));
    assert.equal(exists(bare), true);
    assert.equal(await killRun(marker, { family }), 1);
    const reused = { ...family, members: [{ pid: process.ppid, started: 1 }] };
    assert.equal(await killRun(marker, { family: reused }), 0);
  });

  it('leaves processes of another run, and those whose environment it cannot read, alone', async (t) => {
    const other = randomUUID();
    const [pid = 0] = await startMarked(t, 'echo $$; exec sleep 600', other);
    assert.equal(await killRun(randomUUID()), 0);
    assert.equal(await killRun(other.slice(0, -1)), 0);
    assert.equal(exists(pid), true);
    assert.equal(await killRun(other), 1);
  });

  it('never kills its own process', async (t) => {
    const marker = randomUUID();
    const module = new URL('../../../../lib/tools/process/process-tree.js', import.meta.url);
    const script = `const { killRun } = await import('${module}'); console.log(await killRun('${marker}'))`;
    const [killed] = await startMarked(
      t,
      `exec ${process.execPath} --input-type=module -e "${script}"`,
      marker,
    );
    assert.equal(killed, 0);
  });
});

describe('descendantGroups', () => {
  it('finds the groups below a process, and none beside it', () => {
    const rows = [
      { pid: 10, ppid: 1, pgid: 10 },
      { pid: 11, ppid: 10, pgid: 10 },
      { pid: 12, ppid: 11, pgid: 12 },
      { pid: 13, ppid: 12, pgid: 13 },
      { pid: 20, ppid: 1, pgid: 20 },
    ];
    assert.deepEqual(descendantGroups(rows, 10), [10, 12, 13]);
  });

  it('reads the table of this host, where this process is below its parent', async () => {
    const rows = await processTable();
    const own = rows.find((row) => row.pid === process.pid);
    assert.equal(own?.ppid, process.ppid);
  });

  it('is not asked where /proc answers', { skip }, async () => {
    assert.deepEqual(await groupsBelow(process.pid), []);
  });
});

// A killed process is gone once its parent or init has taken note of it, which is not at once.
const isGone = async (pid: number): Promise<boolean> => {
  const { readFile } = await import('node:fs/promises');
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => ') Z');
  return /\) [ZX]/.test(stat);
};
