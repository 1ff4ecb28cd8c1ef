import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { TestContext } from 'node:test';
import type { ProviderDeps } from '../../../lib/agents/launch.ts';
import type { Phase, PromptParts, Run, RunEvent, RunSpec } from '../../../lib/agents/provider.ts';
import { createDoorsProcess } from '../../../lib/sandbox/egress/doors-process.ts';
import { NO_MCP } from '../../../lib/sandbox/egress/mcp-door.ts';
import { createNetworkAccess } from '../../../lib/sandbox/egress/networks.ts';
import { createSandbox, type SandboxSetting } from '../../../lib/sandbox/sandbox.ts';
import { createRuns } from '../../../lib/tools/process/runs.ts';
import { atEnd } from '../../helpers/at-end.ts';

export interface Place {
  root: string;
  home: string;
  /** The worktree: a directory with one file, a.txt. */
  tree: string;
}

/** A temporary place with a home and a worktree, removed at the end of the test. */
export const makePlace = (t: TestContext): Place => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'dossier-providers-')));
  atEnd(t, () => rmSync(root, { recursive: true, force: true }));
  const place = { root, home: join(root, 'home'), tree: join(root, 'tree') };
  for (const path of [place.home, place.tree, join(root, 'session')]) mkdirSync(path);
  writeFileSync(join(place.tree, 'a.txt'), 'one\n');
  return place;
};

export const depsFor = ({ home, root }: Place, setting: SandboxSetting = 'off'): ProviderDeps => {
  const env = { PATH: process.env.PATH ?? '', HOME: home };
  const sandbox = createSandbox(setting, env);
  const network = createNetworkAccess({
    ...{ sandboxed: sandbox.kind !== 'none', rules: {}, env, mcp: () => NO_MCP },
    doors: createDoorsProcess({ env, ownPort: () => undefined, ended: () => undefined }),
  });
  const states = join(root, 'states');
  const keepAside = async (name: string, text: string) => {
    const path = join(root, `${randomUUID()}-${name}`);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  return { env, variables: {}, sandbox, states, keepAside, runs: createRuns(), network, isInside };
};

export const specFor = (
  { root, tree }: Place,
  phase: Phase,
  prompt: Partial<PromptParts> = {},
  rest: Partial<RunSpec> = {},
): RunSpec => ({
  session_id: randomUUID(),
  phase,
  cwd: tree,
  session_dir: join(root, 'session'),
  prompt: {
    title: 'Test',
    type: 'chore',
    description: 'Do it.',
    memory: [],
    global_memory: [],
    ...prompt,
  },
  run_marker: randomUUID(),
  writable: [],
  hidden: [],
  kept: [],
  limits: { idle_ms: 60_000, wall_ms: 120_000, output_bytes: 256 * 1024 * 1024 },
  awaitPlan: () => Promise.reject(new Error('not a manual run')),
  ...rest,
});

export type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>['data'];

export interface Watched {
  run: Run;
  events: RunEvent[];
  of<T extends RunEvent['type']>(type: T): EventOf<T>[];
  /** Resolves with the first event of the type, also when it was told already. */
  next<T extends RunEvent['type']>(type: T): Promise<EventOf<T>>;
}

/** Starts a run and keeps what it tells. It is killed at the end of the test. */
export const watch = (t: TestContext, start: (tell: (event: RunEvent) => void) => Run): Watched => {
  const events: RunEvent[] = [];
  const waiting: { type: string; resolve: (event: RunEvent) => void }[] = [];
  const run = start((event) => {
    events.push(event);
    for (const waiter of waiting) if (waiter.type === event.type) waiter.resolve(event);
  });
  atEnd(t, () => run.kill());
  const of = <T extends RunEvent['type']>(type: T): EventOf<T>[] =>
    events.filter((event) => event.type === type).map(({ data }) => data as EventOf<T>);
  return {
    run,
    events,
    of,
    next: async (type) => {
      const [told] = of(type);
      if (told !== undefined) return told;
      const event = await new Promise<RunEvent>((resolve) => waiting.push({ type, resolve }));
      return event.data as never;
    },
  };
};

const isInside = (root: string, path: string): boolean =>
  `${existing(resolve(root, path))}/`.startsWith(`${realpathSync(root)}/`);

// The nearest directory that exists decides where a new file would come to lie.
const existing = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return existing(dirname(path));
  }
};
