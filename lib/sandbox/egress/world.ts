import { lookup } from 'node:dns/promises';
import { hostname, networkInterfaces } from 'node:os';
import { type Locality, localityOf } from './address.ts';
import { createDaemonProbe, type DaemonProbe } from './daemon-probe.ts';

/** What the way out depends on besides its rules: names, this machine, and who listens on it. */
export interface World {
  /** All addresses of a name. Rejects where there are none. */
  resolve(host: string): Promise<string[]>;
  /** Why an address is not for runs. */
  locality(address: string): Locality | undefined;
  /** Whether a name is this machine's own. */
  isOwnName(host: string): boolean;
  /** Whether a port is that of our own API. */
  isOwnPort(port: number): boolean;
  /** Whether a connection has come back to this machine, by its two addresses. */
  cameBack(local: string | undefined, remote: string | undefined): boolean;
  probe: DaemonProbe;
}

/** This machine as it is. `ownPort` is the port of our own API, once there is one. */
export const createWorld = (ownPort: () => number | undefined): World => ({
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  locality: (address) => localityOf(address, ownAddresses()),
  isOwnName: (host) => host === hostname().toLowerCase(),
  isOwnPort: (port) => port === ownPort(),
  // An address that is routed here without belonging to an interface is its own source.
  cameBack: (local, remote) => local !== undefined && local === remote,
  probe: createDaemonProbe(ownPort),
});

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
