import { once } from 'node:events';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { MessagePort } from 'node:worker_threads';

/** The size of a message, which is transferred, not copied. */
export const CHUNK_BYTES = 262_144;
/** The number of messages that may wait, besides one that the other thread has not taken yet. */
export const WINDOW = 8;

/** Sends bytes to another thread with flow control. Gathers them first: a stream costs more for each small write. */
export const createOutbox = (port: MessagePort) => {
  const messages = new Writable({
    highWaterMark: WINDOW * CHUNK_BYTES,
    write: (message: Buffer, _encoding, done) => {
      port.once('message', () => done());
      port.postMessage(message, [message.buffer as ArrayBuffer]);
    },
  });
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let filled = 0;
  const close = (): void => {
    messages.write(chunk.subarray(0, filled));
    chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    filled = 0;
  };
  return {
    /** Copies the bytes; the caller may reuse the buffer. */
    write: (bytes: Buffer): void => {
      for (let at = 0; at < bytes.length; ) {
        const copied = bytes.copy(chunk, filled, at);
        at += copied;
        filled += copied;
        if (filled === CHUNK_BYTES) close();
      }
    },
    /** Resolves when there is room for more. Await it between two writes. */
    room: async (): Promise<void> => {
      if (messages.writableNeedDrain) await once(messages, 'drain');
    },
    /** Sends the rest. */
    end: async (): Promise<void> => {
      if (filled > 0) close();
      messages.end();
      await finished(messages);
    },
  };
};
export type Outbox = ReturnType<typeof createOutbox>;
