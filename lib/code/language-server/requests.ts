import { type EditorClient, messageBytes } from './client.ts';
import { type Envelope, messageId, withId } from './envelope.ts';

const MOST_PENDING = 4096;

/** What clients have asked a server and await an answer to. */
interface Requests {
  /** The request with a number of the daemon's own for its id; undefined when too many are unanswered. */
  pass(client: EditorClient, message: Buffer, envelope: Envelope): Buffer | undefined;
  /** Whose answer it is, with the id as that client wrote it; undefined when nobody waits for it any more. */
  settle(
    message: Buffer,
    envelope: Envelope,
  ): { client: EditorClient; message: Buffer } | undefined;
  /** The client's $/cancelRequest, with the daemon's number in it. */
  cancel(client: EditorClient, message: Buffer): Buffer;
  /** Nobody waits for the client's answers any more: the cancellations that tell the server so. */
  forget(client: EditorClient): Buffer[];
}

/** Two clients may use the same id: each request goes on with a number of its own, and its answer comes back with the id. */
export const createRequests = (): Requests => {
  const pending = new Map<number, { client: EditorClient; id: string }>();
  // 0 is the daemon's own initialize.
  let last = 0;
  return {
    pass: (client, message, envelope) => {
      if (pending.size >= MOST_PENDING) return undefined;
      last += 1;
      pending.set(last, { client, id: messageId(message, envelope) });
      return withId(message, envelope, String(last));
    },
    settle: (message, envelope) => {
      const number = Number(messageId(message, envelope));
      const request = pending.get(number);
      if (request === undefined) return undefined;
      pending.delete(number);
      return { client: request.client, message: withId(message, envelope, request.id) };
    },
    cancel: (client, message) => {
      const sent = JSON.parse(message.toString('utf8'));
      const id = JSON.stringify(sent.params?.id);
      const found = [...pending].find(([, one]) => one.client === client && one.id === id);
      return cancelling(found?.[0] ?? -1);
    },
    forget: (client) => {
      const numbers = [...pending].flatMap(([number, one]) =>
        one.client === client ? number : [],
      );
      for (const number of numbers) pending.delete(number);
      return numbers.map(cancelling);
    },
  };
};

const cancelling = (id: number): Buffer =>
  messageBytes({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id } });
