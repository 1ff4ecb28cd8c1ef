import type { Server } from '@hapi/hapi';
import { operatorConsole } from '../../routes/console/console.ts';
import { sections } from '../../routes/index.ts';
import { settlesWithin } from '../../store/base/async.ts';
import { hasCode, messageOf } from '../../store/base/attempt.ts';
import { layoutOf } from '../../store/layout.ts';
import { makeWorkspaceFiles } from '../../store/workspace/workspace-files.ts';
import { type Config, keepScratchIn } from '../config.ts';
import { createServer } from '../daemon/server.ts';
import { type Running, startService } from '../daemon/startup.ts';
import { missingProtections } from '../daemon/system/machine.ts';
import { versionInfo } from '../daemon/version.ts';
import { limitConnections } from '../http/connection-limit.ts';
import { createLog, type Log } from '../log.ts';
import { detectCapabilities } from '../sandbox/capabilities.ts';
import type { Call } from './args/command.ts';
import { Refusal } from './args/refusal.ts';
import { keepLogSmall } from './connection/daemon-log.ts';
import { toStandardOutput as say } from './output/terminal.ts';
import {
  checkHost,
  checkOpenFiles,
  checkPort,
  checkRepository,
  ensureWorkspace,
  mostOpenFiles,
  portsToTry,
  refuseEmptied,
  rememberPort,
  toListenError,
} from './preflight.ts';
import { endByHangup, handleFileSizeSignal, waitForStopSignal } from './process.ts';
import { checkSocketPath, prepareDefaultSocket, serveSocket } from './socket.ts';
import { askAboutTrust } from './trust-question.ts';

const DRAIN_MS = 2000;
const CRASH_MS = 5000;
const UNHELD_MS = 500;
const NO_SOCKET = 'none';

/**
 * `dossier serve`: runs the daemon until SIGTERM, SIGINT or SIGHUP. Prints its address once the API answers, and again after each
 * restart: when the workspace was moved, or another daemon used it while this process was suspended. Throws a Refusal if
 * it cannot start.
 */
export const serve = async ({ config, values }: Call): Promise<number> => {
  const asked = waitForStopSignal();
  handleFileSizeSignal();
  const log = await createLog(config.log_level);
  // These checks come before any file is created.
  checkOpenFiles();
  checkHost(config);
  await checkRepository(config);
  const isPortGiven = (values.port ?? config.env.DOSSIER_PORT) !== undefined;
  if (isPortGiven) await checkPort(config);
  const wanted = values.socket ?? config.env.DOSSIER_SOCKET;
  if (wanted !== undefined && wanted !== NO_SOCKET) checkSocketPath(wanted);
  refuseEmptied(config);
  ensureWorkspace(config);
  keepLogSmall(layoutOf(config.workspace));
  const crash = endOnCrash(log);
  return runUntilStopped({ config, log, isPortGiven, wanted, port: undefined }, asked, crash);
};

// Restarts the daemon until a signal arrives.
const runUntilStopped = async (
  first: StartOptions,
  asked: ReturnType<typeof waitForStopSignal>,
  crash: Crash,
): Promise<number> => {
  let { port } = first;
  let { workspace } = first.config;
  for (;;) {
    const config = { ...first.config, workspace };
    const daemon = await startDaemon({ ...first, config, port }, crash);
    const { signal, moved } = await Promise.race([
      asked.then((signal) => ({ signal, moved: undefined })),
      daemon.restart.then((moved) => ({ signal: undefined, moved })),
    ]).catch(async (error: unknown) => {
      await daemon.end();
      throw error;
    });
    first.log.info({ signal, moved }, signal === undefined ? 'restarting' : 'stopping');
    await daemon.end();
    if (signal === 'SIGHUP') return endByHangup();
    if (signal !== undefined) return 0;
    [port, workspace] = [daemon.port, moved ?? workspace];
  }
};

interface StartOptions {
  config: Config;
  log: Log;
  isPortGiven: boolean;
  /** The given path of the socket. */
  wanted: string | undefined;
  /** The port before a restart. */
  port: number | undefined;
}

interface RunningDaemon {
  port: number;
  /**
   * Resolves when a restart is needed, with the new path of a workspace that was moved. Rejects if the workspace cannot be
   * read.
   */
  restart: Promise<string | undefined>;
  end(): Promise<void>;
}

const startDaemon = async (options: StartOptions, crash: Crash): Promise<RunningDaemon> => {
  const { config, log, wanted } = options;
  const running = await start(config, log);
  crash.close = running.close;
  const server = await listen(options, running);
  const url = urlOf(config, server);
  const socket = await listenOnSocket(wanted, url, server, running);
  running.service.address.url = url;
  running.open.lock.tell({ url, ...(socket && { socket: socket.path }) });
  say(`Dossier is ready: ${url}/dashboard (workspace ${config.workspace})`);
  const telling = setTimeout(logMissingProtections, UNHELD_MS, running, log);
  const stopping = new AbortController();
  const { moved, outdated } = running.open;
  return {
    port: Number(server.info.port),
    restart: Promise.race([
      moved,
      outdated.then(() => undefined),
      begin(running, log, stopping.signal),
    ]),
    end: async () => {
      stopping.abort();
      clearTimeout(telling);
      socket?.close();
      await server.stop({ timeout: DRAIN_MS });
      await running.close();
    },
  };
};

