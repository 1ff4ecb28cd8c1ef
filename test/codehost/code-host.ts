/** A GitHub to test against: README.md beside this tells how to begin, and where what is. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { atEnd } from '../helpers/at-end.ts';
import { type GitServer, type Hosted, openGitServer } from '../helpers/git-server.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { startEmulated } from './emulated.ts';
import { type Failures, planFailures } from './failures.ts';
import { type Recorded, serveFront } from './front.ts';
import { type HostIssues, hostIssues } from './host-issues.ts';
import { type HostPulls, hostPulls } from './host-pulls.ts';
import { type HostRepositories, hostRepositories, hostRepository } from './host-repositories.ts';
import { openJudge } from './judge.ts';
import { openTripwire } from './tripwire.ts';
import type { Attached, Credential, Role, World } from './world.ts';

export interface CodeHostOptions {
  /** A GitHub Enterprise server: its API is below /api/v3 and at /api/graphql. */
  enterprise?: boolean;
  /** The host's name in links; `github.com`, or `ghe.example` for an Enterprise server. */
  host_name?: string;
  private?: boolean;
  /** What the operator may; `write` if nothing is said. */
  role?: Role;
  /** What the first commit of `acme/app` holds. */
  files?: Record<string, string>;
  /** More repositories, by full name, owned by `acme`. */
  repositories?: string[];
  /** Findings and tripped wires are left to the test: for the tests of the fake itself. */
  lenient?: boolean;
}

export interface CodeHost {
  /** For GITHUB_API_URL. */
  url: string;
  host_name: string;
  /** Of the operator. */
  token: string;
  /** A unix socket for gh's `http_unix_socket`. */
  socket: string;
  /** `acme/app`, bare, with one commit on `main`. */
  repository: Hosted;
  issues: HostIssues;
  pulls: HostPulls;
  repositories: HostRepositories;
  fail: Failures['fail'];
  /** All that came, oldest first. */
  requests: Recorded[];
  /** Those that were no reads; of GraphQL those with a mutation. */
  writes(): Recorded[];
  gitUrl(owner: string, repository: string): string;
  /** The server that git talks to, with faults and requests of its own. */
  git: GitServer;
  /** Another token. */
  /** Has a page of the host answer so. */
  attach(path: string, attached: Attached): void;
  addToken(credential?: Partial<Credential>): string;
  revoke(token: string): void;
  setRate(rate: Partial<World['rate']>): void;
  assertNeverMerged(): void;
  /** What the judge and the tripwire hold; whoever clears a list has answered for it. */
  findings: string[];
  tripped: string[];
  /** Nobody is there any more: connections are refused. */
  stop(): Promise<void>;
}

const MAIN = 'acme/app';
const PEOPLE = ['operator', 'colleague', 'reviewer', 'stranger'];
const HOUR_S = 3600;

/** Starts one for this test; at its end nothing is left of it, no merge was asked for, and the judge found nothing. */
export const startCodeHost = async (
  t: TestContext,
  options: CodeHostOptions = {},
): Promise<CodeHost> => {
  const { enterprise = false } = options;
  const socket = join(temporaryDirectory(t), 'host.sock');
  const servers = [createServer(), createServer()] as const;
  atEnd(t, () => Promise.all(servers.map(closed)));
  const port = await listen(servers, socket);
  const token = tokenOf('ghp_');
  const world = await worldOf(t, { ...options, token, port });
  world.credentials.set(token, { login: 'operator', scopes: SCOPES });
  const [judge, tripwire, failures] = [openJudge(), openTripwire(), planFailures()];
  const requests: Recorded[] = [];
  const serve = serveFront({ world, judge, tripwire, failures, requests, enterprise });
  for (const server of servers) server.on('request', serve);
  if (options.lenient !== true) {
    atEnd(t, judge.assertFaultless);
    atEnd(t, tripwire.assertNeverMerged);
  }
  const repository = await hostRepository(world, MAIN, options.files);
  for (const name of options.repositories ?? []) await hostRepository(world, name);
  return {
    ...{ url: world.url, host_name: world.host_name, token, socket, repository, git: world.git },
    ...{ issues: hostIssues(world, MAIN), pulls: hostPulls(world, MAIN) },
    repositories: hostRepositories(t, world, MAIN),
    fail: failures.fail,
    requests,
    writes: () => requests.filter(isWrite),
    gitUrl: (owner, name) => `${world.git.url}/${owner}/${name}.git`,
    attach: (path, attached) => void world.attached.set(path, attached),
    addToken: (credential = {}) => addToken(world, credential),
    revoke: (revoked) => void world.credentials.delete(revoked),
    setRate: (rate) => void Object.assign(world.rate, rate),
    assertNeverMerged: tripwire.assertNeverMerged,
    findings: judge.findings,
    tripped: tripwire.touched,
    stop: async () => void (await Promise.all(servers.map(closed))),
  };
};

