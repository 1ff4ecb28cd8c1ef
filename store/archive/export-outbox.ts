import type { MessagePort } from 'node:worker_threads';

/** The size of a message, which is transferred, not copied. */
export const CHUNK_BYTES = 262_144;
/** The number of messages that may be unacknowledged. */
export const WINDOW = 8;

/** Sends bytes to another thread with flow control. */
export const createOutbox = (port: MessagePort) => {
  const full: Uint8Array[] = [];
  let chunk = new Uint8Array(CHUNK_BYTES);
  let filled = 0;
  let credit = WINDOW;
  let wake = (): void => undefined;
  const close = (): void => {
    full.push(chunk.subarray(0, filled));
    chunk = new Uint8Array(CHUNK_BYTES);
    filled = 0;
  };
  const send = (): void => {
    for (; credit > 0 && full.length > 0; credit -= 1) {
      const next = full.shift() as Uint8Array;
      port.postMessage(next, [next.buffer as ArrayBuffer]);
    }
    if (full.length === 0) wake();
  };
  port.on('message', () => {
    credit += 1;
    send();
  });
  const room = async (): Promise<void> => {
    if (full.length === 0) return;
    send();
    if (full.length > 0)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  };
  return {
    /** Copies the bytes; the caller may reuse the buffer. */
    write: (bytes: Uint8Array): void => {
      let rest = bytes;
      while (rest.length > CHUNK_BYTES - filled) {
        const free = CHUNK_BYTES - filled;
        chunk.set(rest.subarray(0, free), filled);
        filled = CHUNK_BYTES;
        rest = rest.subarray(free);
        close();
      }
      chunk.set(rest, filled);
      filled += rest.length;
    },
    /** Resolves when there is room for more. Await it between two writes. */
    room,
    /** Sends the rest. */
    end: async (): Promise<void> => {
      if (filled > 0) close();
      await room();
    },
  };
};
export type Outbox = ReturnType<typeof createOutbox>;
