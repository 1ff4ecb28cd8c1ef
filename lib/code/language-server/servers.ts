import { randomUUID } from 'node:crypto';
import { isAtOrBelow } from '../../../store/base/paths.ts';
import type { Tree } from '../../../store/fs/worktree/folder.ts';
import type { Language } from '../../../store/records/settings.ts';
import type { WithStore } from '../../../store/store.ts';
import {
  removeServerMarker,
  saveServerMarker,
  serverMarkers,
} from '../../../store/worktrees/language-servers.ts';
import type { WithConfig } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import type { OpenNetwork } from '../../sandbox/egress/run-network.ts';
import type { WithSandbox } from '../../sandbox/sandbox.ts';
import type { Environment } from '../../tools/process/environment.ts';
import { killRun } from '../../tools/process/process-tree.ts';
import { otherWorktrees } from '../worktrees/read.ts';
import { CLOSED, type EditorClient, type Subscription } from './client.ts';
import { findServer, serverEnvironment } from './find.ts';
import type {
  LanguageServerNeeds,
  LanguageServers,
  RunningServer,
  ServerLimits,
} from './running.ts';
import { type LanguageServer, startLanguageServer, withNetwork } from './server.ts';

const LIMITS: ServerLimits = {
  ready_ms: 60_000,
  slow_ms: 10_000,
  patience_ms: 2000,
  idle_ms: 10 * 60_000,
  answer_ms: 30_000,
  pause_ms: 1000,
  most: 16,
};
const LONGEST_PAUSE_MS = 60_000;

export const createLanguageServers = (): LanguageServers => ({
  running: new Map(),
  limits: { ...LIMITS },
  closed: false,
});

/**
 * The running server of a language for these files; starts one if needed. Throws 503 `unavailable` if none is installed
 * or it just crashed, 504 `tool_timeout` if it does not initialize.
 */
export const serverFor = async (
  service: LanguageServerNeeds,
  language: Language,
  tree: Tree,
): Promise<LanguageServer> => {
  const { running, limits, closed } = service.languageServers;
  if (closed)
    throw new ServiceError('unavailable', 'The daemon is stopping. Start it again first.');
  const key = `${language} ${tree.root}`;
  const entry = running.get(key) ?? newEntry(tree.root);
  running.set(key, entry);
  if (entry.opening !== undefined) return entry.opening;
  refuseTooMany(service.languageServers);
  refuseSoon(entry);
  entry.opening = start(service, language, tree, entry);
  entry.opening.catch(() => {
    entry.opening = undefined;
  });
  const server = await entry.opening;
  scheduleIdleEnd(entry, limits);
  return server;
};

/** Connects a client to a server. The server ends when it had no client for `idle_ms`. */
export const subscribe = (
  { running, limits }: LanguageServers,
  server: LanguageServer,
  client: EditorClient,
): Subscription => {
  const entry = [...running.values()].find((one) => one.server === server);
  clearTimeout(entry?.idle);
  const seat = server.join(client);
  const leave = (): void => {
    seat.leave();
    if (entry !== undefined) scheduleIdleEnd(entry, limits);
  };
  return { ...seat, leave };
};

/** Ends the servers of a directory that is about to be removed. */
export const endServersIn = async (
  languageServers: LanguageServers,
  directory: string,
): Promise<void> => {
  const within = [...languageServers.running.values()].filter(({ root }) =>
    isAtOrBelow(root, directory),
  );
  await endAll(within, 'The directory is being removed');
};

/** Ends all servers, and starts no new ones. */
export const closeLanguageServers = async (servers: LanguageServers): Promise<void> => {
  servers.closed = true;
  await endAll([...servers.running.values()], 'The daemon is stopping');
};

/** Ends servers that a former daemon process left running. */
export const sweepLanguageServers = async ({ store, log }: WithLog & WithStore): Promise<void> => {
  for (const marker of serverMarkers(store.layout)) {
    const killed = await killRun(marker);
    if (killed > 0) log.warn({ killed }, 'killed a language server of a former daemon');
    removeServerMarker(store.layout, marker);
  }
};

const newEntry = (root: string): RunningServer => ({
  root,
  server: undefined,
  opening: undefined,
  failures: 0,
  not_before: 0,
  last_words: '',
  idle: undefined,
});

