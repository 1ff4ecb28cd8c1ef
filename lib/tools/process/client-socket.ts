import { readFile } from 'node:fs/promises';
import { isIPv4, type Socket } from 'node:net';
import { endianness } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { coalesceReads } from '../../../store/base/async.ts';

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
  const row = (kind: (address: string) => string): string =>
    ` ${kind(remoteAddress)}:${port(remotePort)} ${kind(localAddress)}:${port(localPort)} `;
  if (!isIPv4(plain(remoteAddress))) return [{ name: 'tcp6', addresses: row(v6) }];
  return [
    { name: 'tcp', addresses: row(v4) },
    { name: 'tcp6', addresses: row((address) => `${words([0, 0, 0xffff])}${v4(address)}`) },
  ];
};

const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '');

const v4 = (address: string): string => {
  const [a = 0, b = 0, c = 0, d = 0] = plain(address).split('.').map(Number);
  return words([((a << 24) | (b << 16) | (c << 8) | d) >>> 0]);
};

const v6 = (address: string): string => {
  const [head = '', tail] = address.split('::');
  const first = head.split(':').filter(Boolean);
  const last = (tail ?? '').split(':').filter(Boolean);
  const gap = Array<string>(8 - first.length - last.length).fill('0');
  const parts = [...first, ...gap, ...last].map((part) => Number.parseInt(part, 16));
  const pairs = [0, 2, 4, 6].map((at) => ((parts[at] ?? 0) * 65_536 + (parts[at + 1] ?? 0)) >>> 0);
  return words(pairs);
};

// The kernel prints each 32-bit word in the byte order of the machine.
const words = (values: number[]): string =>
  values
    .map((value) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return hex(endianness() === 'LE' ? bytes.readUInt32LE() : value, 8);
    })
    .join('');

const port = (value: number): string => hex(value, 4);

const hex = (value: number, width: number): string =>
  value.toString(16).toUpperCase().padStart(width, '0');
