import type { Server } from '@hapi/hapi';
import { operatorConsole } from '../../routes/console/console.ts';
import { sections } from '../../routes/index.ts';
import { messageOf } from '../../store/base/message-of.ts';
import { settlesWithin } from '../../store/base/within.ts';
import { hasCode } from '../../store/fs/durable.ts';
import { layoutOf } from '../../store/layout.ts';
import { makeWorkspaceFiles } from '../../store/workspace/workspace-files.ts';
import { type Config, keepScratchIn } from '../config.ts';
import { EVENTS } from '../daemon/events.ts';
import { createServer } from '../daemon/server.ts';
import { type Running, startService } from '../daemon/startup.ts';
import { missingProtections } from '../daemon/system/machine.ts';
import { versionInfo } from '../daemon/version.ts';
import { createLog, type Log } from '../log.ts';
import { createKeyCheck } from '../mcp/serve.ts';
import { lookAtGround } from '../sandbox/ground.ts';
import type { Call } from './args/command.ts';
import { keepLogSmall } from './connection/daemon-log.ts';
import { closeInherited, askedToStop, outliveLimits } from './inherited.ts';
import { toStandardOutput as say } from './output/terminal.ts';
import { checkHost, checkPort, checkRepository, needWorkspace, whyNotListening, portsToTry, rememberPort } from './places.ts';
import { checkSocketPlace, defaultSocketPlace, serveSocket } from './socket.ts';
import { askAboutTrust } from './trust-question.ts';

const DRAIN_MS = 2000;
const CRASH_MS = 5000;
const UNHELD_MS = 500;
const NO_SOCKET = 'none';

/**
 * Runs the daemon until SIGTERM or SIGINT. Says in one line on standard output where it listens, once the store is
 * read and the API answers; again where it starts anew, after another daemon had the workspace while this one was stopped.
 * Throws a Refusal where it cannot start.
 */
export const serve = async ({ config, values }: Call): Promise<number> => {
  closeInherited();
  const asked = askedToStop();
  outliveLimits();
  const log = await createLog(config.log_level);
  // Nothing is made where it is refused to start.
  checkHost(config);
  await checkRepository(config);
  const isPortGiven = (values.port ?? config.env.DOSSIER_PORT) !== undefined;
  if (isPortGiven) await checkPort(config);
  const wanted = values.socket ?? config.env.DOSSIER_SOCKET;
  if (wanted !== undefined && wanted !== NO_SOCKET) checkSocketPlace(wanted);
  needWorkspace(config);
  keepLogSmall(layoutOf(config.workspace));
  const crash = endOnCrash(log);
  return live({ config, log, isPortGiven, wanted, port: undefined }, asked, crash);
};

// One life after the other, until it is asked to stop.
const live = async (
  first: Beginning,
  asked: ReturnType<typeof askedToStop>,
  crash: Crash,
): Promise<number> => {
  let { port } = first;
  let { workspace } = first.config;
  for (;;) {
    const config = { ...first.config, workspace };
    const life = await begin({ ...first, config, port }, crash);
    const { signal, moved } = await Promise.race([
      asked.then((signal) => ({ signal, moved: undefined })),
      life.anew.then((moved) => ({ signal: undefined, moved })),
    ]);
    first.log.info({ signal, moved }, signal === undefined ? 'Starting anew' : 'Stopping');
    await life.end();
    if (signal !== undefined) return 0;
    [port, workspace] = [life.port, moved ?? workspace];
  }
};

interface Beginning {
  config: Config;
  log: Log;
  isPortGiven: boolean;
  /** The path of its socket. */
  wanted: string | undefined;
  /** Where the daemon listened before it starts anew. */
  port: number | undefined;
}

interface Life {
  port: number;
  /** It has to start anew: where the workspace was moved to, or at the same place. */
  anew: Promise<string | undefined>;
  end(): Promise<void>;
}

