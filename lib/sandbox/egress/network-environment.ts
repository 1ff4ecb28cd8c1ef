import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { type Locality, localityOf } from './address.ts';
import { authorityText } from './authority.ts';

/** The machine's network as the egress policy sees it: name resolution, own addresses and listeners. */
export interface NetworkEnvironment {
  /** All addresses of a name. Rejects if there are none. */
  resolve(host: string): Promise<string[]>;
  /** Why a run may not reach an address. */
  locality(address: string): Locality | undefined;
  /** Whether a name is this machine's host name. */
  isOwnName(host: string): boolean;
  /** Whether a port is that of the daemon's API. */
  isOwnPort(port: number): boolean;
  /** Whether a connection led back to this machine, by its two addresses. */
  cameBack(local: string | undefined, remote: string | undefined): boolean;
  probe: DaemonProbe;
}

/** The network of this machine. `ownPort`: the port of the daemon's API, once it listens. */
export const createNetworkEnvironment = (
  ownPort: () => number | undefined,
): NetworkEnvironment => ({
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  locality: (address) => localityOf(address, ownAddresses()),
  isOwnName: (host) => host === hostname().toLowerCase(),
  isOwnPort: (port) => port === ownPort(),
  // For an address that is routed here without an interface, both addresses are equal.
  cameBack: (local, remote) => local !== undefined && local === remote,
  probe: createDaemonProbe(ownPort),
});

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));

/** What listens on a port of this machine. */
type Listener = 'other' | 'daemon' | 'silent';

/** The header that every response of a daemon has. */
export const DAEMON_HEADER = 'x-dossier';

const SILENT_MS = 3000;
const MOST_BYTES = 65_536;

/** Recognizes Dossier daemons among the listeners of this machine. Never rejects. */
export const createDaemonProbe = (ownPort: () => number | undefined) => {
  const known = new Map<string, Listener>();
  return {
    listeners,
    /** Probes a listener once, and again when another socket listens. `silent`: it did not answer, and is probed again. */
    ask: async (address: string, port: number): Promise<Listener> => {
      if (port === ownPort()) return 'daemon';
      const sockets = await listeners(port);
      const key = `${address} ${port} ${sockets}`;
      const before = known.get(key);
      if (before !== undefined) return before;
      const answer = await greet(address, port);
      // Without /proc it is probed each time.
      if (sockets !== '' && answer !== 'silent') known.set(key, answer);
      if (known.size > MOST_KNOWN) known.clear();
      return answer;
    },
  };
};
type DaemonProbe = ReturnType<typeof createDaemonProbe>;

const MOST_KNOWN = 1000;
const LISTENING = '0A';

/** The inodes of the sockets that listen on a port; empty without /proc. */
const listeners = async (port: number): Promise<string> => {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'latin1').catch(() => '')),
  );
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = tables.flatMap((table) => table.split('\n').map((row) => row.trim().split(/\s+/)));
  const inodes = rows
    .filter(([, local = '', , state]) => state === LISTENING && local.endsWith(wanted))
    .map((fields) => fields[9] ?? '');
  return inodes.sort().join(' ');
};

// Ends the sending side at once, so that a server of another protocol closes or answers.
const greet = (host: string, port: number): Promise<Listener> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, allowHalfOpen: true });
    let said = '';
    const timer = setTimeout(() => end('silent'), SILENT_MS);
    const end = (answer: Listener): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1');
      if (!maybeHttp(said) || said.length > MOST_BYTES) end(verdict(said));
    });
    socket.once('end', () => end(verdict(said)));
    socket.once('error', () => end('other'));
    socket.end(
      `GET /version HTTP/1.1\r\nHost: ${authorityText({ host, port })}\r\nConnection: close\r\n\r\n`,
    );
  });

const maybeHttp = (said: string): boolean => said.startsWith('HTTP/1.'.slice(0, said.length));

const verdict = (said: string): Listener =>
  HEADER.test(said) || /"name"\s*:\s*"dossierd?"/.test(said) ? 'daemon' : 'other';

const HEADER = new RegExp(`^HTTP/1\\.[^]*\\r\\n${DAEMON_HEADER}:`, 'i');
