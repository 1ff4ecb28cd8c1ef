import { Worker, type WorkerOptions } from 'node:worker_threads';
import { settlesWithin } from '../../../store/base/async.ts';
import type { OwnUrl } from './own-address.ts';
import type { ReceiverAnswer } from './sender.ts';

/** A request to a receiver, which is signed when it is sent. */
export interface WebhookRequest {
  /** The id of the delivery. */
  id: string;
  url: string;
  headers: Record<string, string>;
  body: string;
  secret: string;
}

/** The result of a request, and when and to which URL it was sent. */
export type AttemptResult = ReceiverAnswer & { at: string; to: string };

/** Messages to and from the sending thread. `run` numbers the batches of this process. */
export type SendingOrder =
  | { kind: 'send'; run: number; requests: readonly WebhookRequest[]; own: string | undefined }
  | { kind: 'cancel'; run: number }
  | { kind: 'close' };
export type SendingReport =
  | { kind: 'sent'; run: number; place: number; sent: AttemptResult }
  | { kind: 'over'; run: number }
  | { kind: 'closed' };

/** A batch of requests to one receiver. */
export interface SendingRun {
  /** The results that were not taken yet, by delivery; undefined if it was not sent, or its result is unknown. */
  readonly answers: Map<string, Promise<AttemptResult | undefined>>;
  /** Sends no further request of the batch. */
  cancel(): void;
}

export interface SendingThread {
  /** Sends requests in order, up to the first that does not succeed. */
  send(requests: readonly WebhookRequest[]): SendingRun;
  /** Waits briefly for requests in progress, and sends no more. */
  close(): Promise<void>;
}

// The worker is beside this file when compiled, and beside this file's chunk when bundled.
const WORKER = new URL('./sending-worker.js', import.meta.url);
const OPTIONS: WorkerOptions = {
  execArgv: [],
  resourceLimits: { maxYoungGenerationSizeMb: 4 },
};

type Answer = (sent: AttemptResult | undefined) => void;

interface ThreadState {
  own: OwnUrl;
  file: URL;
  worker: Worker | undefined;
  /** Callbacks for results, by run and place. */
  readonly runs: Map<number, Answer[]>;
  last: number;
  closed: boolean;
}

/**
 * Sends webhooks from a thread of its own, so that a fast receiver is not slowed down by a busy daemon. The thread starts
 * with the first delivery, and starts again if it ends by itself.
 */
export const createSendingThread = (
  own: OwnUrl = () => undefined,
  file = WORKER,
): SendingThread => {
  const runs = new Map<number, Answer[]>();
  const state: ThreadState = { own, file, worker: undefined, runs, last: 0, closed: false };
  return {
    send: (requests) => send(state, requests),
    close: () => close(state),
  };
};

const send = (state: ThreadState, requests: readonly WebhookRequest[]): SendingRun => {
  if (state.closed) return nothingSent();
  state.worker ??= startWorker(state);
  const { worker } = state;
  state.last += 1;
  const run = state.last;
  const waiting: Answer[] = [];
  const answers: SendingRun['answers'] = new Map();
  for (const { id } of requests) answers.set(id, new Promise((resolve) => waiting.push(resolve)));
  state.runs.set(run, waiting);
  // Like a connection, the thread keeps the process alive while requests are in progress.
  worker.ref();
  post(worker, { kind: 'send', run, requests, own: state.own() });
  const cancel = (): void => {
    if (state.runs.has(run)) post(worker, { kind: 'cancel', run });
  };
  return { answers, cancel };
};

const post = (worker: Worker, order: SendingOrder): void => worker.postMessage(order);

const startWorker = (state: ThreadState): Worker => {
  const worker = new Worker(state.file, OPTIONS);
  let cause: unknown;
  worker.on('message', (report: SendingReport) => handleReport(state, report));
  worker.once('error', (error) => {
    cause = error;
  });
  worker.once('exit', () => {
    state.worker = undefined;
    const lost: AttemptResult = {
      status: null,
      error: `${ENDED}: ${cause}`,
      duration_ms: 0,
      at: now(),
      to: '',
    };
    for (const waiting of state.runs.values())
      for (const [place, answer] of waiting.entries())
        answer(place === 0 && !state.closed ? lost : undefined);
    state.runs.clear();
  });
  worker.unref();
  return worker;
};

const ENDED = 'The sending thread ended';
const now = (): string => new Date().toISOString();

const handleReport = ({ runs, worker, closed }: ThreadState, report: SendingReport): void => {
  if (report.kind === 'closed') return;
  const waiting = runs.get(report.run) ?? [];
  if (report.kind === 'sent') {
    waiting[report.place]?.(report.sent);
    return;
  }
  for (const answer of waiting) answer(undefined);
  runs.delete(report.run);
  if (runs.size === 0 && !closed) worker?.unref();
};

const close = async (state: ThreadState): Promise<void> => {
  state.closed = true;
  const { worker } = state;
  if (worker === undefined) return;
  // Keeps the process alive until the thread has ended.
  worker.ref();
  const closed = new Promise<void>((resolve) => {
    worker.on('message', ({ kind }: SendingReport) => kind === 'closed' && resolve());
    worker.once('exit', () => resolve());
  });
  post(worker, { kind: 'close' });
  await closed;
  // The lookup of a name that no server answers holds the thread for as long as the resolver waits.
  await settlesWithin(worker.terminate(), END_MS);
};

const END_MS = 1000;

/** An empty batch. */
export const nothingSent = (): SendingRun => ({ answers: new Map(), cancel: () => undefined });

/** Takes the result of a delivery out of a batch; undefined if it was not sent with it. */
export const takeAnswer = async (
  { answers }: SendingRun,
  id: string,
): Promise<AttemptResult | undefined> => {
  const answer = answers.get(id);
  answers.delete(id);
  return answer;
};