const begin = async (beginning: Beginning, crash: Crash): Promise<Life> => {
  const { config, log, wanted } = beginning;
  const running = await start(config, log);
  crash.close = running.close;
  const server = await listen(beginning, running);
  const url = urlOf(config, server);
  const socket = await listenBesides(wanted, url, server, running);
  running.service.address.url = url;
  running.open.lock.tell({ url, ...(socket && { socket: socket.path }) });
  say(`Dossier is ready: ${url}/dashboard (workspace ${config.workspace})`);
  const telling = setTimeout(logMissingProtections, UNHELD_MS, running, log);
  const stopping = new AbortController();
  askAboutTrust(running.service, stopping.signal).catch((error: unknown) =>
    log.error({ err: error }, 'What waits to be trusted could not be asked about'),
  );
  return {
    port: Number(server.info.port),
    anew: Promise.race([running.open.moved, running.open.outdated.then(() => undefined)]),
    end: async () => {
      stopping.abort();
      clearTimeout(telling);
      socket?.close();
      await server.stop({ timeout: DRAIN_MS });
      await running.close();
    },
  };
};

// Once the first calls are answered: while the sandbox is tried out nothing else is.
const logMissingProtections = ({ service }: Running, log: Log): void => {
  const sandbox = service.sandbox();
  for (const { about, sentence } of missingProtections({ ...lookAtGround(), sandbox }))
    if (sandbox.kind === 'none') log.warn({ about }, sentence);
    else log.info({ about }, sentence);
};

const start = async (config: Config, log: Log): Promise<Running> => {
  keepScratchIn(layoutOf(config.workspace).tmp);
  const running = await startService(config, log, versionInfo());
  const made = await makeWorkspaceFiles(running.service.store.layout);
  if (made.length > 0) log.info({ made }, 'Made what the workspace had not');
  running.watching.catch((error: unknown) =>
    log.error({ err: error }, 'Changes made by hand are not seen'),
  );
  return running;
};

// After an error that nobody caught, nobody knows what state this process is in: what it would do is better left undone.
const endOnCrash = (log: Log): Crash => {
  const crash: Crash = { close: async () => undefined };
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'Nobody foresaw this: the daemon ends');
    void settlesWithin(crash.close(), CRASH_MS).then(() => process.exit(1));
  });
  return crash;
};

interface Crash {
  /** Ends what runs. */
  close: () => Promise<void>;
}

const portsFor = ({ config, isPortGiven, port }: Beginning): number[] => {
  const usual = isPortGiven ? [config.port] : portsToTry(layoutOf(config.workspace), config);
  return port === undefined ? usual : [port, ...usual];
};

const listen = async (beginning: Beginning, running: Running): Promise<Server> => {
  const { config, isPortGiven } = beginning;
  const layout = layoutOf(config.workspace);
  const ports = portsFor(beginning);
  for (const port of ports) {
    try {
      const server = await listenAt({ ...config, port }, running);
      if (!isPortGiven) rememberPort(layout, Number(server.info.port));
      return server;
    } catch (error) {
      if (hasCode(error, 'EADDRINUSE') && port !== ports.at(-1)) continue;
      await running.close();
      throw whyNotListening(error, { ...config, port });
    }
  }
  throw new Error('There is a port to try');
};

interface Socket {
  path: string;
  close(): void;
}

/** Listens on the socket that was asked for, or the default one. Without that the daemon runs, and is called by its port. */
const listenBesides = async (
  wanted: string | undefined,
  url: string,
  server: Server,
  running: Running,
): Promise<Socket | undefined> => {
  const usual = usualPlace(url, running, wanted);
  const path = wanted === NO_SOCKET ? undefined : (wanted ?? usual);
  if (path === undefined) return undefined;
  try {
    const socket = await serveSocket(path, server.listener);
    return { path, close: () => void socket.close() };
  } catch (error) {
    if (wanted === undefined) return withoutSocket(error, running);
    await server.stop();
    await running.close();
    throw error;
  }
};

// Also where another is listened on: its directories have to be there for sandboxes to cover them.
const usualPlace = (url: string, running: Running, wanted?: string): string | undefined => {
  try {
    return defaultSocketPlace(url, running.service.config.env);
  } catch (error) {
    return wanted === undefined ? withoutSocket(error, running) : undefined;
  }
};

const withoutSocket = (error: unknown, { service: { log } }: Running): undefined => {
  log.warn({ why: messageOf(error) }, 'No default socket: commands call by the port');
  return undefined;
};

const listenAt = async ({ host, port }: Config, { service }: Running): Promise<Server> => {
  const checkKey = createKeyCheck(service);
  const console = operatorConsole;
  const { log } = service;
  const options = { sections, console, events: EVENTS, service, log, host, port, checkKey };
  const server = createServer(options);
  await server.start();
  return server;
};

const urlOf = ({ host }: Config, { info }: Server): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${info.port}`;
