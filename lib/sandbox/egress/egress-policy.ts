import { isIP } from 'node:net';
import { settlesWithin } from '../../../store/base/within.ts';
import {
  type Authority,
  authorityText,
  isListed,
  isLocalName,
  isMetadataName,
} from './authority.ts';
import type { World } from './network-environment.ts';
import { isLoopback, isSameTarget } from './rules.ts';
import { type Source, type Upstream, upstreamFor } from './upstream.ts';

/** How a run gets to a goal, or why it does not. */
export type Way =
  | { kind: 'direct'; addresses: readonly string[] }
  | { kind: 'upstream'; upstream: Upstream }
  | { kind: 'local'; target: Authority }
  | { kind: 'refused'; reason: string }
  | { kind: 'lost'; reason: string };

export interface WayRules {
  /** The domains that may be reached; undefined: all. */
  allow: readonly string[] | undefined;
  local: readonly Authority[];
  /** Where the operator's own proxy is named. */
  env: Source;
}

/**
 * Decides where a run that asks for a goal is led. A name is resolved here, once: a direct way names the very addresses
 * that were looked at. Never rejects.
 */
export const wayTo = async (
  goal: Authority,
  scheme: 'http' | 'https',
  rules: WayRules,
  world: World,
): Promise<Way> => {
  const target = rules.local.find((one) => isSameTarget(one, goal));
  if (target !== undefined) return { kind: 'local', target };
  if (rules.allow !== undefined && !isListed(goal, rules.allow))
    return refused(`${authorityText(goal)} is not among the domains of network.allow`);
  const named = namedLocal(goal, world);
  if (named !== undefined) return refused(named);
  const upstream = upstreamFor(rules.env, goal, scheme);
  if (typeof upstream === 'string') return refused(upstream);
  return upstream === undefined ? direct(goal, world) : behind(goal, upstream, world);
};

const refused = (reason: string): Way => ({ kind: 'refused', reason });

const namedLocal = (goal: Authority, world: World): string | undefined => {
  const { host } = goal;
  if (isMetadataName(host)) return localText(goal, 'the metadata of a cloud', world);
  if (isLocalName(host) || world.isOwnName(host)) return localText(goal, 'this machine', world);
  const kind = isIP(host) === 0 ? undefined : world.locality(host);
  return kind && localText(goal, kind, world);
};

// Only what can be opened is said to be: loopback, by its own names, and never this daemon.
const localText = ({ host, port }: Authority, kind: string, world: World): string =>
  kind === 'this machine' && isLoopback(host) && !world.isOwnPort(port)
    ? `${host} is this machine, which runs do not reach: if they are to, allow_local: ["127.0.0.1:${port}"] in workspace.md`
    : `${host} is ${kind}, which runs do not reach`;

const direct = async (goal: Authority, world: World): Promise<Way> => {
  let addresses: string[];
  try {
    addresses = isIP(goal.host) === 0 ? await world.resolve(goal.host) : [goal.host];
  } catch {
    return { kind: 'lost', reason: `${goal.host} has no address` };
  }
  const local = localAmong(goal, addresses, world);
  return local === undefined ? { kind: 'direct', addresses } : refused(local);
};

// One is enough: a name that is here and elsewhere is a trick.
const localAmong = (
  goal: Authority,
  addresses: readonly string[],
  world: World,
): string | undefined => {
  const kinds = addresses.map((address) => world.locality(address));
  const kind = kinds.find((one) => one !== undefined);
  return kind && localText(goal, kind, world);
};

const RESOLVE_MS = 2000;

// A proxy elsewhere cannot reach this machine's loopback. One here can, by a name that is looked up behind it.
const behind = async (goal: Authority, upstream: Upstream, world: World): Promise<Way> => {
  const way: Way = { kind: 'upstream', upstream };
  if (!(await isHere(upstream.host, world))) return way;
  const daemons = await Promise.all(
    ['127.0.0.1', '::1'].map((address) => world.probe.ask(address, goal.port)),
  );
  if (daemons.includes('daemon'))
    return refused(
      `port ${goal.port} is a Dossier daemon's here, and the proxy is on this machine`,
    );
  const resolved = world.resolve(goal.host).catch((): string[] => []);
  await settlesWithin(resolved, RESOLVE_MS);
  const addresses = await Promise.race([resolved, Promise.resolve<string[]>([])]);
  const local = localAmong(goal, addresses, world);
  return local === undefined ? way : refused(local);
};

const isHere = async (host: string, world: World): Promise<boolean> => {
  const addresses = isIP(host) === 0 ? await world.resolve(host).catch(() => []) : [host];
  return addresses.some((address) => world.locality(address) === 'this machine');
};
