import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Config } from '../../lib/config.ts';
import { createServer } from '../../lib/daemon/server.ts';
import { startService } from '../../lib/daemon/startup.ts';
import type { Log } from '../../lib/log.ts';
import type { Service } from '../../lib/service.ts';
import { operatorConsole } from '../../routes/console/console.ts';
import { sections } from '../../routes/index.ts';
import { type EventBody, isStarred } from '../../store/records/event.ts';
import { atEnd } from './at-end.ts';
import { assertDeclared } from './declared.ts';
import { keptServer } from './kept-server.ts';
import { makeRepository, seenByRuns, type TestRepository } from './repository.ts';
import { STATE_DIR } from './state-dir.ts';
import { assertStream } from './stream.ts';
import { VERSION } from './version.ts';

export interface Answered<T = unknown> {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  body: T;
  text: string;
  bytes: Buffer;
}

export interface Running {
  service: Service;
  workspace: string;
  repository: TestRepository;
  /** Where it listens, if it does. */
  url: string;
  /** Every event of the workspace that `*` of a webhook stands for, in order. */
  events: EventBody[];
  /** Every event of the workspace, in order. */
  told: EventBody[];
  /** What was logged as warning or error. */
  logged: { details: object; message: string }[];
  /** A request as a client on this machine makes it. An object is sent as JSON, a string as Markdown. */
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answered<T>>;
  /** Stops everything and starts it again on the same files, as a restart of the daemon does. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface Options {
  settings?: string;
  env?: Record<string, string>;
  watch?: boolean;
  files?: Record<string, string>;
  /** As with --dev, which is usual in tests. */
  dev?: boolean;
  /** At an address of its own, which a browser can go to. */
  listen?: boolean;
  /** As with --trust, which is usual in tests. */
  trust?: boolean;
  /** A directory that is there; else one of its own is made, and removed after the test. */
  workspace?: string;
  /** A state directory of its own. */
  state?: string;
  /** A repository that is there, such as a clone of one on a code host; else one is made. */
  repository?: TestRepository;
}

/** The directory of a Work item's newest session. */
export const newestSession = ({ workspace }: Running, { path }: { path: string }): string => {
  const sessions = join(workspace, path, 'sessions');
  const [name = ''] = readdirSync(sessions)
    .filter((each) => /^\d{4}-/.test(each))
    .toSorted()
    .slice(-1);
  return join(sessions, name);
};

/** The whole service on a workspace that is there, as a daemon that is started on it finds it. Who starts it stops it. */
export const startOn = (
  workspace: string,
  repository?: string,
  options: Options = {},
): Promise<Running> => start(configOn(workspace, repository, options), options);

/** The whole service on a workspace and a git repository of its own, behind the real server. Nothing in it is replaced. */
export const startForTest = async (t: TestContext, options: Options = {}): Promise<Running> => {
  const root =
    options.workspace ?? seenByRuns(realpathSync(mkdtempSync(join(tmpdir(), 'dossier-'))));
  const files = options.files ?? { 'README.md': '# Sample\n' };
  const repository = options.repository ?? makeRepository(t, { files });
  if (options.settings !== undefined)
    writeFileSync(join(root, 'workspace.md'), `---\n${options.settings}\n---\n`);
  const config = configOn(root, repository.root, options);
  const state = await start(config, options);
  atEnd(t, async () => {
    await state.stop();
    if (options.workspace === undefined) rmSync(root, { recursive: true, force: true });
  });
  return Object.assign(state, { workspace: root, repository });
};

/** How it is configured on a workspace. */
export const configOn = (
  workspace: string,
  repo: string | undefined,
  { env, dev = true, trust = true, state = STATE_DIR }: Options,
): Config => ({
  workspace,
  repo,
  host: '127.0.0.1',
  port: 0,
  dev,
  trust,
  state,
  log_level: 'silent',
  env: { ...process.env, DOSSIER_FOLLOW_LOCKS: '1', ...env },
});

const start = async (config: Config, options: Options): Promise<Running> => {
  const events: EventBody[] = [];
  const logged: Running['logged'] = [];
  const told: EventBody[] = [];
  const { watch = false, listen = false } = options;
  const heard = { events, told, logged, watch, listen };
  let life = await live(config, heard);
  return {
    events,
    told,
    logged,
    workspace: config.workspace,
    repository: undefined as unknown as TestRepository,
    get service() {
      return life.service;
    },
    get url() {
      return life.url;
    },
    call: (...request) => life.call(...request),
    restart: async () => {
      await life.stop();
      life = await live(config, heard);
    },
    stop: () => life.stop(),
  };
};

interface Heard {
  events: EventBody[];
  told: EventBody[];
  logged: Running['logged'];
  watch: boolean;
  listen: boolean;
}

const live = async (config: Config, { events, told, logged, watch, listen }: Heard) => {
  const running = await startService(config, logInto(logged), VERSION);
  const { watching } = await running.begin().catch(async (error: unknown) => {
    await running.close();
    throw error;
  });
  running.service.store.journal.onEvents((records) => {
    const bodies = records.map(({ body }) => body);
    told.push(...bodies);
    events.push(...bodies.filter(({ event_type }) => isStarred(event_type)));
  });
  if (watch) await watching;
  const { service } = running;
  const { hapi, end } = listen ? await listening(service) : await keptServer(service);
  let stopped = false;
  return {
    service: running.service,
    url: hapi.info.uri,
    call: async <T>(
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ): Promise<Answered<T>> => {
      const answer = await hapi.inject({
        method: method as 'GET',
        url: path,
        headers: { host: `localhost:${hapi.info.port}`, ...typeOf(body), ...headers },
        ...(body !== undefined && {
          payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
        }),
      });
      const type = String(answer.headers['content-type']);
      const json = type.includes('json') && answer.payload !== '';
      const content: unknown = json ? JSON.parse(answer.payload) : undefined;
      // Of a stream that hapi has handed over there is no request.
      const { path: declared = '' } = answer.request?.route ?? {};
      assertDeclared({ method, path: declared, status: answer.statusCode, type, body: content });
      assertStream(type, path, answer.payload);
      return {
        status: answer.statusCode,
        headers: answer.headers,
        text: answer.payload,
        bytes: answer.rawPayload,
        body: content as T,
      };
    },
    stop: async () => {
      if (stopped) return;
      stopped = true;
      await end({ timeout: 100 });
      await running.close();
    },
  };
};

const listening = async (service: Service) => {
  const { host } = service.config;
  const options = { sections, console: operatorConsole, service, host, port: 0 };
  const hapi = createServer(options);
  await hapi.start();
  return { hapi, end: hapi.stop.bind(hapi) };
};

const typeOf = (body: unknown): Record<string, string> => {
  if (body === undefined) return {};
  return { 'content-type': typeof body === 'string' ? 'text/markdown' : 'application/json' };
};

const logInto = (logged: Running['logged']): Log => {
  const keep = (details: object, message: string): void => {
    logged.push({ details, message });
  };
  const drop = (): void => undefined;
  return { debug: drop, info: drop, warn: keep, error: keep };
};
