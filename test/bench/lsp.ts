import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { micros, pairOf, pairRow } from './pair-row.ts';
import { makePlace, removePlace } from './place.ts';
import { type ServerProcess, startDossier, startServer } from './processes.ts';
import type { Row } from './report.ts';
import { alternate } from './rounds.ts';
import { cpuOf } from './usage.ts';

const ROUNDS = 5;
const REQUESTS = 10_000;
const QUERY = '/lsp/rust/ws?project_id=default';
const ECHO = fileURLToPath(new URL('./lsp-echo.js', import.meta.url));
const BRIDGE = fileURLToPath(new URL('./lsp-bridge.js', import.meta.url));

interface Passed {
  rtt_us: number;
  cpu_us: number;
}

/** A message to a language server and back, against a bridge that only passes frames on. */
export const benchLsp = async (): Promise<Row[]> => {
  const [root, repository] = [makePlace(), makePlace()];
  execFileSync('git', ['init', '--quiet', repository]);
  const server = `{ command: ${process.execPath}, args: [${ECHO}] }`;
  writeFileSync(join(root, 'workspace.md'), `---\nlanguage_servers: { rust: ${server} }\n---\n`);
  const daemon = await startDossier(root, '--repo', repository, '--trust');
  const bare = await startServer(BRIDGE);
  const lines = [await connect(daemon), await connect(bare)] as const;
  for (const line of lines) await pass(line, REQUESTS);
  const [ours, theirs] = await alternate(
    ROUNDS,
    () => pass(lines[0], REQUESTS),
    () => pass(lines[1], REQUESTS),
  );
  for (const { socket } of lines) socket.terminate();
  await Promise.all([daemon.stop(), bare.stop()]);
  for (const place of [root, repository]) removePlace(place);
  return [
    pairRow(
      { key: 'lsp-round-trip', what: 'language server, round trip', target: '<= 1.5' },
      { ...pairOf('rtt_us', ours, theirs), against: 'a bridge alone', show: micros },
    ),
    pairRow(
      { key: 'lsp-cpu', what: 'language server, CPU a message', target: '<= 2' },
      { ...pairOf('cpu_us', ours, theirs), against: 'a bridge alone', show: micros },
    ),
  ];
};

interface Line {
  socket: WebSocket;
  pid: number;
}

const connect = async ({ url, pid }: ServerProcess): Promise<Line> => {
  const socket = new WebSocket(url.replace('http', 'ws') + QUERY, { perMessageDeflate: false });
  await once(socket, 'open');
  return { socket, pid };
};

const pass = ({ socket, pid }: Line, count: number): Promise<Passed> =>
  new Promise((resolve) => {
    const [from, cpu] = [performance.now(), cpuOf(pid)];
    let left = count;
    const ask = (): void =>
      socket.send(`{"jsonrpc":"2.0","id":${left},"method":"textDocument/hover","params":{}}`);
    const heard = (): void => {
      left -= 1;
      if (left > 0) {
        ask();
        return;
      }
      socket.off('message', heard);
      const [ms, used] = [performance.now() - from, cpuOf(pid) - cpu];
      resolve({ rtt_us: (ms * 1000) / count, cpu_us: (used * 1000) / count });
    };
    socket.on('message', heard);
    ask();
  });
