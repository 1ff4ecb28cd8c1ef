import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { stopTree, track } from '../processes.ts';
import { treeOf } from '../tree.ts';
import { cpuOf, memoryOf } from '../usage.ts';
import type { Place, Tool } from './tools.ts';

const HOST = '127.0.0.1';
const LOOK_AGAIN_MS = 5;
const LONGEST_MS = 60_000;

type Answer = Readonly<Record<string, unknown>>;

export interface Server {
  /** From the start of the process until it answered with its list. */
  ready_ms: number;
  /** One request, on a connection that stays open. Throws where the answer is no success. */
  ask(path: string, body?: unknown): Promise<unknown>;
  list(): Promise<Answer[]>;
  /** Resident memory of all its processes, in MB. */
  memory(): number;
  /** CPU time of all its processes so far, in milliseconds. */
  cpu(): number;
  stop(): Promise<void>;
}

/** Starts the server of a tool on a free port of loopback. */
export const startTool = async (tool: Tool, place: Place): Promise<Server> => {
  const port = await freePort();
  const [command = '', ...args] = tool.serve(place, port);
  const from = performance.now();
  const child = track(
    spawn(command, args, { cwd: place.data, env: place.env, stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  await answered(child, { port, path: tool.list });
  const ready_ms = performance.now() - from;
  const pool = new Pool(`http://${HOST}:${port}`, { connections: 1 });
  const ask = askBy(pool);
  const sum = (figure: (pid: number) => number): number =>
    treeOf(child.pid ?? 0).reduce((total, pid) => total + figure(pid), 0);
  return {
    ready_ms,
    ask,
    list: async () => (await ask(tool.list)) as Answer[],
    memory: () => sum(memoryOf),
    cpu: () => sum(cpuOf),
    stop: async () => {
      await pool.close();
      await stopTree(child);
    },
  };
};

/**
 * Resolves at the first success, asked for from when the tool prints its port. Some tools listen for a moment before that,
 * to check that the port is free, and a connection of that moment stops them. Throws where the server ends, or does not
 * answer for a minute.
 */
const answered = async (child: ChildProcess, { port, path }: Address): Promise<void> => {
  const signal = AbortSignal.timeout(LONGEST_MS);
  const ended = once(child, 'exit', { signal });
  await Promise.race([ended, printed(child, `${port}`)]).catch(() => undefined);
  while (!(await succeeds({ port, path }, signal))) {
    const hasEnded = child.pid === undefined || child.exitCode !== null;
    if (hasEnded || signal.aborted) throw new Error('its server does not answer');
    await delay(LOOK_AGAIN_MS);
  }
};

interface Address {
  port: number;
  path: string;
}

const printed = async ({ stdout }: ChildProcess, text: string): Promise<void> => {
  if (stdout === null) return;
  let all = '';
  await new Promise<void>((resolve) => {
    stdout.on('data', (chunk: Buffer) => {
      if (all.includes(text)) return;
      all += chunk;
      if (all.includes(text)) resolve();
    });
  });
};

// Each on a connection of its own.
const succeeds = ({ port, path }: Address, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    get({ host: HOST, port, path, agent: false, signal }, (answer) => {
      answer
        .resume()
        .once('end', () => resolve(answer.statusCode === 200))
        .once('error', () => resolve(false));
    }).once('error', () => resolve(false));
  });

// Below the ports that Linux gives to connections: one to a port of those, where nothing listens yet, can meet itself.
const [FIRST_PORT, LAST_PORT] = [10_000, 30_000];

const freePort = async (): Promise<number> => {
  const port = randomInt(FIRST_PORT, LAST_PORT);
  const server = createServer().listen(port, HOST);
  try {
    await once(server, 'listening');
  } catch {
    return freePort();
  }
  server.close();
  await once(server, 'close');
  return port;
};

const askBy =
  (pool: Pool) =>
  async (path: string, body?: unknown): Promise<unknown> => {
    const { statusCode, body: answer } = await pool.request({
      method: body === undefined ? 'GET' : 'POST',
      path,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (statusCode >= 300) throw new Error(`${path} answered ${statusCode}`);
    return JSON.parse(text);
  };
