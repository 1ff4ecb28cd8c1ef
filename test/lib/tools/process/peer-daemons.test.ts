import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { announceHostLoopback } from '../../../../lib/tools/process/peer-daemons.ts';
import { createRuns } from '../../../../lib/tools/process/runs.ts';
import { killAtEnd } from '../../../helpers/at-end.ts';

/** Reads the table as another daemon does on a busy machine: piece by piece. Says how often this one was not in it. */
const READER = `const { closeSync, openSync, readSync } = require('node:fs');
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
const piece = Buffer.alloc(4096);
let missed = 0;
for (let n = 0; n < 60; n++) {
  const table = openSync('/proc/net/unix');
  let text = '';
  for (let read; (read = readSync(table, piece)) > 0; pause()) text += piece.toString('latin1', 0, read);
  closeSync(table);
  if (!text.includes('@dossier-runs/' + process.argv[1] + '/')) missed++;
}
console.log(missed);`;

const run = (sandboxed: boolean) => ({ marker: 'a', loopback: true, sandboxed });

describe('a daemon with runs that share its network', {
  skip: process.platform !== 'linux',
}, () => {
  it('is found by others in each moment, also while what it says of itself changes', async (t) => {
    // So that the table takes several reads.
    const others = Array.from({ length: 400 }, (_, n) =>
      createServer().listen(`\0dossier-test/${process.pid}/${n}`).unref(),
    );
    t.after(() => others.map((server) => server.close()));
    const runs = createRuns();
    announceHostLoopback(runs);
    let isSandboxed = false;
    let last = runs.enter(run(isSandboxed));
    const reader = spawn(process.execPath, ['-e', READER, String(process.pid)]);
    killAtEnd(t, reader);
    const missed = once(reader.stdout, 'data');
    while (reader.exitCode === null) {
      // What it says changes most with the kind of its runs, and so does its place in the table.
      isSandboxed = !isSandboxed;
      const next = runs.enter(run(isSandboxed));
      runs.leave(last);
      last = next;
      await delay(5);
    }
    assert.equal(String((await missed)[0]), '0\n');
    runs.leave(last);
  });
});
