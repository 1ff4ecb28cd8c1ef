import { isUtf8 } from 'node:buffer';
import { number, record, text } from '../../text/unknown-json.ts';
import {
  ASKED,
  type ClientMessages,
  type EditorClient,
  messageBytes,
  type Subscription,
} from './client.ts';
import {
  createDocuments,
  DID_CHANGE,
  DID_CLOSE,
  DID_OPEN,
  type DocumentMessage,
} from './documents.ts';
import { initializeParams } from './initialize.ts';
import { type Envelope, EnvelopeError, messageId, readEnvelope } from './json-rpc.ts';
import { createRequests, createServerRequests } from './requests.ts';

/** The messages between one server and its clients. */
interface Exchange {
  readonly clients: ReadonlySet<EditorClient>;
  /** Initialises the server, once for all clients. Rejects with what the server said against it. */
  greet(root: string): Promise<void>;
  /** One message of the server's. Throws when it is none. */
  hear(message: Buffer): void;
  join(client: EditorClient): Subscription;
}

/** Writes one message to the server; false when it should be waited for. */
type Write = (message: Buffer) => boolean;

interface State {
  write: Write;
  delivery: ClientMessages;
  clients: Set<EditorClient>;
  requests: ReturnType<typeof createRequests>;
  serverRequests: ReturnType<typeof createServerRequests>;
  documents: ReturnType<typeof createDocuments<EditorClient>>;
  /** What the server can do, as JSON: its answer to initialize. */
  capabilities: string;
  greeted: (answer: Buffer) => void;
}

const GREETING = 0;

/** `patience_ms`: how long an editor may leave a request of the server's unanswered. */
export const createExchange = (
  write: Write,
  delivery: ClientMessages,
  patience_ms: number,
): Exchange => {
  const state: State = {
    write,
    delivery,
    clients: new Set(),
    capabilities: 'null',
    greeted: () => undefined,
    requests: createRequests(),
    serverRequests: createServerRequests(patience_ms, write),
    documents: createDocuments<EditorClient>(),
  };
  return {
    clients: state.clients,
    greet: (root) => greet(state, root),
    hear: (message) => hear(state, message),
    join: (client) => join(state, client),
  };
};

const greet = (state: State, root: string): Promise<void> =>
  new Promise((resolve, reject) => {
    state.greeted = (answer) => {
      const { result, error } = JSON.parse(answer.toString('utf8'));
      if (result === undefined)
        return reject(new Error(`refused to start: ${text(record(error).message) ?? 'no reason'}`));
      state.capabilities = JSON.stringify(result);
      state.write(messageBytes({ jsonrpc: '2.0', method: 'initialized', params: {} }));
      resolve();
    };
    const params = initializeParams(root);
    state.write(messageBytes({ jsonrpc: '2.0', id: GREETING, method: 'initialize', params }));
  });

const hear = (state: State, message: Buffer): void => {
  if (!isUtf8(message)) throw new EnvelopeError('the message is not UTF-8');
  const envelope = readEnvelope(message);
  if (envelope.method === undefined) handleResponse(state, message, envelope);
  else if (envelope.id !== undefined) handleServerRequest(state, message, envelope);
  else spread(state, message, envelope);
};

const spread = (state: State, message: Buffer, { method }: Envelope): void => {
  const apart = method === DIAGNOSTICS ? apartFrom(state, message) : [];
  for (const client of state.clients)
    if (client.isEditor && !apart.includes(client)) state.delivery.deliver(client, message);
};

const DIAGNOSTICS = 'textDocument/publishDiagnostics';

// They are of the text that the server has: whoever has another would see them in the wrong places.
const apartFrom = ({ clients, documents }: State, message: Buffer): EditorClient[] => {
  if (clients.size < 2) return [];
  const { uri, version } = record(JSON.parse(message.toString('utf8')).params);
  return documents.apart(uriOf(uri), number(version));
};

const uriOf = (uri: unknown): string => text(uri) ?? '';

