import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  detectCgroups,
  inCgroup,
  membersOf,
  removeCgroup,
} from '../../lib/tools/process/cgroups.ts';
import { killRun, processesOf } from '../../lib/tools/process/process-tree.ts';
import { createRuns } from '../../lib/tools/process/runs.ts';
import { startProgram } from '../../lib/tools/process/spawn.ts';
import { eventually } from '../helpers/eventually.ts';

const skip = detectCgroups().cgroup ? false : 'no cgroup can be made here';
const env = { PATH: process.env.PATH ?? '' };
const start = (marker: string, script: string) =>
  startProgram({
    ...{ argv: ['/bin/sh', '-c', script], cwd: '/', env, marker },
    ...{ runs: createRuns(), loopback: true },
  });

const isSleeping = (pid: number, marker: string): boolean => {
  try {
    const environ = readFileSync(`/proc/${pid}/environ`, 'utf8');
    return readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n' && !environ.includes(marker);
  } catch {
    return false;
  }
};

const stateOf = (pid: number): string | undefined => {
  try {
    return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
};

describe('the cgroup of a run', { skip }, () => {
  it('holds what shed its marker and its parents, which is known by it and ends with it', async () => {
    const marker = randomUUID();
    const shed = '(env -i setsid sh -c "exec sleep 600" &)';
    const program = start(marker, `${shed}; while :; do sleep 600; done`);
    const shedding = () => membersOf(marker).filter((pid) => isSleeping(pid, marker));
    await eventually(() => assert.equal(shedding().length, 1));
    const inside = shedding();
    const found = await processesOf(marker);
    assert.deepEqual(
      inside.filter((pid) => !found.includes(pid)),
      [],
    );

    await program.end();

    // Who reaps an orphan may take its time; what has ended is a zombie until then.
    const states = inside.map((pid) => stateOf(pid));
    assert.deepEqual(
      states.filter((state) => state !== undefined && state !== 'Z'),
      [],
    );
  });

  it('is gone after the run, and is swept by its marker alone', async () => {
    const marker = randomUUID();
    const program = start(marker, 'sleep 600');
    await eventually(() => assert.ok(membersOf(marker).length >= 1));
    const procs = inCgroup(marker, ['x'], { namespaced: false })[4] ?? '';
    assert.equal(existsSync(procs), true);
    await killRun(marker);
    assert.equal((await program.exited).signal, 'SIGKILL');
    await eventually(() => assert.equal(existsSync(procs), false));
  });

  it('is made for a run in a pid namespace only where it brings limits', async () => {
    const marker = randomUUID();
    const argv = inCgroup(marker, ['x'], { namespaced: true });
    assert.equal(argv.length > 1, detectCgroups().limits);
    await removeCgroup(marker);
  });
});
