/** The process that accepts the connections of runs: see doors-process.ts. */
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { orElse } from '../../../store/base/attempt.ts';
import type { DoorsOrder, DoorsReport, McpAnswer } from './doors-process.ts';
import type { AnswerMcp } from './mcp-door.ts';
import { createNetworkEnvironment } from './network-environment.ts';
import { createDoorsHere } from './run-doors.ts';

const NICE = 10;
// On Linux a priority applies to one thread; threads that start later inherit it.
const threads = orElse(() => readdirSync('/proc/self/task').map(Number), [0]);
for (const thread of threads) orElse(() => setPriority(thread, NICE), undefined);

// Ends when the daemon disconnects, not by a signal to the whole process group.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit());
// The daemon has ended while this process loaded.
if (!process.connected) process.exit();

let ownPort: number | undefined;
const doors = createDoorsHere(createNetworkEnvironment(() => ownPort));
const closers = new Map<number, () => void>();
const calls = new Map<number, (answer: McpAnswer) => void>();
let lastCall = 0;

const send = (report: DoorsReport): void => {
  if (process.connected) process.send?.(report, undefined, undefined, () => undefined);
};

const askDaemon =
  (run: number): AnswerMcp =>
  (token, body, version) =>
    new Promise((resolve, reject) => {
      lastCall += 1;
      calls.set(lastCall, (answer) =>
        answer === undefined ? reject(new Error('The message was refused')) : resolve(answer),
      );
      send({ kind: 'mcp', run, call: lastCall, token, body, version });
    });

const openPort = async (run: number, token: string): Promise<void> => {
  const { port, close } = await doors.openPort(token, askDaemon(run));
  closers.set(run, close);
  send({ kind: 'port', run, port });
};

const open = ({ run, task, ...more }: Extract<DoorsOrder, { kind: 'open' }>): void => {
  ownPort = more.ownPort;
  const close = doors.open(task, {
    mcp: askDaemon(run),
    tell: (told) => send({ kind: 'told', run, told }),
    lost: (reason) => send({ kind: 'lost', run, reason }),
  });
  closers.set(run, close);
};

const close = (run: number): void => {
  closers.get(run)?.();
  closers.delete(run);
  // Sent after all reports of the run: the channel keeps the order.
  send({ kind: 'closed', run });
};

const answer = (call: number, given: McpAnswer): void => {
  calls.get(call)?.(given);
  calls.delete(call);
};

process.on('message', (order: DoorsOrder) => {
  if (order.kind === 'open') open(order);
  if (order.kind === 'port')
    openPort(order.run, order.token).catch((error: unknown) =>
      send({ kind: 'lost', run: order.run, reason: String(error) }),
    );
  if (order.kind === 'close') close(order.run);
  if (order.kind === 'answer') answer(order.call, order.answer);
});
