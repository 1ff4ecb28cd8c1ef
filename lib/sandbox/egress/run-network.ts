import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { orElse } from '../../../store/base/attempt.ts';
import type { NetworkRules } from '../../../store/records/applied.ts';
import type { Environment } from '../../tools/process/environment.ts';
import type { OwnNetwork } from '../view.ts';
import { NET_DIR } from '../view.ts';
import { type Authority, isLoopback, readAuthority } from './authority.ts';
import type { Doors } from './doors.ts';
import type { AnswerMcp } from './mcp-door.ts';
import type { NetworkNews } from './proxy.ts';
import { makeSocketDir } from './socket-dir.ts';
import { proxiesOf, proxyEnvironment, type Source } from './upstream.ts';

/** The loopback port of the proxy and MCP inside the sandbox. */
export const RELAY_PORT = 14_870;

export interface RunNetworkOptions {
  rules: NetworkRules;
  /** The daemon's own environment. */
  env: Source;
  /** The variables of its programs: loopback services in them are allowed. */
  given: Source;
  /** Accepts its connections. */
  doors: Doors;
  /** The token for MCP; undefined: no access. */
  token: string | undefined;
  mcp: AnswerMcp;
  tell: (told: NetworkNews) => void;
}

/** The open network of a run. */
export interface OpenNetwork<V = 'host' | OwnNetwork> {
  /** For the sandbox's view. */
  view: V;
  /** The environment of a program of the run, from the one that it would have elsewhere. */
  environment(env: Environment): Environment;
  /** Closes all connections of the run and removes its sockets. Resolves after the last report. */
  close(): Promise<void>;
}

/** Opens the network of one run. Its relay waits for the sockets. Throws if they cannot be created. */
export const openRunNetwork = (options: RunNetworkOptions): OpenNetwork<OwnNetwork> => {
  const { rules, env, given, doors, token, mcp, tell } = options;
  const local = localTargets(rules.allow_local ?? [], given);
  const allow = typeof rules.network === 'object' ? rules.network.allow : undefined;
  const egress = { allow, local, env: proxiesOf({ ...env, ...given }) };
  const dir = makeSocketDir();
  const inside = onePerPort(local);
  const task = { dir, port: RELAY_PORT, rules: egress, inside, token };
  const leave = doors.open(task, { mcp, tell, lost: (reason) => tell(lostNews(reason)) });
  const close = async (): Promise<void> => {
    await leave();
    // The next start removes what is left.
    orElse(() => rmSync(dir, { recursive: true, force: true }), undefined);
  };
  const ports = [`${RELAY_PORT}=out`, ...inside.map(({ port }, at) => `${port}=${at + 1}`)];
  const relay = [process.execPath, RELAY, NET_DIR, ...ports, '--'];
  return { view: { dir, relay }, environment, close };
};

// Before version 24, Node reads these certificates as it starts, for longer than all else takes. The relay makes no TLS
// connection: it starts without them, and gives them to the program.
const environment = ({ NODE_EXTRA_CA_CERTS: held, ...env }: Environment): Environment => ({
  ...env,
  ...(held !== undefined && { DOSSIER_EXTRA_CA_CERTS: held }),
  ...proxyEnvironment(RELAY_PORT),
});

// The run lost its whole network, so there is no single destination.
const lostNews = (reason: string): NetworkNews => ({
  host: '*',
  port: 0,
  allowed: false,
  reason: `${reason}; this run has lost its network`,
});

const RELAY = fileURLToPath(new URL('./relay.mjs', import.meta.url));

// Two addresses with the same port share one port inside; the proxy distinguishes them.
const onePerPort = (targets: readonly Authority[]): Authority[] => [
  ...new Map(
    targets.filter(({ port }) => port !== RELAY_PORT).map((target) => [target.port, target]),
  ).values(),
];

/** The services of this machine that a run may reach: those of the settings, and those named in its variables. */
export const localTargets = (listed: readonly string[], given: Source): Authority[] => {
  const found = [...listed, ...Object.entries(given).flatMap(namedIn)]
    .map((text) => readAuthority(text))
    .filter((target): target is Authority => target !== undefined);
  const texts = new Map(found.map((target) => [`${target.host} ${target.port}`, target]));
  return [...texts.values()].slice(0, MOST_TARGETS);
};

const MOST_TARGETS = 64;

// Skips proxy variables: the daemon's proxy uses the operator's, not the run.
const namedIn = ([name, value = '']: [string, string | undefined]): string[] =>
  /proxy$/i.test(name) ? [] : [...value.matchAll(URLS)].flatMap(([url]) => loopbackIn(url));

const URLS = /[a-z][a-z0-9+.-]*:\/\/[^\s"'<>\\]+/gi;
const USUAL: Record<string, string> = {
  'http:': '80',
  'https:': '443',
  'ws:': '80',
  'wss:': '443',
};

const loopbackIn = (text: string): string[] => {
  const url = orElse(() => new URL(text), undefined);
  if (url === undefined || !isLoopback(url.hostname.replace(/^\[|\]$/g, ''))) return [];
  const port = url.port || USUAL[url.protocol];
  return port === undefined ? [] : [`${url.hostname}:${port}`];
};