// Runs after the first requests, because testing the sandbox blocks the process.
const logMissingProtections = ({ service }: Running, log: Log): void => {
  const sandbox = service.sandbox();
  for (const { about, sentence } of missingProtections({ ...detectCapabilities(), sandbox }))
    if (sandbox.kind === 'none') log.warn({ about }, sentence);
    else log.info({ about }, sentence);
};

const start = async (config: Config, log: Log): Promise<Running> => {
  keepScratchIn(layoutOf(config.workspace).tmp);
  const running = await startService(config, log, versionInfo());
  const made = await makeWorkspaceFiles(running.service.store.layout);
  if (made.length > 0) log.info({ made }, 'created missing files of the workspace');
  return running;
};

// Rejects if the daemon cannot go on, and never resolves.
const begin = async (running: Running, log: Log, stopping: AbortSignal): Promise<never> => {
  const { watching } = await running.begin().catch((error: unknown) => {
    // Files that were moved away are missing at their place.
    const why = running.service.store.readOnly;
    throw why === undefined ? error : new Refusal(`${why}. Start the daemon again.`);
  });
  watching.catch((error: unknown) =>
    log.error({ err: error }, 'watching files failed: changes by hand are not noticed'),
  );
  askAboutTrust(running.service, stopping).catch((error: unknown) =>
    log.error({ err: error }, 'asking about untrusted settings failed'),
  );
  return new Promise(() => undefined);
};

// After an uncaught error the state of the process is unknown, so it ends.
const endOnCrash = (log: Log): Crash => {
  const crash: Crash = { close: async () => undefined };
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'uncaught error: the daemon exits');
    void settlesWithin(crash.close(), CRASH_MS).then(() => process.exit(1));
  });
  return crash;
};

interface Crash {
  /** Ends the runs of the daemon. */
  close: () => Promise<void>;
}

const portsFor = ({ config, isPortGiven, port }: StartOptions): number[] => {
  const usual = isPortGiven ? [config.port] : portsToTry(layoutOf(config.workspace), config);
  return port === undefined ? usual : [port, ...usual];
};

const listen = async (options: StartOptions, running: Running): Promise<Server> => {
  const { config, isPortGiven } = options;
  const layout = layoutOf(config.workspace);
  const ports = portsFor(options);
  for (const port of ports) {
    try {
      const server = await listenAt({ ...config, port }, running);
      if (!isPortGiven) rememberPort(layout, Number(server.info.port));
      return server;
    } catch (error) {
      if (hasCode(error, 'EADDRINUSE') && port !== ports.at(-1)) continue;
      await running.close();
      throw toListenError(error, { ...config, port });
    }
  }
  throw new Error('No port to try');
};

interface Socket {
  path: string;
  close(): void;
}

/** Listens on the given socket, or the default one. Without a default socket the daemon runs with its port only. */
const listenOnSocket = async (
  wanted: string | undefined,
  url: string,
  server: Server,
  running: Running,
): Promise<Socket | undefined> => {
  const usual = defaultSocketPath(url, running, wanted);
  const path = wanted === NO_SOCKET ? undefined : (wanted ?? usual);
  if (path === undefined) return undefined;
  try {
    const socket = await serveSocket(path, server.listener);
    limitConnections(socket, mostOpenFiles(), running.service.log);
    return { path, close: () => void socket.close() };
  } catch (error) {
    if (wanted === undefined) return withoutSocket(error, running);
    await server.stop();
    await running.close();
    throw error;
  }
};

// Also called if another socket is used: the default directories must exist for sandboxes to cover them.
const defaultSocketPath = (url: string, running: Running, wanted?: string): string | undefined => {
  try {
    return prepareDefaultSocket(url, running.service.config.env);
  } catch (error) {
    return wanted === undefined ? withoutSocket(error, running) : undefined;
  }
};

const withoutSocket = (error: unknown, { service: { log } }: Running): undefined => {
  log.warn({ why: messageOf(error) }, 'no default socket: commands use the port');
  return undefined;
};

const listenAt = async ({ host, port }: Config, { service }: Running): Promise<Server> => {
  const server = createServer({ sections, console: operatorConsole, service, host, port });
  limitConnections(server.listener, mostOpenFiles(), service.log);
  await server.start();
  return server;
};

const urlOf = ({ host }: Config, { info }: Server): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${info.port}`;
