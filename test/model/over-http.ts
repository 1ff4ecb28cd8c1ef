/** The calls as requests to the real routes. Every answer is held against what the routes declare before it counts. */
import assert from 'node:assert/strict';
import { createLanguageServers } from '../../lib/code/language-server/servers.ts';
import { createSetups } from '../../lib/code/worktrees/needs.ts';
import { createServer } from '../../lib/daemon/server.ts';
import { ERRORS, type ErrorCode } from '../../lib/errors.ts';
import { createFeed } from '../../lib/events/feed/feed.ts';
import { createDispatcher } from '../../lib/events/webhooks/dispatcher.ts';
import { createLinkWork } from '../../lib/host/links/background.ts';
import type { Log } from '../../lib/log.ts';
import type { Service } from '../../lib/service.ts';
import { createGit } from '../../lib/tools/git/run/create-git.ts';
import { createRuns } from '../../lib/tools/process/runs.ts';
import { createExporter } from '../../lib/transfer/export/exporter.ts';
import { createEngine } from '../../lib/work/sessions/live/engine.ts';
import { sections } from '../../routes/index.ts';
import type { Case } from '../../store/records/case.ts';
import type { Store } from '../../store/store.ts';
import { createIdempotencyStore } from '../../store/workspace/idempotency.ts';
import { assertDeclared } from '../helpers/declared.ts';
import { STATE_DIR } from '../helpers/state-dir.ts';
import { VERSION } from '../helpers/version.ts';
import type { ActiveCall } from './calls.ts';
import { tagOf } from './texts.ts';
import { Violation } from './world.ts';

export interface Front {
  /** Makes a call; undefined where there is no request for it. */
  request(call: ActiveCall): Promise<{ record: Case | undefined }> | undefined;
}

/** The server in front of a store, that nobody watches and no session runs in. */
export const openFront = async (store: Store): Promise<Front> => {
  const service = serviceOn(store);
  const server = createServer({
    sections,
    service,
    host: '127.0.0.1',
    port: PORT,
  });
  await server.initialize();
  return {
    request: (active) => {
      const request = requestOf(active);
      return request && answered(server, request, active);
    },
  };
};

const PORT = 4870;

const serviceOn = (store: Store): Service => {
  const log = silent();
  return {
    config: {
      workspace: store.layout.root,
      repo: undefined,
      host: '127.0.0.1',
      port: PORT,
      dev: false,
      trust: true,
      state: STATE_DIR,
      log_level: 'silent',
      env: {},
    },
    version: VERSION,
    started: Promise.resolve(),
    log,
    store,
    git: createGit({ env: {} }),
    providers: noSession,
    codeHost: noSession,
    sandbox: noSession,
    network: noSession,
    setups: createSetups(),
    languageServers: createLanguageServers(),
    links: createLinkWork(),
    address: { url: undefined },
    mcp: noSession,
    doors: { prepare: noSession, open: noSession, openPort: noSession },
    leaving: new Set(),
    trusted: new Set(),
    engine: createEngine(store),
    dispatcher: createDispatcher({ store, log, version: VERSION.version }),
    feed: createFeed(store),
    attention: { start: noSession, list: noSession, update: noSession, close: noSession },
    exporter: createExporter(store),
    firstAnswers: createIdempotencyStore(store),
    runs: createRuns(),
    keyring: { counts: () => true, add: () => undefined },
    requiresKey: () => false,
    consoleSessions: { open: () => '', keyOf: () => undefined },
    prove: () => '',
    callers: { callerOf: async () => 'operator' },
  };
};

const noSession = (): never => {
  throw new Error('No session runs here');
};

const silent = (): Log => {
  const drop = (): void => undefined;
  return { debug: drop, info: drop, warn: drop, error: drop };
};

interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** As the routes name it. */
  path: string;
  body?: unknown;
}

const ITEM = '/cases/{id}';

