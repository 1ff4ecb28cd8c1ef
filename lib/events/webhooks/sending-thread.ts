import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { OwnUrl } from './own-address.ts';
import type { ReceiverAnswer } from './sender.ts';

/** What is sent to a receiver: signed as it leaves. */
export interface Parcel {
  /** The delivery's id. */
  id: string;
  url: string;
  headers: Record<string, string>;
  body: string;
  secret: string;
}

/** What became of it, and when it was sent. */
export type Sent = ReceiverAnswer & { at: string };

/** What the sending thread is told, and what it reports. A run is a number of this process. */
export type SendingOrder =
  | { kind: 'send'; run: number; parcels: readonly Parcel[]; own: string | undefined }
  | { kind: 'cancel'; run: number }
  | { kind: 'close' };
export type SendingReport =
  | { kind: 'sent'; run: number; place: number; sent: Sent }
  | { kind: 'over'; run: number }
  | { kind: 'closed' };

/** Some parcels for one receiver, on their way. */
export interface SendingRun {
  /** For each of them; undefined for one that was not sent, or of which nobody knows what became. */
  readonly answers: readonly Promise<Sent | undefined>[];
  /** Sends no further one. The first is on its way already. */
  cancel(): void;
}

export interface SendingThread {
  /** Sends these one after the other, up to the first that the receiver does not take. */
  send(parcels: readonly Parcel[]): SendingRun;
  /** Gives what is under way a moment to finish. Nothing is sent any more. */
  close(): Promise<void>;
}

// Beside this file when compiled, and beside the chunk that this file is in when bundled.
const WORKER = new URL('./sending-worker.js', import.meta.url);
const OPTIONS: WorkerOptions = {
  ...{ execArgv: [] },
  resourceLimits: { maxYoungGenerationSizeMb: 4 },
};

type Answer = (sent: Sent | undefined) => void;

interface Book {
  own: OwnUrl;
  worker: Worker | undefined;
  /** Whose answers are waited for, by run and place. */
  readonly runs: Map<number, Answer[]>;
  last: number;
  closed: boolean;
}

/**
 * Sends webhooks from a thread of its own, which is started with the first: a receiver that takes what it is sent gets one
 * event after the other however busy the daemon is, which hears of many at once. Should the thread end by itself, the next
 * delivery starts another.
 */
export const createSendingThread = (own: OwnUrl = () => undefined): SendingThread => {
  const book: Book = { own, worker: undefined, runs: new Map(), last: 0, closed: false };
  return {
    send: (parcels) => send(book, parcels),
    close: () => close(book),
  };
};

const send = (book: Book, parcels: readonly Parcel[]): SendingRun => {
  if (book.closed) return { answers: parcels.map(async () => undefined), cancel: () => undefined };
  book.worker ??= startWorker(book);
  const { worker } = book;
  book.last += 1;
  const run = book.last;
  const waiting: Answer[] = [];
  const answers = parcels.map(
    () => new Promise<Sent | undefined>((resolve) => waiting.push(resolve)),
  );
  book.runs.set(run, waiting);
  // As a connection would, it keeps the process while something is on its way, and no longer.
  worker.ref();
  tell(worker, { kind: 'send', run, parcels, own: book.own() });
  const cancel = (): void => {
    if (book.runs.has(run)) tell(worker, { kind: 'cancel', run });
  };
  return { answers, cancel };
};

const tell = (worker: Worker, order: SendingOrder): void => worker.postMessage(order);

const startWorker = (book: Book): Worker => {
  const worker = new Worker(WORKER, OPTIONS);
  let cause: unknown;
  worker.on('message', (report: SendingReport) => hear(book, report));
  worker.once('error', (error) => {
    cause = error;
  });
  worker.once('exit', () => {
    book.worker = undefined;
    const lost: Sent = { status: null, error: `${ENDED}: ${cause}`, duration_ms: 0, at: now() };
    for (const waiting of book.runs.values())
      for (const [place, answer] of waiting.entries())
        answer(place === 0 && !book.closed ? lost : undefined);
    book.runs.clear();
  });
  worker.unref();
  return worker;
};

const ENDED = 'The thread that sends webhooks ended';
const now = (): string => new Date().toISOString();

const hear = ({ runs, worker, closed }: Book, report: SendingReport): void => {
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

const close = async (book: Book): Promise<void> => {
  book.closed = true;
  const { worker } = book;
  if (worker === undefined) return;
  // Else the process could end before the thread has, and before whatever waits for this.
  worker.ref();
  const closed = new Promise<void>((resolve) => {
    worker.on('message', ({ kind }: SendingReport) => kind === 'closed' && resolve());
    worker.once('exit', () => resolve());
  });
  tell(worker, { kind: 'close' });
  await closed;
  await worker.terminate();
};

/**
 * What the sending thread sends one receiver by itself, after the delivery that is waited for: while the receiver takes all,
 * none of it waits for the daemon.
 */
export interface Ahead {
  /** Sends the first of these, and after it the others. Answers what became of the first. */
  send(thread: SendingThread, parcels: readonly Parcel[]): Promise<Sent | undefined>;
  /** Whether this delivery was among the others, and was not taken yet. */
  has(id: string): boolean;
  /** What became of it; undefined where it was not sent. */
  take(id: string): Promise<Sent | undefined>;
  /** Sends no further one. */
  cancel(): void;
}

export const createAhead = (): Ahead => {
  const answers = new Map<string, Promise<Sent | undefined>>();
  let cancel = (): void => undefined;
  return {
    send: async (thread, parcels) => {
      answers.clear();
      const run = thread.send(parcels);
      cancel = run.cancel;
      const [first, ...others] = run.answers;
      for (const [place, answer] of others.entries())
        answers.set(parcels[place + 1]?.id ?? '', answer);
      return first;
    },
    has: (id) => answers.has(id),
    take: async (id) => {
      const answer = answers.get(id);
      answers.delete(id);
      return answer;
    },
    cancel: () => cancel(),
  };
};
