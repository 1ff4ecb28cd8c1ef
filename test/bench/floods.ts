import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect } from '../../lib/client/client.ts';
import { missing } from '../helpers/inside.ts';
import { serveArgs } from './build.ts';
import { makePlace, removePlace } from './place.ts';
import { stop, track, urlOf } from './processes.ts';
import type { Row } from './report.ts';
import { mainThreadOf, memoryOf } from './usage.ts';
import type { Stall } from './watched-daemon.ts';

const WATCHED = fileURLToPath(new URL('./watched-daemon.js', import.meta.url));
const FLOOD = fileURLToPath(new URL('./flood.js', import.meta.url));
const RUNS = 8;
const ROUNDS = 3;
const WATCHED_MS = 3000;
const EVERY_MS = 5;

/** How soon the daemon answers while eight hostile runs flood the proxy and MCP, against how soon it does at rest. */
export const benchFloods = async (): Promise<Row[]> => {
  if (missing !== false)
    return [{ key: 'floods-health', what: 'eight hostile runs', measured: missing }];
  const [root, repository] = [makePlace(), makeRepository()];
  const agent = `{ kind: acp, command: ${process.execPath}, args: [${FLOOD}] }`;
  writeFileSync(
    join(root, 'workspace.md'),
    `---\nprovider: flood\nmax_sessions: ${RUNS}\nproviders:\n  flood: ${agent}\n---\n`,
  );
  const child = track(
    fork(WATCHED, serveArgs(root, '--repo', repository, '--trust'), {
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    }),
  );
  const url = await urlOf(child);
  const pid = child.pid ?? 0;
  const watch = async () => {
    child.send('start');
    const before = mainThreadOf(pid);
    const times = await healthFor(url, WATCHED_MS);
    child.send('stop');
    const [{ stall, own }] = (await once(child, 'message')) as [Stall];
    const { cpu, waited } = mainThreadOf(pid);
    return {
      ...{ p99: percentile(times, 0.99), stall, own, mb: memoryOf(pid) },
      busy: (cpu - before.cpu) / WATCHED_MS,
      waited: (waited - before.waited) / WATCHED_MS,
    };
  };
  await watch();
  const [idle, flooded]: [Watched[], Watched[]] = [[], []];
  // By turns: what else the machine does weighs on both.
  for (let round = 0; round < ROUNDS; round += 1) {
    idle.push(await watch());
    const sessions = await startRuns(url);
    await delay(1000);
    flooded.push(await watch());
    await endRuns(url, sessions);
  }
  await stop(child);
  for (const place of [root, repository]) removePlace(place);
  return rowsOf(middleOf(idle), middleOf(flooded));
};

interface Watched {
  p99: number;
  stall: number;
  /** The longest stall without the time that other programs had the CPU. */
  own: number;
  /** The share of the time that the main thread was on a CPU. */
  busy: number;
  /** The share of the time that it waited for one: what other programs of the machine cost it. */
  waited: number;
  mb: number;
}

/** The middle value of each. */
const middleOf = (all: readonly Watched[]): Watched => {
  const middle = (of: keyof Watched): number =>
    percentile(
      all.map((one) => one[of]),
      0.5,
    );
  return {
    ...{ p99: middle('p99'), stall: middle('stall'), own: middle('own'), mb: middle('mb') },
    ...{ busy: middle('busy'), waited: middle('waited') },
  };
};

const rowsOf = (idle: Watched, flooded: Watched): Row[] => [
  {
    key: 'floods-health',
    what: `p99 of /health, ${RUNS} hostile runs`,
    measured: `${flooded.p99.toFixed(1)} ms`,
    limit: `${idle.p99.toFixed(1)} ms at rest`,
    ratio: flooded.p99 / idle.p99,
    target: '<= 3',
  },
  {
    key: 'floods-event-loop',
    what: `longest stall of the event loop, ${RUNS} hostile runs`,
    measured: `${flooded.stall.toFixed(0)} ms, ${(flooded.mb - idle.mb).toFixed(0)} MB more`,
    limit: `${idle.stall.toFixed(0)} ms at rest`,
    value: flooded.stall,
    target: '<= 20 ms',
  },
  {
    key: 'floods-own-stall',
    what: 'the same without what the thread waited for a CPU',
    measured: `${flooded.own.toFixed(1)} ms`,
    limit: `20 ms; ${idle.own.toFixed(1)} ms at rest`,
    ratio: flooded.own / 20,
    target: '<= 1',
  },
  {
    key: 'floods-main-thread',
    what: `CPU of the main thread, ${RUNS} hostile runs`,
    measured: `${percent(flooded.busy)}, waited for a CPU ${percent(flooded.waited)}`,
    limit: `25%; at rest ${percent(idle.busy)}, waited ${percent(idle.waited)}`,
    ratio: flooded.busy / 0.25,
    target: '<= 1',
  },
];

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;

const makeRepository = (): string => {
  const root = makePlace();
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe' });
  git('init', '--quiet');
  const me = ['-c', 'user.name=me', '-c', 'user.email=me@example.com'];
  git(...me, 'commit', '--quiet', '--allow-empty', '--message', 'begin');
  return root;
};

interface Flooding {
  id: string;
  sid: string;
}

/** Resolves when all of them flood. */
const startRuns = async (url: string): Promise<Flooding[]> => {
  const dossier = connect({ url });
  const started: Flooding[] = [];
  const begin = { type: 'implementing' } as const;
  for (let run = 0; run < RUNS; run += 1) {
    const body = { title: `Flood ${run}`, type: 'chore' } as const;
    const { id } = await dossier.call('POST /cases', { body });
    const { id: sid } = await dossier.call('POST /cases/{id}/sessions', { id, body: begin });
    const stream = dossier.stream('GET /cases/{id}/sessions/{sid}/stream', { id, sid });
    for await (const { event } of stream) if (event === 'network') break;
    started.push({ id, sid });
  }
  return started;
};

const endRuns = async (url: string, all: readonly Flooding[]): Promise<void> => {
  const { call } = connect({ url });
  // One that failed meanwhile has ended.
  for (const { id, sid } of all)
    await call('POST /api/cases/{id}/session/abort', { id, body: { session_id: sid } }).catch(
      () => undefined,
    );
};

/** How long each answer took, in milliseconds: one after the other, over one connection. */
const healthFor = async (url: string, ms: number): Promise<number[]> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (const from = performance.now(); performance.now() - from < ms; ) {
    const asked = performance.now();
    await health(url, agent);
    times.push(performance.now() - asked);
    await delay(EVERY_MS);
  }
  agent.destroy();
  return times;
};

const health = (url: string, agent: Agent): Promise<void> =>
  new Promise((resolve, reject) => {
    const asked = request(`${url}/health`, { agent }, (answer) => {
      answer.resume();
      answer.once('end', resolve);
    });
    asked.once('error', reject);
    asked.end();
  });

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
