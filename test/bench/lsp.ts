import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { alternate, median } from './load.ts';
import { cpuOf, DOSSIER, type ServerProcess, startServer } from './processes.ts';
import type { Row } from './report.ts';

const ROUNDS = 5;
const REQUESTS = 10_000;
const QUERY = '/lsp/rust/ws?project_id=default';
const here = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url));

interface Passed {
  rtt_us: number;
  cpu_us: number;
}

/** A message to a language server and back, against a bridge that only passes frames on. */
export const benchLsp = async (): Promise<Row[]> => {
  const root = mkdtempSync(join(tmpdir(), 'dossier-bench-'));
  execFileSync('git', ['init', '--quiet', root]);
  const server = `{ command: ${process.execPath}, args: [${here('lsp-echo.js')}] }`;
  writeFileSync(join(root, 'workspace.md'), `---\nlanguage_servers: { rust: ${server} }\n---\n`);
  const daemon = await startServer(DOSSIER, ['--workspace', root, '--repo', root, '--port', '0']);
  const bare = await startServer(here('lsp-bridge.js'), []);
  const [ours, theirs] = [await connect(daemon), await connect(bare)];
  for (const one of [ours, theirs]) await pass(one, REQUESTS);
  const [a, b] = await alternate(
    ROUNDS,
    () => pass(ours, REQUESTS),
    () => pass(theirs, REQUESTS),
  );
  for (const { socket } of [ours, theirs]) socket.terminate();
  await Promise.all([daemon.stop(), bare.stop()]);
  rmSync(root, { recursive: true, force: true });
  return [
    row('language server, round trip', 'rtt_us', { a, b, target: '<= 1.5' }),
    row('language server, CPU a message', 'cpu_us', { a, b, target: '<= 2' }),
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

const row = (
  what: string,
  key: keyof Passed,
  { a, b, target }: { a: Passed[]; b: Passed[]; target: string },
): Row => {
  const [ours, theirs] = [a, b].map((all) => median(all.map((one) => one[key]))) as [
    number,
    number,
  ];
  const words = (us: number): string => `${us.toFixed(0)} us`;
  return { what, measured: words(ours), limit: words(theirs), ratio: ours / theirs, target };
};
