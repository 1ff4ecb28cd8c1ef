import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import {
  type ProcessRow,
  readProcess,
  readProcesses,
} from '../../../../lib/tools/process/processes.ts';
import { eventually } from '../../../helpers/eventually.ts';

const skip = process.platform !== 'linux' && 'there is no /proc';

/** A shell that says a line and becomes the next program with each line that it is sent. */
const shell = async (t: TestContext, script: string) => {
  const child = spawn('/bin/sh', ['-c', script], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH, HOME: '/' },
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const pid = child.pid ?? 0;
  return { pid, next: () => child.stdin.write('\n') };
};

const until = (pid: number, holds: (row: ProcessRow) => boolean): Promise<void> =>
  eventually(() => {
    const row = readProcess(pid);
    assert.ok(row && holds(row), JSON.stringify(row));
  });

describe('readProcess', { skip }, () => {
  it('sees the mark of a program that a process becomes after it was read', async (t) => {
    const { pid, next } = await shell(t, 'echo; read x; DOSSIER_RUN=later exec sleep 60');
    assert.equal(readProcess(pid)?.mark, undefined);
    next();
    await until(pid, ({ mark }) => mark === 'later');
  });

  it('sees the limit that it has when the program begins that it is for', async (t) => {
    const { pid, next } = await shell(t, 'echo; read x; exec prlimit --locks=7:7 -- sleep 60');
    assert.notEqual(readProcess(pid)?.limit, 7);
    next();
    await until(pid, ({ limit }) => limit === 7);
  });

  it('sees where one without a HOME stands now', async (t) => {
    const { pid, next } = await shell(
      t,
      'echo; read x; unset HOME; exec sh -c "cd /usr; read y; cd /tmp; read z"',
    );
    assert.equal(readProcess(pid)?.homeless_in, undefined);
    next();
    await until(pid, ({ homeless_in }) => homeless_in === '/usr');
    next();
    await until(pid, ({ homeless_in }) => homeless_in === '/tmp');
  });
});

describe('readProcesses', { skip }, () => {
  it('is read once for all who ask at once, and anew for who asks while it is read', async () => {
    const [one, other] = [readProcesses(), readProcesses()];
    assert.equal(await one, await other);
    const goingOn = readProcesses();
    await Promise.resolve();
    await Promise.resolve();
    assert.notEqual(await readProcesses(), await one);
    assert.ok((await goingOn).some(({ pid }) => pid === process.pid));
  });
});