const requestOf = ({ call }: ActiveCall): Request | undefined => {
  switch (call.do) {
    case 'create':
      return { method: 'POST', path: '/cases', body: { title: call.title, type: 'bug' } };
    case 'title':
      return { method: 'PUT', path: ITEM, body: { title: call.value } };
    case 'description':
      return { method: 'PUT', path: ITEM, body: { description: call.value } };
    case 'state':
      return { method: 'PUT', path: `${ITEM}/state`, body: { state: call.value } };
    case 'attach':
      return {
        method: 'POST',
        path: `${ITEM}/proof`,
        body: { type: 'log', content: call.content },
      };
    case 'verify':
      return { method: 'PUT', path: `${ITEM}/proof/{pid}/verify` };
    case 'remember':
      return { method: 'PUT', path: `${ITEM}/memory/{filename}`, body: call.text };
    case 'delete':
      return { method: 'DELETE', path: ITEM };
    case 'get':
      return { method: 'GET', path: ITEM };
    default:
      return undefined;
  }
};

type Server = Awaited<ReturnType<typeof createServer>>;
type Answer = Awaited<ReturnType<Server['inject']>>;

const answered = async (
  server: Server,
  request: Request,
  active: ActiveCall,
): Promise<{ record: Case | undefined }> => {
  const { method, path, body } = request;
  const answer = await server.inject({
    method,
    url: path
      .replace('{id}', active.id)
      .replace('{pid}', active.proof)
      .replace('{filename}', 'file' in active.call ? active.call.file : ''),
    headers: {
      host: `localhost:${PORT}`,
      ...(body !== undefined && { 'content-type': typeof body === 'string' ? TEXT : JSON_TYPE }),
      ...(active.tag !== undefined && { 'if-match': `"${active.tag}"` }),
    },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  if (answer.statusCode >= 400) throw refusalOf(request, answer);
  return { record: checkAnswer(request, answer, active) };
};

const TEXT = 'text/markdown';
const JSON_TYPE = 'application/json';

// An error with the code of the problem, which has to be whole and one that the document declares.
const refusalOf = ({ method, path }: Request, answer: Answer): Error => {
  const { statusCode: status, payload } = answer;
  const problem = JSON.parse(payload) as Record<string, unknown>;
  const code = problem.code as ErrorCode;
  const type = String(answer.headers['content-type']);
  try {
    assertDeclared({ method, path, status, type, body: problem });
    assert.ok(type.startsWith('application/problem+json'));
    assert.deepEqual([problem.status, ERRORS[code]?.status], [status, status]);
    assert.equal(typeof problem.detail, 'string');
  } catch (error) {
    return new Violation(`${method} ${path} has no such problem: ${payload}: ${error}`);
  }
  return Object.assign(new Error(String(problem.detail)), { code });
};

const checkAnswer = (
  { method, path }: Request,
  { statusCode, headers, payload }: Answer,
  active: ActiveCall,
): Case | undefined => {
  const fail = (what: string): never => {
    throw new Violation(`${method} ${path} answered ${statusCode}, ${what}: ${payload}`);
  };
  const expected = { POST: 201, PUT: 200, GET: 200, DELETE: 204 }[method];
  if (statusCode !== expected) fail(`not ${expected}`);
  if (method === 'DELETE') return undefined;
  active.etag = /^"([0-9a-f]{32})"$/.exec(String(headers.etag))?.[1];
  if (active.etag === undefined) fail('without an ETag');
  if (path.endsWith('{filename}')) {
    if (active.etag !== tagOf(payload)) fail(`with the ETag of something else, ${active.etag}`);
    return undefined;
  }
  const record = JSON.parse(payload) as { id: string };
  const url = `${path.replace('{id}', active.id)}/${record.id}`;
  if (method === 'POST' && headers.location !== url) fail(`with Location ${headers.location}`);
  if (!path.includes('/proof')) return record as Case;
  if (active.proof !== record.id) fail(`but the proof is ${active.proof}`);
  return undefined;
};
