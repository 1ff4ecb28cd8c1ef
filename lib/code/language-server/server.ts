import { settlesWithin } from '../../../store/base/async.ts';
import { messageOf } from '../../../store/base/attempt.ts';
import { ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import { reportOncePerTarget } from '../../sandbox/egress/doors.ts';
import type { WithNetwork } from '../../sandbox/egress/networks.ts';
import type { OpenNetwork } from '../../sandbox/egress/run-network.ts';
import {
  type Exit,
  type Program,
  type ProgramSpec,
  startProgram,
} from '../../tools/process/spawn.ts';
import {
  CLOSED,
  type ClientEnding,
  createClientMessages,
  type EditorClient,
  type Subscription,
} from './client.ts';
import { createExchange } from './exchange.ts';
import { createFrameReader, headerOf } from './json-rpc.ts';

interface ServerSpec
  extends Pick<ProgramSpec, 'argv' | 'env' | 'marker' | 'runs' | 'loopback' | 'sandboxed'> {
  /** The root of its files, and its working directory. */
  root: string;
  limits: Patience;
}

/** How long a server and its clients may take. */
export interface Patience {
  /** For `initialize`. */
  ready_ms: number;
  /** For a client to read its messages. */
  slow_ms: number;
  /** For an editor to answer a request of the server. */
  patience_ms: number;
}

export interface LanguageServer {
  readonly clients: ReadonlySet<EditorClient>;
  /** Resolves when it is initialized. Rejects with 503 `unavailable` or 504 `tool_timeout`. */
  readonly ready: Promise<void>;
  /** Resolves when all its processes have ended and its clients are disconnected. Never rejects. */
  readonly exited: Promise<Exit>;
  /** The time of its initialization, by `performance.now()`. */
  readySince(): number;
  /** Bytes written to the server that it has not read yet. */
  unread(): number;
  join(client: EditorClient): Subscription;
  end(why: ClientEnding): Promise<void>;
}

/** Starts and initializes a language server. Clients share it, each with its own request ids and open files. */
export const startLanguageServer = ({ root, limits, ...launch }: ServerSpec): LanguageServer => {
  const { ready_ms, slow_ms, patience_ms } = limits;
  const program = startProgram({ ...launch, cwd: root });
  const delivery = createClientMessages(program.stdout, slow_ms);
  const exchange = createExchange(writerTo(program), delivery, patience_ms);
  let ending: ClientEnding | undefined;
  const end = async (why: ClientEnding): Promise<void> => {
    ending ??= why;
    await program.end();
  };
  readFrom(program, exchange.handleMessage, (what) => {
    if (ending === undefined) void end(badMessage(what));
  });
  program.stdin.on('drain', () => {
    for (const client of exchange.clients) client.resume();
  });
  const exited = program.exited.then((exit) => {
    ending ??= { code: CLOSED.server_ended, reason: exitReason(exit) };
    for (const client of [...exchange.clients]) client.end(ending);
    return exit;
  });
  const gone = exited.then(() => {
    throw new Error(ending?.reason);
  });
  const first = Promise.race([exchange.initialize(root), gone]);
  const ready = awaitReady(first, ready_ms, end);
  let since = 0;
  ready.then(
    () => {
      since = performance.now();
    },
    () => undefined,
  );
  return {
    clients: exchange.clients,
    ready,
    exited,
    join: exchange.join,
    end,
    readySince: () => since,
    unread: () => program.stdin.writableLength,
  };
};

const writerTo =
  ({ stdin }: Program) =>
  (message: Buffer): boolean => {
    if (!stdin.writable) return true;
    stdin.cork();
    stdin.write(headerOf(message), 'latin1');
    const hasRoom = stdin.write(message);
    stdin.uncork();
    return hasRoom;
  };

const readFrom = (
  { stdout }: Program,
  hear: (message: Buffer) => void,
  fail: (what: string) => void,
): void => {
  const read = createFrameReader(hear);
  let failed = false;
  stdout.on('data', (chunk: Buffer) => {
    if (failed) return;
    try {
      read(chunk);
    } catch (error) {
      failed = true;
      fail(messageOf(error));
    }
  });
};

// The reason of a WebSocket close frame is limited to 123 bytes.
const badMessage = (what: string): ClientEnding => ({
  code: CLOSED.bad_message,
  reason: `The language server violated the protocol: ${what}`.slice(0, 120),
});

const exitReason = ({ code, signal, stderr_tail }: Exit): string => {
  const words = stderr_tail.trim().split('\n').at(-1) ?? '';
  const how = signal ?? `code ${code}`;
  return asReason(`The language server exited (${how})${words === '' ? '' : `: ${words}`}`);
};

const asReason = (words: string): string => words.replace(/[^\x20-\x7e]/g, '?').slice(0, 120);

const awaitReady = async (
  first: Promise<void>,
  ready_ms: number,
  end: (why: ClientEnding) => Promise<void>,
): Promise<void> => {
  if (!(await settlesWithin(first, ready_ms))) {
    await end(badMessage('no response to initialize'));
    throw new ServiceError(
      'tool_timeout',
      `The language server was not ready within ${ready_ms / 1000} s and was stopped. Try again; if it fails again, run it by hand.`,
    );
  }
  await first.catch(async (error: Error) => {
    await end(badMessage(error.message));
    throw new ServiceError(
      'unavailable',
      `${error.message}. Run it by hand to see why, or set another one in workspace.md under language_servers.`,
    );
  });
};

/**
 * Starts a language server with its own network access until it ends. Logs each reached or refused destination once,
 * because no session stream could report it.
 */
export const withNetwork = (
  { network: door, log }: WithLog & WithNetwork,
  of: { language: string; root: string },
  begin: (network: OpenNetwork) => LanguageServer,
): LanguageServer => {
  const tell = reportOncePerTarget((told) => {
    if (told.allowed) log.info({ ...of, ...told }, 'language server connected to the network');
    else log.warn({ ...of, ...told }, 'network connection of a language server refused');
  });
  const network = door().open({ given: {}, token: undefined, tell });
  try {
    const server = begin(network);
    void server.exited.then(network.close);
    return server;
  } catch (error) {
    void network.close();
    throw error;
  }
};
