import { request } from 'node:http';
import { join } from 'node:path';
import { orOlder } from './build.ts';
import { micros, millis, pairOf, pairRow } from './pair-row.ts';
import { makePlace } from './place.ts';
import { BARE, type ServerProcess, startDossier, startServer } from './processes.ts';
import type { Row } from './report.ts';
import { alternate, median } from './rounds.ts';
import { cpuOf } from './usage.ts';
import { makeWorkspace } from './workspaces.ts';

const ROUNDS = 5;
const WARM = 200;
// The daemon listens on no socket elsewhere: a sandbox shows other directories.
const BELOW = '/tmp';

/** The first call on a new connection, one after the other: by TCP and by a Unix socket, against bare hapi. */
export const benchFirstCalls = async (calls: number): Promise<Row[]> => {
  const workspace = makeWorkspace(100);
  const [path, barePath] = [makePlace(BELOW), makePlace(BELOW)].map((dir) => join(dir, 'socket'));
  // An older build knows no socket.
  const withSocket = await startDossier(workspace.root, '--socket', `${path}`).catch(orOlder);
  const dossier = withSocket ?? (await startDossier(workspace.root));
  const bare = await startServer(BARE, `${barePath}`);
  const item = `/cases/${workspace.ids[0]}`;
  const call = (server: ServerProcess, address: Address) => () =>
    firstCalls(server, address, calls);
  const byTcp = [
    call(dossier, { ...tcpOf(dossier), path: item }),
    call(bare, { ...tcpOf(bare), path: '/one' }),
    call(bare, { ...tcpOf(bare), path: '/one-of-table' }),
  ] as const;
  const bySocket = [
    call(dossier, { socketPath: path, path: item }),
    call(bare, { socketPath: barePath, path: '/one' }),
  ] as const;
  await alternate(Math.ceil(WARM / calls), ...byTcp);
  const [tcp, bareTcp, bareTable] = await alternate(ROUNDS, ...byTcp);
  const socketRounds = withSocket === undefined ? 0 : ROUNDS;
  await alternate(Math.ceil((WARM * socketRounds) / ROUNDS / calls), ...bySocket);
  const [socket, bareSocket] = await alternate(socketRounds, ...bySocket);
  await Promise.all([dossier.stop(), bare.stop()]);
  workspace.remove();
  return [
    ...tcpRows(tcp, bareTcp, bareTable),
    ...(socketRounds === 0 ? [] : socketRows(socket, bareSocket)),
  ];
};

interface Cost {
  ms: number;
  /** CPU time of the server for one call, in microseconds. */
  cpu_us: number;
}

const against = 'bare hapi';
const TCP = 'first call on a new connection, TCP';
const SOCKET = 'first call on a new connection, Unix socket';

const tcpRows = (ours: Cost[], bare: Cost[], table: Cost[]): Row[] => [
  pairRow(
    { key: 'first-call-tcp', what: TCP },
    { ...pairOf('ms', ours, bare), against, show: millis },
  ),
  pairRow(
    { key: 'first-call-tcp-cpu', what: `${TCP}, CPU` },
    { ...pairOf('cpu_us', ours, bare), against, show: micros },
  ),
  // How long the table is, and how long its reading takes, is the machine's.
  pairRow(
    { key: 'first-call-tcp-table-cpu', what: `${TCP}, CPU` },
    {
      ...pairOf('cpu_us', ours, table),
      against: 'bare hapi that reads /proc/net/tcp',
      show: micros,
    },
  ),
];

const socketRows = (ours: Cost[], bare: Cost[]): Row[] => [
  pairRow(
    {
      key: 'first-call-socket',
      what: SOCKET,
      value: median(ours.map(({ ms }) => ms)),
      target: '<= 3 ms',
    },
    { ...pairOf('ms', ours, bare), against, show: millis },
  ),
  pairRow(
    { key: 'first-call-socket-cpu', what: `${SOCKET}, CPU` },
    { ...pairOf('cpu_us', ours, bare), against, show: micros },
  ),
];

interface Address {
  host?: string;
  port?: string;
  socketPath?: string | undefined;
  path: string;
}

const tcpOf = ({ url }: ServerProcess): { host: string; port: string } => {
  const { hostname: host, port } = new URL(url);
  return { host, port };
};

const firstCalls = async (
  { pid }: ServerProcess,
  address: Address,
  count: number,
): Promise<Cost> => {
  const times: number[] = [];
  const cpu = cpuOf(pid);
  for (let call = 0; call < count; call += 1) {
    const from = performance.now();
    await callOnce(address);
    times.push(performance.now() - from);
  }
  return { ms: median(times), cpu_us: ((cpuOf(pid) - cpu) * 1000) / count };
};

const callOnce = (address: Address): Promise<void> =>
  new Promise((resolve, reject) => {
    request({ ...address, agent: false }, (answer) => {
      answer.resume().once('end', resolve);
      if (answer.statusCode !== 200)
        reject(new Error(`${address.path} answered ${answer.statusCode}`));
    })
      .once('error', reject)
      .end();
  });
