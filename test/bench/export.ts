import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createWriteStream,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { alternate, median } from './load.ts';
import { childrenCpu, cpuOf, memoryOf, urlOf } from './processes.ts';
import type { Row } from './report.ts';
import { makeFullWorkspace } from './workspaces.ts';

const ROUNDS = 3;
const ITEMS = 10_000;
const WATCHED = fileURLToPath(new URL('./watched-daemon.js', import.meta.url));

interface Cost {
  ms: number;
  cpu_ms: number;
  bytes: number;
  /** Resident memory above what it was before, in MB. */
  mb: number;
  stall_ms: number;
}

/** GET /api/export of 60,000 files, against `zip -q -r -0` of the same. */
export const benchExport = async (): Promise<Row[]> => {
  const workspace = makeFullWorkspace(ITEMS);
  const out = mkdtempSync(join(tmpdir(), 'dossier-bench-zip-'));
  const daemon = await startWatched(workspace.root);
  const idle = await settledMemory(daemon.pid);
  const [ours, zip] = await alternate(
    ROUNDS,
    () => daemon.measured(() => download(daemon.url, join(out, 'export.zip')), idle),
    async () => {
      const cpu = childrenCpu();
      const cost = await daemon.measured(() => zipAll(workspace.root, join(out, 'zip.zip')), idle);
      return { ...cost, cpu_ms: childrenCpu() - cpu };
    },
  );
  await daemon.stop();
  for (const path of [workspace.root, out]) rmSync(path, { recursive: true });
  return [
    row('export 60,000 files, time', 'ms', ours, zip),
    row('export 60,000 files, CPU', 'cpu_ms', ours, zip),
    {
      what: 'export, size',
      measured: `${(ours[0]?.bytes ?? 0) >> 20} MB`,
      limit: `${(zip[0]?.bytes ?? 0) >> 20} MB zip -0`,
    },
    most(
      'export, memory above idle',
      ours.map(({ mb }) => mb),
      { limit: 250, unit: 'MB' },
    ),
    most(
      'export, longest stall of the daemon',
      ours.map(({ stall_ms }) => stall_ms),
      {
        limit: 50,
        unit: 'ms',
      },
    ),
    {
      what: 'the same while zip runs and the daemon is idle',
      measured: `median ${median(zip.map(({ stall_ms }) => stall_ms)).toFixed(0)} ms`,
    },
  ];
};

const startWatched = async (root: string) => {
  const child = fork(WATCHED, ['--workspace', root, '--port', '0', '--log-level', 'silent'], {
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
  const url = await urlOf(child);
  const pid = child.pid ?? 0;
  return {
    url,
    pid,
    /** What some work, which answers how many bytes it made, costs this process. */
    measured: async (work: () => Promise<number>, idle: number): Promise<Cost> => {
      // The peak is counted from here on.
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
      child.send('start');
      const [from, cpu] = [performance.now(), cpuOf(pid)];
      const bytes = await work();
      const ms = performance.now() - from;
      child.send('stop');
      const [stall_ms] = (await once(child, 'message')) as [number];
      return { ms, cpu_ms: cpuOf(pid) - cpu, bytes, mb: peakOf(pid) - idle, stall_ms };
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
};

const peakOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

// It goes on growing for a while after the daemon is ready: all Work items are being watched.
const settledMemory = async (pid: number): Promise<number> => {
  for (let before = 0; ; ) {
    const now = memoryOf(pid);
    if (Math.abs(now - before) < 1) return now;
    before = now;
    await delay(2000);
  }
};

const download = async (url: string, path: string): Promise<number> => {
  const { body } = await fetch(`${url}/api/export`);
  await pipeline(Readable.fromWeb(body as never), createWriteStream(path));
  return statSync(path).size;
};

const zipAll = async (root: string, path: string): Promise<number> => {
  rmSync(path, { force: true });
  const zip = spawn('zip', ['-q', '-r', '-0', path, '.', '-x', './.dossier/*'], { cwd: root });
  const [code] = (await once(zip, 'exit')) as [number];
  if (code !== 0) throw new Error(`zip ended with ${code}`);
  return statSync(path).size;
};

const row = (what: string, key: 'ms' | 'cpu_ms', ours: Cost[], zip: Cost[]): Row => {
  const seconds = (costs: Cost[]) =>
    `${(median(costs.map((each) => each[key])) / 1000).toFixed(2)} s`;
  return {
    what,
    measured: seconds(ours),
    limit: `${seconds(zip)} zip -q -r -0`,
    ratio: median(ours.map((each, round) => each[key] / (zip[round]?.[key] ?? Number.NaN))),
    target: '<= 4',
  };
};

const most = (
  what: string,
  values: number[],
  { limit, unit }: { limit: number; unit: string },
): Row => ({
  what,
  measured: `median ${median(values).toFixed(0)} ${unit}, most ${Math.max(...values).toFixed(0)} ${unit}`,
  limit: `${limit} ${unit}`,
  ratio: median(values) / limit,
  target: '<= 1',
});
