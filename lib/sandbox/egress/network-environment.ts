import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { type Locality, localityOf } from './address.ts';

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

/** What listens on a port of this machine, as far as it matters. */
type Listener = 'other' | 'daemon' | 'silent';

/** The header by which every answer of a daemon can be told. */
export const DAEMON_HEADER = 'x-dossier';

const SILENT_MS = 3000;
const MOST_BYTES = 65_536;

/** Tells Dossier's daemons from everything else that listens on this machine. Never rejects. */
export const createDaemonProbe = (ownPort: () => number | undefined) => {
  const known = new Map<string, Listener>();
  return {
    listeners,
    /** Asks it once; the answer holds as long as the same socket listens. `silent`: it said nothing, and is asked again. */
    ask: async (address: string, port: number): Promise<Listener> => {
      if (port === ownPort()) return 'daemon';
      const sockets = await listeners(port);
      const key = `${address} ${port} ${sockets}`;
      const before = known.get(key);
      if (before !== undefined) return before;
      const answer = await greet(address, port);
      // Where nobody can see the sockets, it is asked each time.
      if (sockets !== '' && answer !== 'silent') known.set(key, answer);
      if (known.size > MOST_KNOWN) known.clear();
      return answer;
    },
  };
};
type DaemonProbe = ReturnType<typeof createDaemonProbe>;

const MOST_KNOWN = 1000;
const LISTENING = '0A';

/** The sockets that listen on a port, as a word that is another one when they are others. */
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

// The end of our request is told at once: what knows no HTTP hangs up then, or says what it has to say.
const greet = (host: string, port: number): Promise<Listener> =>
  new Promise((resolve) => {
    const name = host.includes(':') ? `[${host}]` : host;
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
    socket.end(`GET /version HTTP/1.1\r\nHost: ${name}:${port}\r\nConnection: close\r\n\r\n`);
  });

const maybeHttp = (said: string): boolean => said.startsWith('HTTP/1.'.slice(0, said.length));

const verdict = (said: string): Listener =>
  HEADER.test(said) || /"name"\s*:\s*"dossierd?"/.test(said) ? 'daemon' : 'other';

const HEADER = new RegExp(`^HTTP/1\\.[^]*\\r\\n${DAEMON_HEADER}:`, 'i');
