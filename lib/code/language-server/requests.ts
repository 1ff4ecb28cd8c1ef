import { ownValue } from '../../../store/base/own-value.ts';
import { list, record } from '../../text/unknown-json.ts';
import { type EditorClient, messageBytes } from './client.ts';
import { type Envelope, messageId, withId } from './json-rpc.ts';

const MOST_PENDING = 4096;

/** Pending requests of clients to a server. */
interface Requests {
  /** The request with a new id of the daemon; undefined if too many are pending. */
  pass(client: EditorClient, message: Buffer, envelope: Envelope): Buffer | undefined;
  /** The client of a response, and the response with the client's id; undefined if the request is not pending. */
  settle(
    message: Buffer,
    envelope: Envelope,
  ): { client: EditorClient; message: Buffer } | undefined;
  /** The client's `$/cancelRequest` with the daemon's id. */
  cancel(client: EditorClient, message: Buffer): Buffer;
  /** Drops the requests of a client that disconnects, and returns their cancellations. */
  forget(client: EditorClient): Buffer[];
}

/** Replaces request ids, because two clients may use the same id. */
export const createRequests = (): Requests => {
  const pending = new Map<number, { client: EditorClient; id: string }>();
  // 0 is the id of the daemon's own `initialize`.
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

/** Requests of a server to an editor. */
interface ServerRequests {
  /** Chooses the responsive editor that is connected longest; without one, returns a default answer. */
  forward(message: Buffer, envelope: Envelope, clients: Iterable<EditorClient>): Forwarded;
  /**
   * The answer to send to the server: the client's, or the default answer if the client does not support the method.
   * Undefined if no request of this id is pending at this client.
   */
  handleAnswer(client: EditorClient, message: Buffer, envelope: Envelope): Buffer | undefined;
  /** Default answers to the pending requests of a client that disconnects. */
  forget(client: EditorClient): Buffer[];
}

type Forwarded = { to: EditorClient } | { answer: Buffer };

interface PendingRequest {
  client: EditorClient;
  message: Buffer;
  timer: NodeJS.Timeout;
}

/** Sends the default answer if an editor does not answer within `patience_ms`, because some servers block meanwhile. */
export const createServerRequests = (
  patience_ms: number,
  write: (answer: Buffer) => unknown,
): ServerRequests => {
  const asked = new Map<string, PendingRequest>();
  // Editors that let a request time out and have answered none since.
  const silent = new WeakSet<EditorClient>();
  const forward = (client: EditorClient, message: Buffer, id: string): void => {
    const giveUp = (): void => {
      asked.delete(id);
      silent.add(client);
      write(answerTo(message));
    };
    const timer = setTimeout(giveUp, patienceFor(message, patience_ms));
    asked.set(id, { client, message, timer: timer.unref() });
  };
  return {
    forward: (message, envelope, clients) => {
      for (const client of clients) {
        if (!client.isEditor || silent.has(client)) continue;
        forward(client, message, messageId(message, envelope));
        return { to: client };
      }
      return { answer: answerTo(message) };
    },
    handleAnswer: (client, message, envelope) => {
      const id = messageId(message, envelope);
      silent.delete(client);
      const pending = asked.get(id);
      if (pending?.client !== client) return undefined;
      clearTimeout(pending.timer);
      asked.delete(id);
      return isNotDone(message) ? answerTo(pending.message) : message;
    },
    forget: (client) =>
      [...asked].flatMap(([id, one]) => {
        if (one.client !== client) return [];
        clearTimeout(one.timer);
        asked.delete(id);
        return answerTo(one.message);
      }),
  };
};

// This request asks a person, and servers do not block on it.
const patienceFor = (message: Buffer, patience_ms: number): number =>
  JSON.parse(message.toString('utf8')).method === 'window/showMessageRequest'
    ? patience_ms * 30
    : patience_ms;

const NOT_DONE = -32_601;

const isNotDone = (answer: Buffer): boolean =>
  record(JSON.parse(answer.toString('utf8')).error).code === NOT_DONE;

// The answer of an editor without optional features.
const answerTo = (message: Buffer): Buffer => {
  const { id, method, params } = JSON.parse(message.toString('utf8'));
  const answer = ownValue(ANSWERS, method)?.(params);
  if (answer !== undefined) return messageBytes({ jsonrpc: '2.0', id, result: answer });
  const error = { code: NOT_DONE, message: `No editor is connected to handle ${method}` };
  return messageBytes({ jsonrpc: '2.0', id, error });
};

const nothing = () => null;
const ANSWERS: Record<string, (params: unknown) => unknown> = {
  'workspace/configuration': (params) => list(record(params).items).map(nothing),
  'workspace/applyEdit': () => ({ applied: false }),
  'workspace/workspaceFolders': nothing,
  'client/registerCapability': nothing,
  'client/unregisterCapability': nothing,
  'window/workDoneProgress/create': nothing,
  'window/showMessageRequest': nothing,
};
