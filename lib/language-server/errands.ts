import { list, record } from '../wire.ts';
import { type Client, jsonOf } from './client.ts';
import { type Envelope, idOf } from './envelope.ts';

/** What a server has asked of an editor. */
export interface Errands {
  /** Goes to the editor that has been there longest; with none there, the answer is given here. */
  give(message: Buffer, envelope: Envelope, clients: Iterable<Client>): Given;
  /** Whether the client was asked this; its answer is taken once. */
  isDone(client: Client, message: Buffer, envelope: Envelope): boolean;
  /** The answers to what a client that goes was asked and has not answered. */
  forget(client: Client): Buffer[];
}

type Given = { to: Client } | { answer: Buffer };

export const createErrands = (): Errands => {
  const asked = new Map<string, { client: Client; message: Buffer }>();
  return {
    give: (message, envelope, clients) => {
      for (const client of clients) {
        if (!client.isEditor) continue;
        asked.set(idOf(message, envelope), { client, message });
        return { to: client };
      }
      return { answer: answerTo(message) };
    },
    isDone: (client, message, envelope) => {
      const id = idOf(message, envelope);
      return asked.get(id)?.client === client && asked.delete(id);
    },
    forget: (client) =>
      [...asked].flatMap(([id, one]) => {
        if (one.client !== client) return [];
        asked.delete(id);
        return answerTo(one.message);
      }),
  };
};

const NOT_DONE = -32_601;

// What an editor without any features of its own would say.
const answerTo = (message: Buffer): Buffer => {
  const { id, method, params } = JSON.parse(message.toString('utf8'));
  const answer = ANSWERS[method]?.(params);
  if (answer !== undefined) return jsonOf({ jsonrpc: '2.0', id, result: answer });
  const error = { code: NOT_DONE, message: `No editor is there for ${method}` };
  return jsonOf({ jsonrpc: '2.0', id, error });
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
