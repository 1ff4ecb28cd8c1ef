import { type Frame, frameReader } from './frames.ts';
import type { Signal } from './platform.ts';
import { NoConnection, Problem } from './problem.ts';

export interface StreamEvent {
  id: number;
  event: string;
  data: unknown;
}

export interface Watch {
  signal?: Signal | undefined;
  onOpen?: (() => void) | undefined;
  onBreak?: ((reason: unknown) => void) | undefined;
}

const LONGEST_MS = 10_000;

/**
 * The events of a stream as they come. A connection that ends is made again, after the last event that came: none is lost
 * or told twice. Ends where the daemon says that there is no more, and at an abort. Throws what the first connection fails
 * with, and later a refusal that would come again.
 */
export const follow = async function* (
  open: Open,
  watch: Watch,
): AsyncGenerator<StreamEvent, void> {
  const { signal, onBreak } = watch;
  const place: Place = { wasOpen: false, after: undefined, failures: 0, retryMs: 500 };
  for (; signal?.aborted !== true; place.failures++) {
    const reason = yield* untilBreak(open, watch, place);
    if (reason === undefined) return;
    onBreak?.(reason);
    await pause(
      Math.min(place.retryMs * 2 ** place.failures, Math.max(LONGEST_MS, place.retryMs)),
      signal,
    );
  }
};

type Open = (after: string | undefined) => Promise<Response>;

/** How far a reader got. */
interface Place {
  wasOpen: boolean;
  /** Of the last frame that came whole. */
  after: string | undefined;
  /** Connections since then that brought nothing. */
  failures: number;
  retryMs: number;
}

/** One connection. Answers why it ended, or undefined where nothing comes after it; throws what would come again. */
const untilBreak = async function* (
  open: Open,
  { signal, onOpen }: Watch,
  place: Place,
): AsyncGenerator<StreamEvent, unknown> {
  try {
    const response = await open(place.after);
    if (response.status === 204) return undefined;
    place.wasOpen = true;
    onOpen?.();
    const isOver = yield* eventsIn(response, place);
    return isOver ? undefined : new NoConnection('The stream ended before its end.');
  } catch (error) {
    if (signal?.aborted) return undefined;
    if (place.wasOpen && isPassing(error)) return error;
    throw error;
  }
};

// A daemon that starts or has too much to do answers so.
const isPassing = (error: unknown): boolean =>
  error instanceof NoConnection ||
  (error instanceof Problem && (error.status >= 500 || [408, 429].includes(error.status)));

/** What came by a connection, to its end: true where nothing can come after. */
const eventsIn = async function* (
  response: Response,
  place: Place,
): AsyncGenerator<StreamEvent, boolean> {
  for await (const { id, event = 'message', data, retry } of framesIn(response)) {
    place.failures = 0;
    place.after = id ?? place.after;
    place.retryMs = retry ?? place.retryMs;
    // What has no number is a second form of what follows it, for EventSource.
    if (id === undefined || data === undefined) continue;
    yield { id: Number(id), event, data: JSON.parse(data) };
    if (event === 'complete') return true;
  }
  return false;
};

const framesIn = async function* ({ body }: Response): AsyncGenerator<Frame> {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  const read = frameReader();
  const next = () =>
    reader.read().catch((cause) => {
      throw new NoConnection('The stream broke off.', { cause });
    });
  try {
    for (let piece = await next(); !piece.done; piece = await next())
      yield* read(decoder.decode(piece.value, { stream: true }));
  } finally {
    // Whoever leaves early leaves no connection behind.
    await reader.cancel().catch(() => undefined);
  }
};

const pause = (ms: number, signal: Signal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
