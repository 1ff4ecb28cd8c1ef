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

export interface Seat {
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

export const TOO_SLOW: ClientEnding = {
  code: CLOSED.too_slow,
  reason: 'Too much was left unread: read on, or connect again',
};
export const ASKED: ClientEnding = { code: CLOSED.asked, reason: 'exit' };

export const messageBytes = (message: object): Buffer => Buffer.from(JSON.stringify(message));
