import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { cleanEnvironment } from '../../../../lib/tools/process/environment.ts';
import { createRuns } from '../../../../lib/tools/process/runs.ts';
import {
  type Program,
  type ProgramSpec,
  startProgram,
} from '../../../../lib/tools/process/spawn.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { alive } from '../../../helpers/processes.ts';

const env = cleanEnvironment({ PATH: process.env.PATH });

const start = (t: TestContext, argv: string[], more: Partial<ProgramSpec> = {}): Program => {
  const table = { runs: createRuns(), loopback: true };
  const program = startProgram({ argv, cwd: '/', env, marker: randomUUID(), ...table, ...more });
  atEnd(t, () => program.end());
  return program;
};

const node = (script: string): string[] => [process.execPath, '-e', script];

describe('startProgram', () => {
  it('streams whole lines, whatever pieces they come in', async (t) => {
    const lines: string[] = [];
    const script = `process.stdout.write('one\\r\\ntw'); setTimeout(() => process.stdout.write(Buffer.from('o \\u00e9\\nlast')), 20)`;
    const exit = await start(t, node(script), { onLine: (line) => lines.push(line) }).exited;
    assert.deepEqual(lines, ['one', 'two é', 'last']);
    assert.deepEqual(exit, { code: 0, signal: null, stderr_tail: '', ended_by: 'itself' });
  });

  it('gives both ends of the pipe where no callback is given', async (t) => {
    const program = start(t, ['cat']);
    program.stdin.end('to and fro');
    const chunks: Buffer[] = [];
    for await (const chunk of program.stdout) chunks.push(chunk);
    assert.equal(Buffer.concat(chunks).toString(), 'to and fro');
    assert.equal((await program.exited).code, 0);
  });

  it('passes arguments untouched by any shell', async (t) => {
    const lines: string[] = [];
    await start(t, ['printf', '%s\\n', '$(id) `id` ; *'], { onLine: (line) => lines.push(line) })
      .exited;
    assert.deepEqual(lines, ['$(id) `id` ; *']);
  });

  it('keeps the last 4 kB of standard error', async (t) => {
    const { stderr_tail, code } = await start(
      t,
      node(`process.stderr.write('x'.repeat(9000) + 'the end'); process.exitCode = 3`),
    ).exited;
    assert.equal(stderr_tail.length, 4096);
    assert.match(stderr_tail, /the end$/);
    assert.equal(code, 3);
  });

  it('says so when the program cannot be started', async (t) => {
    const exit = await start(t, ['/no/such/program']).exited;
    assert.equal(exit.ended_by, 'not_started');
    assert.match(exit.stderr_tail, /ENOENT/);
  });

  it('ends a program that is silent too long, and one that is told to be heard only later', async (t) => {
    const silent = start(t, ['sleep', '600'], { idle_ms: 50 });
    assert.equal((await silent.exited).ended_by, 'idle_limit');
    const patient = start(t, ['sleep', '600'], { idle_ms: 60_000 });
    patient.idle(50);
    assert.equal((await patient.exited).ended_by, 'idle_limit');
  });

  it('ends a program that writes too much, and passes on no more than the cap', async (t) => {
    let bytes = 0;
    const onBytes = (chunk: Buffer): void => {
      bytes += chunk.length;
    };
    const exit = await start(t, ['yes'], { output_bytes: 200_000, onBytes }).exited;
    assert.equal(exit.ended_by, 'output_limit');
    assert.ok(bytes <= 200_000);
  });
});

const skip = existsSync('/proc/self/environ') ? false : 'this host has no /proc';

describe('Program.end', { skip }, () => {
  it('ends a program that ignores SIGTERM, and a shell that left its session', async (t) => {
    const marker = randomUUID();
    const script = `trap '' TERM; setsid sh -c 'trap "" TERM; echo up; while :; do sleep 600; done' & while :; do sleep 600; done`;
    const program = start(t, ['/bin/sh', '-c', script], { marker });
    await once(program.stdout, 'data');
    const exit = await program.end();
    assert.equal(exit.signal, 'SIGKILL');
    assert.equal(exit.ended_by, 'caller');
    assert.equal(await alive(marker), false);
  });

  it('lets a program end in its own way first', async (t) => {
    const script = `process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); console.log('up')`;
    const program = start(t, node(script));
    await once(program.stdout, 'data');
    assert.equal((await program.end()).code, 7);
  });

  it('leaves no orphan behind when the program ends by itself, though the orphan holds its output open', async (t) => {
    const marker = randomUUID();
    const program = start(t, ['/bin/sh', '-c', 'setsid sleep 600 & echo up'], {
      marker,
      onLine: () => undefined,
    });
    assert.equal((await program.exited).code, 0);
    assert.equal(await alive(marker), false);
  });

  it('answers alike when it is called twice, or late', async (t) => {
    const program = start(t, ['sleep', '600']);
    const [one, two] = await Promise.all([program.end(), program.end()]);
    assert.equal(one, two);
    assert.equal(await program.end(), one);
  });
});

describe('the table of runs', () => {
  it('has a program before it is started, and until nothing of it is alive', async (t) => {
    const runs = createRuns();
    const seen: number[] = [];
    runs.follow(() => seen.push(runs.live.size));
    const marker = randomUUID();
    const script = '(trap "" TERM; exec sleep 600) & echo up; exec sleep 600';
    const program = start(t, ['/bin/sh', '-c', script], { runs, marker });
    assert.deepEqual(
      [...runs.live].map((run) => [run.marker, run.loopback]),
      [[marker, true]],
    );
    await once(program.stdout, 'data');
    assert.equal(await alive(marker), true);
    await program.end();
    assert.equal(await alive(marker), false);
    assert.deepEqual(seen, [1, 0]);
  });

  it('lets go of a program that could not be started', async (t) => {
    const runs = createRuns();
    await start(t, ['/no/such/program'], { runs }).exited;
    assert.equal(runs.live.size, 0);
  });
});
