/** Why a client's seat is taken away: what a WebSocket is closed with. */
export interface ClientEnding {
  code: number;
  reason: string;
}

/** A client of a shared server. */
export interface EditorClient {
  /** Hears notifications, and is asked what the server asks of an editor. */
  readonly isEditor: boolean;
  /** False when it has more unread than it should: it says `drained` on its seat when it has read on. */
  deliver(message: Buffer): boolean;
  /** The server reads again. */
  resume(): void;
  end(why: ClientEnding): void;
}

export interface Subscription {
  /** One message of the client's. False when the server reads too slowly: `resume` is called when it goes on. */
  receive(message: Buffer): boolean;
  drained(): void;
  leave(): void;
}

/** How a WebSocket is closed; 4000 and more are an application's own. */
export const CLOSED = {
  asked: 1000,
  daemon_ends: 1001,
  server_ended: 4000,
  too_slow: 4001,
  bad_message: 4002,
} as const;

const TOO_SLOW: ClientEnding = {
  code: CLOSED.too_slow,
  reason: 'Too much was left unread: read on, or connect again',
};
export const ASKED: ClientEnding = { code: CLOSED.asked, reason: 'exit' };

export const messageBytes = (message: object): Buffer => Buffer.from(JSON.stringify(message));

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
