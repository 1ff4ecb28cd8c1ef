/** The close code and reason with which a client is disconnected. */
export interface ClientEnding {
  code: number;
  reason: string;
}

/** A client of a shared server. */
export interface EditorClient {
  /** Whether it receives notifications and requests of the server. */
  readonly isEditor: boolean;
  /** Returns false if too much is unread; the client then calls `drained` on its subscription when it has caught up. */
  deliver(message: Buffer): boolean;
  /** Called when the server reads again. */
  resume(): void;
  end(why: ClientEnding): void;
}

export interface Subscription {
  /** Handles a message of the client. Returns false if the server is too slow; `resume` is called when it catches up. */
  receive(message: Buffer): boolean;
  drained(): void;
  leave(): void;
}

/** WebSocket close codes; 4000 and above are application-defined. */
export const CLOSED = {
  asked: 1000,
  daemon_ends: 1001,
  server_ended: 4000,
  too_slow: 4001,
  bad_message: 4002,
} as const;

const TOO_SLOW: ClientEnding = {
  code: CLOSED.too_slow,
  reason: 'Too many unread messages: connect again',
};
export const ASKED: ClientEnding = { code: CLOSED.asked, reason: 'exit' };

export const messageBytes = (message: object): Buffer => Buffer.from(JSON.stringify(message));

/** Delivers messages of a server to its clients. */
export interface ClientMessages {
  deliver(client: EditorClient, message: Buffer): void;
  drained(client: EditorClient): void;
}

interface Source {
  pause(): unknown;
  resume(): unknown;
}

/**
 * Stops reading from the server while a client has too much unread, so that memory stays bounded. A client that does not
 * catch up within `slow_ms` is disconnected, so that it does not block the others.
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