/** What takes a moment to start, the emulated host and git's, and all that is still empty. */
const worldOf = async (
  t: TestContext,
  options: CodeHostOptions & { token: string; port: number },
): Promise<World> => {
  const { enterprise = false, role = 'write', token, port } = options;
  const url = `http://127.0.0.1:${port}${enterprise ? '/api/v3' : ''}`;
  const host_name = options.host_name ?? (enterprise ? 'ghe.example' : 'github.com');
  const names = [MAIN, ...(options.repositories ?? [])];
  return {
    ...{ url, host_name, people: PEOPLE, roles: rolesWith(role) },
    git: await openGitServer(t, token),
    emulated: await startEmulated(t, {
      ...{ url, host_name },
      people: PEOPLE.map((login) => ({ login, name: `The ${login}` })),
      repositories: names.map((name) => {
        const [owner = '', repo = ''] = name.split('/');
        return { owner, name: repo, private: options.private ?? false };
      }),
    }),
    ...{ repositories: new Map(), ids: new Map(), credentials: new Map(), forks: new Map() },
    ...{ archived: new Set(), renamed: new Map(), moved: new Map(), sizes: new Map() },
    ...{ runs: new Map(), checks: new Map(), lines: new Map(), attached: new Map() },
    ...{ mergeable: new Map(), merged: new Map(), stale: new Map(), resolved: new Set() },
    ...{ statuses: [], links: [], told: [], reviews_required: true },
    rate: { limit: 5000, remaining: 5000, reset: Math.ceil(Date.now() / 1000) + HOUR_S },
  };
};

const rolesWith = (role: Role): Map<string, Role> =>
  new Map<string, Role>([
    ['operator', role],
    ['colleague', 'admin'],
    ['reviewer', 'write'],
    ['stranger', 'none'],
  ]);

const listen = async (servers: readonly [Server, Server], socket: string): Promise<number> => {
  const [onPort, onSocket] = servers;
  // A connection that is closed while nobody asks would be a failure that no test has planned.
  for (const server of servers) server.keepAliveTimeout = 0;
  onPort.listen(0, '127.0.0.1');
  onSocket.listen(socket);
  await Promise.all(servers.map((server) => once(server, 'listening')));
  return (onPort.address() as AddressInfo).port;
};

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

const SCOPES = 'repo, read:org, gist';

/** Looks like one of GitHub's, and stands nowhere else, so that a test may search for it. */
const tokenOf = (kind: string): string => `${kind}${randomBytes(18).toString('hex')}`;

const addToken = ({ credentials }: World, credential: Partial<Credential>): string => {
  const { login = 'operator', scopes = SCOPES, ...rest } = credential;
  const token = tokenOf(scopes === null ? 'github_pat_' : 'ghp_');
  credentials.set(token, { login, scopes, ...rest });
  return token;
};

const isWrite = ({ method, path, body }: Recorded): boolean => {
  if (path !== '/graphql') return method !== 'GET' && method !== 'HEAD';
  return /(^|\})\s*mutation\b/.test(String((body as { query?: unknown })?.query));
};
