/**
 * Runs inside a run's network namespace: `relay.mjs DIRECTORY PORT=SOCKET… -- PROGRAM ARGUMENTS…`. Listens on each port of
 * loopback and forwards to that Unix socket, where the daemon decides. Then starts the program, and exits as it does.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

// Runs have a lower priority than the operator's programs; the program inherits it.
const NICE = 10;
// With autogroups, Linux schedules sessions against each other, and `nice` counts only within one.
const AUTOGROUP = '/proc/self/autogroup';
const TRIES = 50;
const BETWEEN_MS = 100;

const main = (): void => {
  try {
    setPriority(NICE);
  } catch {
    // The priority is already lower.
  }
  lowerSession();
  const [dir = '', ...rest] = process.argv.slice(2);
  const at = rest.indexOf('--');
  const servers = rest.slice(0, at).flatMap((entry) => {
    const [port = '', socket = ''] = entry.split('=');
    return ['127.0.0.1', '::1'].map((host) => listen(host, Number(port), `${dir}/${socket}`));
  });
  const opened = servers.length > 0 ? reachable(`${dir}/out`) : undefined;
  void Promise.all([...servers, opened]).then(() => run(rest.slice(at + 1)));
};

// The kernel accepts ten of these writes per second, of all programs (EAGAIN). Without autogroups the file is missing.
const lowerSession = (tries = TRIES): void => {
  try {
    writeFileSync(AUTOGROUP, `${NICE}`, { flag: 'r+' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN' && tries > 0)
      setTimeout(lowerSession, BETWEEN_MS, tries - 1).unref();
  }
};

const WAIT_MS = 30_000;
const AGAIN_MS = 10;

// The daemon listens on `out` last, after it has started this process.
const reachable = async (path: string): Promise<void> => {
  const late = Date.now() + WAIT_MS;
  while (!(await answers(path))) {
    if (Date.now() > late) {
      process.stderr.write('The daemon did not open the network of this run.\n');
      process.exit(125);
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
};

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

// Errors are ignored: there may be no IPv6.
const listen = (host: string, port: number, path: string): Promise<void> =>
  new Promise((resolve) => {
    const server: Server = createServer({ allowHalfOpen: true }, (socket) => join(socket, path));
    server.once('error', () => resolve());
    server.listen(port, host, () => resolve());
    server.unref();
  });

const join = (near: Socket, path: string): void => {
  const far = connect({ path, allowHalfOpen: true });
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.pipe(other);
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroySoon());
  }
};

const run = ([program = '', ...args]: string[]): void => {
  // Held back from this process; see run-network.ts.
  const {
    env: { DOSSIER_EXTRA_CA_CERTS: held, ...env },
  } = process;
  if (held !== undefined) env.NODE_EXTRA_CA_CERTS = held;
  const child = spawn(program, args, { stdio: 'inherit', env });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.once('error', (error: NodeJS.ErrnoException) => {
    process.stderr.write(`${program}: ${error.code === 'ENOENT' ? 'not found' : error.message}\n`);
    process.exit(error.code === 'ENOENT' ? 127 : 126);
  });
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // Node ignores some signals and handles others on the next tick.
    setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
  });
};

main();
