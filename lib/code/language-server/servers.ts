import { randomUUID } from 'node:crypto';
import { isAtOrBelow } from '../../../store/base/at-or-below.ts';
import type { Tree } from '../../../store/fs/worktree/folder.ts';
import type { Language } from '../../../store/records/settings.ts';
import type { WithStore } from '../../../store/store.ts';
import {
  forgetServer,
  noteServer,
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

export const createLanguageServers = (limits: Partial<ServerLimits> = {}): LanguageServers => ({
  running: new Map(),
  limits: { ...LIMITS, ...limits },
  closed: false,
});

/**
 * The server of a language for these files, started and initialised if it was not. Throws 503 `unavailable`: not
 * installed, or ended by itself a moment ago; 504 `tool_timeout`.
 */
export const serverFor = async (
  service: LanguageServerNeeds,
  language: Language,
  tree: Tree,
): Promise<LanguageServer> => {
  const { running, limits, closed } = service.languageServers;
  if (closed) throw new ServiceError('unavailable', 'The daemon is ending. Start it again first.');
  const key = `${language} ${tree.root}`;
  const place = running.get(key) ?? newPlace(tree.root);
  running.set(key, place);
  if (place.opening !== undefined) return place.opening;
  refuseTooMany(service.languageServers);
  refuseSoon(place);
  place.opening = start(service, language, tree, place);
  place.opening.catch(() => {
    place.opening = undefined;
  });
  const server = await place.opening;
  rest(place, limits);
  return server;
};

/** A seat at the server, given up with `leave`. The server is ended when nobody has had one for a while. */
export const subscribe = (
  { running, limits }: LanguageServers,
  server: LanguageServer,
  client: EditorClient,
): Subscription => {
  const place = [...running.values()].find((one) => one.server === server);
  clearTimeout(place?.idle);
  const seat = server.join(client);
  const leave = (): void => {
    seat.leave();
    if (place !== undefined) rest(place, limits);
  };
  return { ...seat, leave };
};

/** Ends the servers of a directory, for it is going to be removed. */
export const endServersIn = async (
  languageServers: LanguageServers,
  directory: string,
): Promise<void> => {
  const within = [...languageServers.running.values()].filter(({ root }) =>
    isAtOrBelow(root, directory),
  );
  await endAll(within, 'The directory is removed');
};

/** Ends all of them. */
export const closeLanguageServers = async (servers: LanguageServers): Promise<void> => {
  servers.closed = true;
  await endAll([...servers.running.values()], 'The daemon ends');
};

/** Ends what a former life of the daemon left running. */
export const sweepLanguageServers = async ({ store, log }: WithLog & WithStore): Promise<void> => {
  for (const marker of serverMarkers(store.layout)) {
    const killed = await killRun(marker);
    if (killed > 0) log.warn({ killed }, 'A language server of a former daemon was ended');
    forgetServer(store.layout, marker);
  }
};

const newPlace = (root: string): RunningServer => ({
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
    `${there} language servers are running, as many as may. Close some editors; a server without one ends after ${limits.idle_ms / 60_000} minutes.`,
  );
};

const refuseSoon = ({ not_before, last_words }: RunningServer): void => {
  const left = Math.ceil((not_before - performance.now()) / 1000);
  if (left <= 0) return;
  throw new ServiceError(
    'unavailable',
    `${last_words}. It may be started again in ${left} s; if it goes on to end, run it by hand to see why.`,
    { headers: { 'retry-after': String(left) } },
  );
};

const start = async (
  service: LanguageServerNeeds,
  language: Language,
  tree: Tree,
  place: RunningServer,
): Promise<LanguageServer> => {
  const { languageServers, store } = service;
  const { argv } = await findServer(service, language, tree.root);
  const marker = randomUUID();
  await noteServer(store.layout, marker);
  const { ready_ms, slow_ms, patience_ms } = languageServers.limits;
  const began = performance.now();
  const server = withNetwork(service, { language, root: tree.root }, (network) =>
    startLanguageServer({
      ...shutIn(service, argv, tree, network),
      root: tree.root,
      marker,
      ready_ms,
      slow_ms,
      patience_ms,
      runs: service.runs,
      sandboxed: service.sandbox().kind === 'bubblewrap',
    }),
  );
  place.server = server;
  void server.exited.then((exit) => {
    forgetServer(store.layout, marker);
    clearTimeout(place.idle);
    place.server = undefined;
    place.opening = undefined;
    if (exit.ended_by === 'caller') return;
    failed(place, performance.now() - began, languageServers.limits);
    place.last_words = `The language server ended by itself (${exit.signal ?? `code ${exit.code}`})`;
    service.log.warn({ language, root: tree.root, exit }, 'A language server ended by itself');
  });
  await server.ready;
  if (languageServers.closed) await server.end(daemonEnds('The daemon ends'));
  return server;
};

const failed = (place: RunningServer, lived_ms: number, { pause_ms }: ServerLimits): void => {
  place.failures = lived_ms > LONGEST_PAUSE_MS ? 1 : place.failures + 1;
  // Whoever fell over once is started again at once.
  if (place.failures < 2) return;
  const pause = Math.min(LONGEST_PAUSE_MS, pause_ms * 2 ** (place.failures - 2));
  place.not_before = performance.now() + pause;
};

// It reads and never writes: what it keeps goes into a /tmp of its own, and with it.
const shutIn = (
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
  return { argv: sandbox.wrap(argv, view), env: { ...env, ...network.env }, loopback };
};

const rest = (place: RunningServer, { idle_ms }: ServerLimits): void => {
  const { server } = place;
  clearTimeout(place.idle);
  if (server === undefined || server.clients.size > 0) return;
  place.idle = setTimeout(() => void server.end(daemonEnds('Nobody used it')), idle_ms);
  place.idle.unref();
};

const endAll = async (places: RunningServer[], why: string): Promise<void> => {
  await Promise.all(places.map(({ server }) => server?.end(daemonEnds(why))));
  // One that was being started ends as soon as it is there.
  await Promise.allSettled(places.map(({ opening }) => opening));
  await Promise.all(places.map(({ server }) => server?.end(daemonEnds(why))));
};

const daemonEnds = (reason: string) => ({ code: CLOSED.daemon_ends, reason });
