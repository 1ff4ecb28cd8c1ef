/** The thread that serves the doors of runs: see doors-thread.ts. */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { orElse } from '../../../base/or-else.ts';
import { createDoorsHere } from './doors-here.ts';
import type { DoorsOrder, DoorsReport } from './doors-thread.ts';
import type { AnswerMcp } from './mcp-door.ts';
import { createWorld } from './world.ts';

const NICE = 10;
// On Linux this is of the calling thread alone; elsewhere of the process, which has to stay as it is.
if (process.platform === 'linux') orElse(() => setPriority(NICE), undefined);

let ownPort: number | undefined;
const doors = createDoorsHere(createWorld(() => ownPort));
const closers = new Map<number, () => void>();
const calls = new Map<
  number,
  (answer: Extract<DoorsOrder, { kind: 'answer' }>['answer']) => void
>();
let lastCall = 0;

const send = (report: DoorsReport): void => parentPort?.postMessage(report);

const askMain =
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
  const { port, close } = await doors.openPort(token, askMain(run));
  closers.set(run, close);
  send({ kind: 'port', run, port });
};

const open = ({ run, task, ...more }: Extract<DoorsOrder, { kind: 'open' }>): void => {
  ownPort = more.ownPort;
  const close = doors.open(task, {
    mcp: askMain(run),
    tell: (told) => send({ kind: 'told', run, told }),
    lost: (reason) => send({ kind: 'lost', run, reason }),
  });
  closers.set(run, close);
};

const close = (run: number): void => {
  closers.get(run)?.();
  closers.delete(run);
  // After all that was told of it: one channel keeps the order.
  send({ kind: 'closed', run });
};

const answer = (call: number, given: Extract<DoorsOrder, { kind: 'answer' }>['answer']): void => {
  calls.get(call)?.(given);
  calls.delete(call);
};

parentPort?.on('message', (order: DoorsOrder) => {
  if (order.kind === 'open') open(order);
  if (order.kind === 'port')
    openPort(order.run, order.token).catch((error: unknown) =>
      send({ kind: 'lost', run: order.run, reason: String(error) }),
    );
  if (order.kind === 'close') close(order.run);
  if (order.kind === 'answer') answer(order.call, order.answer);
});
