import { type EditorClient, TOO_SLOW } from './client.ts';

/** The way from a server to its clients. */
export interface ClientMessages {
  deliver(client: EditorClient, message: Buffer): void;
  drained(client: EditorClient): void;
}

interface Source {
  pause(): unknown;
  resume(): unknown;
}

/**
 * While a client has too much unread, nothing more is read from the server, so that neither side fills the memory. A
 * client that does not read on within `slow_ms` is put out: the others wait no longer.
 */
export const createClientMessages = (source: Source, slow_ms: number): ClientMessages => {
  const stalled = new Map<EditorClient, NodeJS.Timeout>();
  return {
    deliver: (client, message) => {
      if (client.deliver(message) || stalled.has(client)) return;
      source.pause();
      stalled.set(
        client,
        setTimeout(() => client.end(TOO_SLOW), slow_ms),
      );
    },
    drained: (client) => {
      clearTimeout(stalled.get(client));
      if (stalled.delete(client) && stalled.size === 0) source.resume();
    },
  };
};
