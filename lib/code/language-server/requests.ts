import { list, record } from '../../text/unknown-json.ts';
import { type EditorClient, messageBytes } from './client.ts';
import { type Envelope, messageId, withId } from './json-rpc.ts';

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

/** What a server has asked of an editor. */
interface Errands {
  /** Goes to the editor that answers and has been there longest; with none there, the answer is given here. */
  give(message: Buffer, envelope: Envelope, clients: Iterable<EditorClient>): Given;
  /**
   * What the server is told by this answer of the client's: where the client does not do what was asked, what it would be
   * told with no editor there. Undefined: the client was not asked, or has answered before.
   */
  answered(client: EditorClient, message: Buffer, envelope: Envelope): Buffer | undefined;
  /** The answers to what a client that goes was asked and has not answered. */
  forget(client: EditorClient): Buffer[];
}

type Given = { to: EditorClient } | { answer: Buffer };

interface Errand {
  client: EditorClient;
  message: Buffer;
  timer: NodeJS.Timeout;
}

/** What an editor has not answered after `patience_ms` is answered in its place: a server may wait for nothing else. */
export const createServerRequests = (
  patience_ms: number,
  write: (answer: Buffer) => unknown,
): Errands => {
  const asked = new Map<string, Errand>();
  // Who left something unanswered, and has answered nothing since.
  const silent = new WeakSet<EditorClient>();
  const give = (client: EditorClient, message: Buffer, id: string): void => {
    const answerTimedOut = (): void => {
      asked.delete(id);
      silent.add(client);
      write(answerTo(message));
    };
    const timer = setTimeout(answerTimedOut, patienceFor(message, patience_ms));
    asked.set(id, { client, message, timer: timer.unref() });
  };
  return {
    give: (message, envelope, clients) => {
      for (const client of clients) {
        if (!client.isEditor || silent.has(client)) continue;
        give(client, message, messageId(message, envelope));
        return { to: client };
      }
      return { answer: answerTo(message) };
    },
    answered: (client, message, envelope) => {
      const id = messageId(message, envelope);
      silent.delete(client);
      const errand = asked.get(id);
      if (errand?.client !== client) return undefined;
      clearTimeout(errand.timer);
      asked.delete(id);
      return isNotDone(message) ? answerTo(errand.message) : message;
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

// A person is asked there, and no server waits for that with its other work.
const patienceFor = (message: Buffer, patience_ms: number): number =>
  JSON.parse(message.toString('utf8')).method === 'window/showMessageRequest'
    ? patience_ms * 30
    : patience_ms;

const NOT_DONE = -32_601;

const isNotDone = (answer: Buffer): boolean =>
  record(JSON.parse(answer.toString('utf8')).error).code === NOT_DONE;

// What an editor without any features of its own would say.
const answerTo = (message: Buffer): Buffer => {
  const { id, method, params } = JSON.parse(message.toString('utf8'));
  const answer = ANSWERS[method]?.(params);
  if (answer !== undefined) return messageBytes({ jsonrpc: '2.0', id, result: answer });
  const error = { code: NOT_DONE, message: `No editor is there for ${method}` };
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
