import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { serveArgs } from './build.ts';
import { pairOf, pairRow, seconds } from './pair-row.ts';
import { makePlace, removePlace } from './place.ts';
import { stop, track, urlOf } from './processes.ts';
import type { Row } from './report.ts';
import { alternate, median } from './rounds.ts';
import { type Cost, costOf } from './run-command.ts';
import { cpuOf, memoryOf, peakOf } from './usage.ts';
import type { Stall } from './watched-daemon.ts';
import { FILES_OF_FULL, makeFullWorkspace } from './workspaces.ts';

const ROUNDS = 5;
const WATCHED = fileURLToPath(new URL('./watched-daemon.js', import.meta.url));
const BARE_ARCHIVE = fileURLToPath(new URL('./bare-archive.js', import.meta.url));

interface ExportCost extends Cost {
  bytes: number;
  /** Resident memory above what it was before, in MB. */
  mb: number;
  stall_ms: number;
}

interface Options {
  target: string;
  /** Also the memory, and how long the daemon does nothing else. */
  details?: boolean;
}

/** GET /api/export of so many files, against `zip -q -r -0` and against archiver alone of the same. */
export const benchExport = async (
  files: number,
  { target, details = false }: Options,
): Promise<Row[]> => {
  const workspace = makeFullWorkspace(Math.ceil(files / FILES_OF_FULL));
  const out = makePlace();
  const daemon = await startWatched(workspace.root);
  const idle = details ? await settledMemory(daemon.pid) : memoryOf(daemon.pid);
  // Not measured: it compiles what exports.
  await download(daemon.url, join(out, 'export.zip'));
  const [ours, zip, bare] = await alternate(
    ROUNDS,
    () => daemon.measured(idle, () => download(daemon.url, join(out, 'export.zip'))),
    () => daemon.measured(idle, () => zipAll(workspace.root, join(out, 'zip.zip'))),
    () => costOf([process.execPath, BARE_ARCHIVE, workspace.root, join(out, 'bare.zip')]),
  );
  await daemon.stop();
  workspace.remove();
  removePlace(out);
  const against = 'zip -q -r -0';
  const what = `export of ${files} files`;
  return [
    pairRow(
      { key: `export-${files}-time`, what: `${what}, time`, target },
      { ...pairOf('ms', ours, zip), against, show: seconds },
    ),
    pairRow(
      { key: `export-${files}-cpu`, what: `${what}, CPU`, target },
      { ...pairOf('cpu_ms', ours, zip), against, show: seconds },
    ),
    pairRow(
      { key: `export-${files}-archiver-cpu`, what: `${what}, CPU` },
      { ...pairOf('cpu_ms', ours, bare), against: 'archiver alone', show: seconds },
    ),
    ...(details ? detailsOf(ours, zip) : []),
  ];
};

const detailsOf = (ours: ExportCost[], zip: ExportCost[]): Row[] => [
  {
    key: 'export-size',
    what: 'export, size',
    measured: `${(ours[0]?.bytes ?? 0) >> 20} MB`,
    limit: `${(zip[0]?.bytes ?? 0) >> 20} MB zip -0`,
    ratio: (ours[0]?.bytes ?? 0) / (zip[0]?.bytes ?? 1),
  },
  {
    key: 'export-memory',
    what: 'export, memory above idle',
    ...most(
      ours.map(({ mb }) => mb),
      { limit: 250, unit: 'MB' },
    ),
  },
  {
    key: 'export-stall',
    what: 'export, longest stall of the daemon',
    ...most(
      ours.map(({ stall_ms }) => stall_ms),
      { limit: 50, unit: 'ms' },
    ),
  },
  {
    key: 'export-stall-idle',
    what: 'the same while zip runs and the daemon is idle',
    measured: `median ${median(zip.map(({ stall_ms }) => stall_ms)).toFixed(0)} ms`,
  },
];

interface Work {
  bytes: number;
  /** CPU time of a program that did the work instead of the daemon. */
  cpu_ms?: number;
}

const startWatched = async (root: string) => {
  const child = track(
    fork(WATCHED, serveArgs(root), { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] }),
  );
  const url = await urlOf(child);
  const pid = child.pid ?? 0;
  return {
    url,
    pid,
    /** What some work costs this process, or the program that does it. */
    measured: async (idle: number, work: () => Promise<Work>): Promise<ExportCost> => {
      // The peak is counted from here on.
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
      child.send('start');
      const [from, cpu] = [performance.now(), cpuOf(pid)];
      const { bytes, cpu_ms } = await work();
      const ms = performance.now() - from;
      const own = cpuOf(pid) - cpu;
      child.send('stop');
      const [{ stall }] = (await once(child, 'message')) as [Stall];
      return { ms, cpu_ms: cpu_ms ?? own, bytes, mb: peakOf(pid) - idle, stall_ms: stall };
    },
    stop: () => stop(child),
  };
};

// It goes on growing for a while after the daemon is ready: all Work items are being watched.
const settledMemory = async (pid: number): Promise<number> => {
  for (let before = 0; ; ) {
    const now = memoryOf(pid);
    if (Math.abs(now - before) < 1) return now;
    before = now;
    await delay(2000);
  }
};

const download = async (url: string, path: string): Promise<Work> => {
  const { body } = await fetch(`${url}/api/export`);
  await pipeline(Readable.fromWeb(body as never), createWriteStream(path));
  return { bytes: statSync(path).size };
};

const zipAll = async (root: string, path: string): Promise<Work> => {
  rmSync(path, { force: true });
  const zip = ['zip', '-q', '-r', '-0', path, '.', '-x', './.dossier/*'];
  const { cpu_ms } = await costOf(zip, { cwd: root });
  return { bytes: statSync(path).size, cpu_ms };
};

const most = (
  values: number[],
  { limit, unit }: { limit: number; unit: string },
): Omit<Row, 'key' | 'what'> => ({
  measured: `median ${median(values).toFixed(0)} ${unit}, most ${Math.max(...values).toFixed(0)} ${unit}`,
  limit: `${limit} ${unit}`,
  ratio: median(values) / limit,
  target: '<= 1',
});
