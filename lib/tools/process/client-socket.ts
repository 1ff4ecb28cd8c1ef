import { readFile } from 'node:fs/promises';
import { isIPv4, type Socket } from 'node:net';
import { endianness } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { coalesceReads } from '../../../store/base/async.ts';
import { addressBytes } from './ip-address.ts';

/** The two ends of a connection on this machine, as its server sees them. */
export type Connection = Pick<
  Socket,
  'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'
>;

/** The client's socket: its user and inode. `gone`: it was closed. `unknown`: there is no table to read. */
export type SocketPeer = { uid: number; inode: string } | 'gone' | 'unknown';

/** Looks up the client's socket in /proc/net/tcp and tcp6. */
export const peerOf = async (connection: Connection): Promise<SocketPeer> => {
  const wanted = rowsOf(connection);
  let found = await lookUp(wanted);
  // The kernel returns the table in pieces while it changes, so a row may be missing once.
  for (let left = ATTEMPTS; left > 0 && found === undefined; left -= 1) {
    await delay(AGAIN_MS);
    found = await lookUp(wanted);
  }
  return found ?? 'gone';
};

const ATTEMPTS = 2;
const AGAIN_MS = 5;

const lookUp = async (wanted: readonly Row[]): Promise<SocketPeer | undefined> => {
  let tables = 0;
  for (const { name, addresses } of wanted) {
    const table = await TABLES[name]();
    if (table !== '') tables += 1;
    const client = findIn(table, addresses);
    if (client !== undefined) return client;
  }
  return tables === 0 && wanted.length > 0 ? 'unknown' : undefined;
};

// One read takes 1 to 2 ms, so connections that arrive together share it.
const tableOf = (name: string) =>
  coalesceReads(() => readFile(`/proc/net/${name}`, 'latin1').catch(() => ''));

const TABLES = { tcp: tableOf('tcp'), tcp6: tableOf('tcp6') };

const findIn = (table: string, addresses: string): SocketPeer | undefined => {
  const at = table.indexOf(addresses);
  if (at < 0) return undefined;
  const line = table.slice(at + addresses.length, table.indexOf('\n', at)).trim();
  const [state = '', , , , uid, , inode = NO_INODE] = line.split(/\s+/);
  // The kernel shows a released socket as root's.
  if (!OPEN.has(state) || inode === NO_INODE) return 'gone';
  return { uid: Number(uid), inode };
};

const NO_INODE = '0';
// ESTABLISHED, FIN_WAIT1 and FIN_WAIT2.
const OPEN = new Set(['01', '04', '05']);

interface Row {
  name: keyof typeof TABLES;
  addresses: string;
}

// Empty for a closed connection.
const rowsOf = ({ localAddress, localPort, remoteAddress, remotePort }: Connection): Row[] => {
  if (!localAddress || !remoteAddress || !localPort || !remotePort) return [];
  const row = (form: string): string => {
    const end = (address: string, at: number) => `${hex(form + plain(address))}:${port(at)}`;
    return ` ${end(remoteAddress, remotePort)} ${end(localAddress, localPort)} `;
  };
  if (!isIPv4(plain(remoteAddress))) return [{ name: 'tcp6', addresses: row('') }];
  return [
    { name: 'tcp', addresses: row('') },
    { name: 'tcp6', addresses: row('::ffff:') },
  ];
};

const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '');

// The kernel prints each 32-bit word in the byte order of the machine.
const hex = (address: string): string => {
  const bytes = Buffer.from(addressBytes(address) ?? []);
  return (endianness() === 'LE' ? bytes.swap32() : bytes).toString('hex').toUpperCase();
};

const port = (value: number): string => value.toString(16).toUpperCase().padStart(4, '0');