const handleServerRequest = (state: State, message: Buffer, envelope: Envelope): void => {
  const given = state.serverRequests.give(message, envelope, state.clients);
  if ('to' in given) state.delivery.deliver(given.to, message);
  else state.write(given.answer);
};

const handleResponse = (state: State, message: Buffer, envelope: Envelope): void => {
  const settled = state.requests.settle(message, envelope);
  if (messageId(message, envelope) === String(GREETING)) state.greeted(message);
  else if (settled !== undefined) state.delivery.deliver(settled.client, settled.message);
};

const join = (state: State, client: EditorClient): Subscription => {
  const { clients, delivery, documents, serverRequests, requests, write } = state;
  clients.add(client);
  return {
    receive: (message) => receive(state, client, message),
    drained: () => delivery.drained(client),
    leave: () => {
      if (!clients.delete(client)) return;
      delivery.drained(client);
      tell(state, documents.leave(client));
      for (const message of [...requests.forget(client), ...serverRequests.forget(client)])
        write(message);
    },
  };
};

const receive = (state: State, client: EditorClient, message: Buffer): boolean => {
  const envelope = readEnvelope(message);
  const { id, method } = envelope;
  if (method === undefined) {
    const answer = state.serverRequests.answered(client, message, envelope);
    return answer === undefined || state.write(answer);
  }
  if (id !== undefined) return request(state, client, message, envelope);
  if (DOCUMENT.has(method)) {
    const { params } = JSON.parse(message.toString('utf8'));
    const isTold = tell(state, state.documents.hear(client, method, params), message);
    warn(state, uriOf(params?.textDocument?.uri));
    return isTold;
  }
  if (method === '$/cancelRequest') return state.write(state.requests.cancel(client, message));
  if (method === 'exit') client.end(ASKED);
  return LIFE.has(method) || state.write(message);
};

// Two editors of one file with different unsaved texts: who is not told takes the other's for a fault of the server's.
const warn = ({ documents, delivery }: State, uri: string): void => {
  const params = {
    type: WARNING,
    message: `Another editor has other unsaved text of ${uri}. ${HOW}`,
  };
  const message = messageBytes({ jsonrpc: '2.0', method: 'window/showMessage', params });
  for (const client of documents.differing(uri, ({ isEditor }) => isEditor))
    delivery.deliver(client, message);
};

const WARNING = 2;
const HOW =
  'What you ask is answered by your text; diagnostics are shown to the one whose text was sent last. Save in one of them, and close or reload the other.';

const DOCUMENT = new Set([DID_OPEN, DID_CHANGE, DID_CLOSE]);
const LIFE = new Set(['initialized', 'exit']);

// The server is shared: it is initialised already, and not one client's to shut down.
const request = (
  state: State,
  client: EditorClient,
  message: Buffer,
  envelope: Envelope,
): boolean => {
  const reply = (content: string): boolean => {
    const id = messageId(message, envelope);
    state.delivery.deliver(client, Buffer.from(`{"jsonrpc":"2.0","id":${id},${content}}`));
    return true;
  };
  if (envelope.method === 'initialize') return reply(`"result":${state.capabilities}`);
  if (envelope.method === 'shutdown') return reply('"result":null');
  showFirst(state, client, message);
  const passed = state.requests.pass(client, message, envelope);
  return passed === undefined ? reply(TOO_MANY) : state.write(passed);
};

// What is asked of a file is asked of the text that the client has.
const showFirst = (state: State, client: EditorClient, message: Buffer): void => {
  if (state.clients.size < 2) return;
  const { params } = JSON.parse(message.toString('utf8'));
  tell(state, state.documents.show(client, uriOf(params?.textDocument?.uri)));
};

const TOO_MANY =
  '"error":{"code":-32000,"message":"The language server owes too many answers: wait for some"}';

const tell = (state: State, tellings: DocumentMessage[], asSent?: Buffer): boolean =>
  tellings
    .map(({ method, params, ...telling }) =>
      state.write(
        telling.asSent && asSent !== undefined
          ? asSent
          : messageBytes({ jsonrpc: '2.0', method, params }),
      ),
    )
    .every(Boolean);
