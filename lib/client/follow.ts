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
 * Yields the events of a stream. Reconnects after the last received event, so that none is lost or repeated. Ends when the
 * daemon reports the end, and at an abort. Throws if the first connection fails, and later only for permanent refusals.
 */
export const follow = async function* (
  open: Open,
  watch: Watch,
): AsyncGenerator<StreamEvent, void> {
  const { signal, onBreak } = watch;
  const place: Place = { wasOpen: false, after: undefined, failures: 0, retryMs: 500 };
  for (; signal?.aborted !== true; place.failures++) {
    const reason = yield* readConnection(open, watch, place);
    if (reason === undefined) return;
    onBreak?.(reason);
    await pause(
      Math.min(place.retryMs * 2 ** place.failures, Math.max(LONGEST_MS, place.retryMs)),
      signal,
    );
  }
};

type Open = (after: string | undefined) => Promise<Response>;

/** The position of a reader. */
interface Place {
  wasOpen: boolean;
  /** The id of the last complete frame. */
  after: string | undefined;
  /** The number of connections since then without an event. */
  failures: number;
  retryMs: number;
}

/** Reads one connection. Returns why it ended, or undefined at the end of the stream; throws permanent failures. */
const readConnection = async function* (
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
    return isOver
      ? undefined
      : new NoConnection('The connection closed before the stream was complete.');
  } catch (error) {
    if (signal?.aborted) return undefined;
    if (place.wasOpen && isTemporary(error)) return error;
    throw error;
  }
};

// A daemon that is starting or overloaded answers with these.
const isTemporary = (error: unknown): boolean =>
  error instanceof NoConnection ||
  (error instanceof Problem && (error.status >= 500 || [408, 429].includes(error.status)));

/** Yields the events of a connection; returns whether the stream is complete. */
const eventsIn = async function* (
  response: Response,
  place: Place,
): AsyncGenerator<StreamEvent, boolean> {
  for await (const { id, event = 'message', data, retry } of framesIn(response)) {
    place.failures = 0;
    place.after = id ?? place.after;
    place.retryMs = retry ?? place.retryMs;
    // A frame without an id repeats the next one under another name, for EventSource.
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
      throw new NoConnection('The connection was lost.', { cause });
    });
  try {
    for (let piece = await next(); !piece.done; piece = await next())
      yield* read(decoder.decode(piece.value, { stream: true }));
  } finally {
    // Closes the connection if the caller leaves the loop early.
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

export interface Frame {
  id?: string;
  event?: string;
  data?: string;
  retry?: number;
}

/**
 * Parses server-sent events (WHATWG HTML, 9.2) from chunks of text: returns the frames that are complete with this chunk. An
 * incomplete frame at the end is dropped.
 */
export const frameReader = (): ((text: string) => Frame[]) => {
  let [rest, endsWithCr, frame]: [string, boolean, Frame] = ['', false, {}];
  return (text) => {
    if (text === '') return [];
    // A CR at the end of the last chunk ended its line already, so a LF after it belongs to it.
    const more = endsWithCr && text.startsWith('\n') ? text.slice(1) : text;
    endsWithCr = text.endsWith('\r');
    const lines = (rest + more).split(/\r\n|\r|\n/);
    rest = lines.pop() ?? '';
    return lines.flatMap((line) => {
      if (line !== '') addField(frame, line);
      const whole = line === '' ? [frame] : [];
      if (line === '') frame = {};
      return whole;
    });
  };
};

const addField = (frame: Frame, line: string): void => {
  const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
  if (name === 'data') frame.data = frame.data === undefined ? value : `${frame.data}\n${value}`;
  if (name === 'event') frame.event = value;
  if (name === 'id' && !value.includes('\0')) frame.id = value;
  if (name === 'retry' && /^\d+$/.test(value)) frame.retry = Number(value);
};