const refuseTooMany = ({ running, limits }: LanguageServers): void => {
  const there = [...running.values()].filter(({ opening }) => opening !== undefined).length;
  if (there < limits.most) return;
  throw new ServiceError(
    'unavailable',
    `The limit of ${there} language servers is reached. Close some editors; a server without one ends after ${limits.idle_ms / 60_000} minutes.`,
  );
};

const refuseSoon = ({ not_before, last_words }: RunningServer): void => {
  const left = Math.ceil((not_before - performance.now()) / 1000);
  if (left <= 0) return;
  throw new ServiceError(
    'unavailable',
    `${last_words}. It can be started again in ${left} s; if it keeps exiting, run it by hand to see why.`,
    { headers: { 'retry-after': String(left) } },
  );
};

const start = async (
  service: LanguageServerNeeds,
  language: Language,
  tree: Tree,
  entry: RunningServer,
): Promise<LanguageServer> => {
  const { languageServers, store } = service;
  const argv = await findServer(service, language, tree.root);
  const marker = randomUUID();
  await saveServerMarker(store.layout, marker);
  const began = performance.now();
  const server = withNetwork(service, { language, root: tree.root }, (network) =>
    startLanguageServer({
      ...launchOptions(service, argv, tree, network),
      root: tree.root,
      marker,
      limits: languageServers.limits,
      runs: service.runs,
      sandboxed: service.sandbox().kind === 'bubblewrap',
    }),
  );
  entry.server = server;
  void server.exited.then((exit) => {
    removeServerMarker(store.layout, marker);
    clearTimeout(entry.idle);
    entry.server = undefined;
    entry.opening = undefined;
    if (exit.ended_by === 'caller') return;
    recordFailure(entry, performance.now() - began, languageServers.limits);
    entry.last_words = `The language server exited (${exit.signal ?? `code ${exit.code}`})`;
    service.log.warn({ language, root: tree.root, exit }, 'language server crashed');
  });
  await server.ready;
  if (languageServers.closed) await server.end(daemonEnds('The daemon is stopping'));
  return server;
};

const recordFailure = (
  entry: RunningServer,
  lived_ms: number,
  { pause_ms }: ServerLimits,
): void => {
  entry.failures = lived_ms > LONGEST_PAUSE_MS ? 1 : entry.failures + 1;
  // After the first crash there is no pause.
  if (entry.failures < 2) return;
  const pause = Math.min(LONGEST_PAUSE_MS, pause_ms * 2 ** (entry.failures - 2));
  entry.not_before = performance.now() + pause;
};

// Read-only access to the files; caches go to a private /tmp.
const launchOptions = (
  service: WithConfig & WithSandbox & WithStore,
  argv: string[],
  { root, git_dir, closed }: Tree,
  network: OpenNetwork,
) => {
  const sandbox = service.sandbox();
  const inside: Environment = { CARGO_TARGET_DIR: '/tmp/target', XDG_CACHE_HOME: '/tmp/cache' };
  const env = serverEnvironment(service.config, sandbox.kind === 'none' ? {} : inside);
  const { dossier } = service.store.layout;
  const view = {
    cwd: root,
    phase: 'plan' as const,
    writable: [],
    network: network.view,
    readable: [git_dir, ...closed.filter((path) => path !== dossier)],
    hidden: [dossier, ...otherWorktrees(service.store, '').filter((path) => path !== root)],
  };
  const loopback = network.view === 'host';
  return { argv: sandbox.wrap(argv, view), env: network.environment(env), loopback };
};

const scheduleIdleEnd = (entry: RunningServer, { idle_ms }: ServerLimits): void => {
  const { server } = entry;
  clearTimeout(entry.idle);
  if (server === undefined || server.clients.size > 0) return;
  entry.idle = setTimeout(() => void server.end(daemonEnds('It was idle')), idle_ms);
  entry.idle.unref();
};

const endAll = async (entries: RunningServer[], why: string): Promise<void> => {
  await Promise.all(entries.map(({ server }) => server?.end(daemonEnds(why))));
  // A server that is still starting ends once it has started.
  await Promise.allSettled(entries.map(({ opening }) => opening));
  await Promise.all(entries.map(({ server }) => server?.end(daemonEnds(why))));
};

const daemonEnds = (reason: string) => ({ code: CLOSED.daemon_ends, reason });
