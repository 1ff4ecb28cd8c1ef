/** Real git over HTTP on loopback: `git http-backend` behind a token, and what can go wrong between the two. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { atEnd } from './at-end.ts';
import { gitIn, type TestRepository, temporaryDirectory } from './repository.ts';

/**
 * What goes wrong with every request: a status; a page of a proxy; nothing at all, until the test ends; the connection
 * is cut in the middle of a pack on its way here (`cut push`, before git has it), of what a push that was taken is
 * answered (`cut receipt`), or of every answer of git's (`cut answer`); or these come in small pieces.
 */
export type Fault =
  | number
  | 'page'
  | 'silence'
  | 'cut push'
  | 'cut receipt'
  | 'cut answer'
  | 'slow';

export interface GitServer {
  /** `http://127.0.0.1:PORT`. */
  url: string;
  /** The password that it takes, with any user name. */
  token: string;
  /** Until it is taken back with `undefined`. */
  fault: Fault | undefined;
  /** Every request: method, path with query, the status that was answered. */
  requests: string[];
  /** Makes a bare repository with the commits of another, and answers its URL and git in it. */
  host(name: string, from: TestRepository): Hosted;
  /** The same with nothing in it. */
  hostEmpty(name: string): Hosted;
  close(): Promise<void>;
}

export interface Hosted extends TestRepository {
  url: string;
  /** The same with user and token in it. */
  url_with_token: string;
}

/** Starts one; it is closed after the test. */
export const openGitServer = async (t: TestContext, token = 's3cret-t0ken'): Promise<GitServer> => {
  const root = temporaryDirectory(t);
  const state: Pick<GitServer, 'fault' | 'requests'> = { fault: undefined, requests: [] };
  const server = createServer((request, response) => {
    response.once('close', () =>
      state.requests.push(`${request.method} ${request.url} ${response.statusCode}`),
    );
    serve(request, response, { root, token, fault: state.fault });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  atEnd(t, close);
  const with_token = url.replace('://', `://somebody:${token}@`);
  const hosted = (name: string, bare: TestRepository): Hosted => ({
    ...bare,
    url: `${url}/${name}`,
    url_with_token: `${with_token}/${name}`,
  });
  return Object.assign(state, {
    url,
    token,
    close,
    host: (name: string, from: TestRepository) =>
      hosted(name, hostedBare(join(root, name), from.root)),
    hostEmpty: (name: string) => hosted(name, emptyBare(join(root, name))),
  });
};

/** A bare repository at a path, with the commits of another. */
export const hostedBare = (path: string, from: string): TestRepository => {
  mkdirSync(path, { recursive: true });
  const git = gitIn(path);
  git('clone', '--quiet', '--bare', from, path);
  git('config', 'http.receivepack', 'true');
  return { root: path, git };
};

const emptyBare = (path: string): TestRepository => {
  mkdirSync(path, { recursive: true });
  const git = gitIn(path);
  git('init', '--quiet', '--bare', '--initial-branch=main');
  appendFileSync(join(path, 'config'), '[http]\n\treceivepack = true\n');
  return { root: path, git };
};

interface Served {
  root: string;
  token: string;
  fault: Fault | undefined;
}

const serve = (request: IncomingMessage, response: ServerResponse, served: Served): void => {
  const { fault, token } = served;
  if (fault === 'silence') return;
  const given = passwordOf(request.headers.authorization);
  if (typeof fault === 'number') plain(response, fault, 'A fault.\n');
  else if (fault === 'page') response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
  else if (given === undefined) challenge(response);
  else if (given !== token) plain(response, 401, 'Not you.\n');
  else backend(request, response, served);
};

const PAGE = `<!doctype html>\n<html>\n<title>Log in to the network</title>\n${'<p>Words.</p>\n'.repeat(20)}</html>\n`;

const challenge = (response: ServerResponse): void => {
  response.setHeader('www-authenticate', 'Basic realm="git"');
  plain(response, 401, 'Who are you?\n');
};

const plain = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
};

const passwordOf = (header: string | undefined): string | undefined => {
  const [, encoded] = /^Basic (.*)$/.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  return Buffer.from(encoded, 'base64').toString('utf8').split(':').slice(1).join(':');
};

// RFC 3875, as much of it as git speaks.
const backend = (
  request: IncomingMessage,
  response: ServerResponse,
  { root, fault }: Served,
): void => {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  const header = (name: string): string => String(request.headers[name] ?? '');
  const child = spawn(BACKEND, {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_NOSYSTEM: '1',
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: header('content-type'),
      CONTENT_LENGTH: header('content-length'),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      GIT_PROTOCOL: header('git-protocol'),
      REMOTE_USER: 'somebody',
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const isPack = request.method === 'POST';
  child.stdin.on('error', () => undefined);
  if (isPack && fault === 'cut push') {
    request.once('data', () => response.destroy());
    child.kill();
    return;
  }
  request.pipe(child.stdin);
  const isReceipt = isPack && pathname.endsWith('/git-receive-pack');
  const cut = fault === 'cut receipt' && isReceipt ? 'cut answer' : fault;
  void answer(child.stdout, response, isPack ? cut : undefined);
};

const BACKEND = join(
  execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(),
  'git-http-backend',
);

const PIECE = 512;

const answer = async (
  stdout: AsyncIterable<Buffer>,
  response: ServerResponse,
  fault: Fault | undefined,
): Promise<void> => {
  const parts: Buffer[] = [];
  for await (const part of stdout) parts.push(part);
  const whole = Buffer.concat(parts);
  const end = whole.indexOf('\r\n\r\n');
  const headers = whole.subarray(0, end).toString('latin1').split('\r\n');
  const body = whole.subarray(end + 4);
  for (const line of headers) {
    const [name = '', value = ''] = line.split(/: ?(.*)/s);
    if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  if (fault === 'cut answer') {
    response.write(body.subarray(0, Math.min(PIECE, body.length - 1)), () => response.destroy());
    return;
  }
  if (fault === 'slow') await slowly(response, body);
  else response.write(body);
  response.end();
};

const slowly = async (response: ServerResponse, body: Buffer): Promise<void> => {
  const pieces = 20;
  const size = Math.ceil(body.length / pieces);
  for (let at = 0; at < body.length && !response.destroyed; at += size) {
    response.write(body.subarray(at, at + size));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
