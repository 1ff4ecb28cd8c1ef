import { isIP } from 'node:net';
import { settlesWithin } from '../../../store/base/async.ts';
import {
  type Authority,
  authorityText,
  isListed,
  isLocalName,
  isLoopback,
  isMetadataName,
  isSameTarget,
} from './authority.ts';
import type { NetworkEnvironment } from './network-environment.ts';
import { type Source, type Upstream, upstreamFor } from './upstream.ts';

/** The route of a run to a destination, or why there is none. */
export type Route =
  | { kind: 'direct'; addresses: readonly string[] }
  | { kind: 'upstream'; upstream: Upstream }
  | { kind: 'local'; target: Authority }
  | { kind: 'refused'; reason: string }
  | { kind: 'lost'; reason: string };

export interface EgressRules {
  /** The allowed domains; undefined: all. */
  allow: readonly string[] | undefined;
  local: readonly Authority[];
  /** The variables that name the operator's proxy. */
  env: Source;
}

/**
 * Decides the route of a run to a destination. A name is resolved once: a direct route contains the addresses that were
 * checked. Never rejects.
 */
export const decideRoute = async (
  goal: Authority,
  scheme: 'http' | 'https',
  rules: EgressRules,
  network: NetworkEnvironment,
): Promise<Route> => {
  const target = rules.local.find((one) => isSameTarget(one, goal));
  if (target !== undefined) return { kind: 'local', target };
  if (rules.allow !== undefined && !isListed(goal, rules.allow))
    return refused(`${authorityText(goal)} is not in network.allow`);
  const named = namedLocal(goal, network);
  if (named !== undefined) return refused(named);
  const upstream = upstreamFor(rules.env, goal, scheme);
  if (typeof upstream === 'string') return refused(upstream);
  return upstream === undefined ? direct(goal, network) : behind(goal, upstream, network);
};

const refused = (reason: string): Route => ({ kind: 'refused', reason });

const namedLocal = (goal: Authority, network: NetworkEnvironment): string | undefined => {
  const { host } = goal;
  if (isMetadataName(host)) return localText(goal, 'a cloud metadata service', network);
  if (isLocalName(host) || network.isOwnName(host)) return localText(goal, 'this machine', network);
  const kind = isIP(host) === 0 ? undefined : network.locality(host);
  return kind && localText(goal, kind, network);
};

// Suggests allow_local only where it works: for loopback names, and not for the daemon's port.
const localText = ({ host, port }: Authority, kind: string, network: NetworkEnvironment): string =>
  kind === 'this machine' && isLoopback(host) && !network.isOwnPort(port)
    ? `${host} is this machine, which runs may not reach. To allow it, set allow_local: ["127.0.0.1:${port}"] in workspace.md`
    : `${host} is ${kind}, which runs may not reach`;

const direct = async (goal: Authority, network: NetworkEnvironment): Promise<Route> => {
  let addresses: string[];
  try {
    addresses = isIP(goal.host) === 0 ? await network.resolve(goal.host) : [goal.host];
  } catch {
    return { kind: 'lost', reason: `${goal.host} has no address` };
  }
  const local = localAmong(goal, addresses, network);
  return local === undefined ? { kind: 'direct', addresses } : refused(local);
};

// One forbidden address is enough: a name with both kinds may be an attack.
const localAmong = (
  goal: Authority,
  addresses: readonly string[],
  network: NetworkEnvironment,
): string | undefined => {
  const kinds = addresses.map((address) => network.locality(address));
  const kind = kinds.find((one) => one !== undefined);
  return kind && localText(goal, kind, network);
};

const RESOLVE_MS = 2000;

// Only a proxy on this machine can reach its loopback, by a name that the proxy resolves.
const behind = async (
  goal: Authority,
  upstream: Upstream,
  network: NetworkEnvironment,
): Promise<Route> => {
  const route: Route = { kind: 'upstream', upstream };
  if (!(await isHere(upstream.host, network))) return route;
  const daemons = await Promise.all(
    ['127.0.0.1', '::1'].map((address) => network.probe.ask(address, goal.port)),
  );
  if (daemons.includes('daemon'))
    return refused(
      `port ${goal.port} of this machine, where the proxy runs, belongs to a Dossier daemon`,
    );
  const resolved = network.resolve(goal.host).catch((): string[] => []);
  await settlesWithin(resolved, RESOLVE_MS);
  const addresses = await Promise.race([resolved, Promise.resolve<string[]>([])]);
  const local = localAmong(goal, addresses, network);
  return local === undefined ? route : refused(local);
};

const isHere = async (host: string, network: NetworkEnvironment): Promise<boolean> => {
  const addresses = isIP(host) === 0 ? await network.resolve(host).catch(() => []) : [host];
  return addresses.some((address) => network.locality(address) === 'this machine');
};
