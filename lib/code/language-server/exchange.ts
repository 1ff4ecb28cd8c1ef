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
import { type Envelope, messageId, readEnvelope } from './json-rpc.ts';
import { createRequests, createServerRequests } from './requests.ts';

/** Routes messages between one server and its clients. */
interface Exchange {
  readonly clients: ReadonlySet<EditorClient>;
  /** Initializes the server, once for all clients. Rejects with the server's error. */
  initialize(root: string): Promise<void>;
  /** Handles a message of the server. Throws if it is malformed. */
  handleMessage(message: Buffer): void;
  join(client: EditorClient): Subscription;
}

/** Writes one message to the server. Returns false if its input buffer is full. */
type Write = (message: Buffer) => boolean;

interface State {
  write: Write;
  delivery: ClientMessages;
  clients: Set<EditorClient>;
  requests: ReturnType<typeof createRequests>;
  serverRequests: ReturnType<typeof createServerRequests>;
  documents: ReturnType<typeof createDocuments<EditorClient>>;
  /** The server's result of `initialize`, as JSON. */
  capabilities: string;
  onInitialized: (answer: Buffer) => void;
}

const INITIALIZE_ID = 0;

/** `patience_ms`: how long an editor may take to answer a request of the server. */
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
    onInitialized: () => undefined,
    requests: createRequests(),
    serverRequests: createServerRequests(patience_ms, write),
    documents: createDocuments<EditorClient>(),
  };
  return {
    clients: state.clients,
    initialize: (root) => initialize(state, root),
    handleMessage: (message) => handleMessage(state, message),
    join: (client) => join(state, client),
  };
};

const initialize = (state: State, root: string): Promise<void> =>
  new Promise((resolve, reject) => {
    state.onInitialized = (answer) => {
      const { result, error } = JSON.parse(answer.toString('utf8'));
      if (result === undefined)
        return reject(new Error(`refused to start: ${text(record(error).message) ?? 'no reason'}`));
      state.capabilities = JSON.stringify(result);
      state.write(messageBytes({ jsonrpc: '2.0', method: 'initialized', params: {} }));
      resolve();
    };
    const params = initializeParams(root);
    state.write(messageBytes({ jsonrpc: '2.0', id: INITIALIZE_ID, method: 'initialize', params }));
  });

const handleMessage = (state: State, message: Buffer): void => {
  if (!isUtf8(message)) throw new Error('the message is not UTF-8');
  const envelope = readEnvelope(message);
  if (envelope.method === undefined) handleResponse(state, message, envelope);
  else if (envelope.id !== undefined) handleServerRequest(state, message, envelope);
  else broadcast(state, message, envelope);
};

const broadcast = (state: State, message: Buffer, { method }: Envelope): void => {
  const excluded = method === DIAGNOSTICS ? clientsWithOtherText(state, message) : [];
  for (const client of state.clients)
    if (client.isEditor && !excluded.includes(client)) state.delivery.deliver(client, message);
};

const DIAGNOSTICS = 'textDocument/publishDiagnostics';

// Diagnostics refer to the server's text: a client with another text would show them in the wrong places.
const clientsWithOtherText = ({ clients, documents }: State, message: Buffer): EditorClient[] => {
  if (clients.size < 2) return [];
  const { uri, version } = record(JSON.parse(message.toString('utf8')).params);
  return documents.clientsWithOtherText(uriOf(uri), number(version));
};

const uriOf = (uri: unknown): string => text(uri) ?? '';

const handleServerRequest = (state: State, message: Buffer, envelope: Envelope): void => {
  const given = state.serverRequests.forward(message, envelope, state.clients);
  if ('to' in given) state.delivery.deliver(given.to, message);
  else state.write(given.answer);
};

const handleResponse = (state: State, message: Buffer, envelope: Envelope): void => {
  const settled = state.requests.settle(message, envelope);
  if (messageId(message, envelope) === String(INITIALIZE_ID)) state.onInitialized(message);
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
      sendToServer(state, documents.closeAll(client));
      for (const message of [...requests.forget(client), ...serverRequests.forget(client)])
        write(message);
    },
  };
};

const receive = (state: State, client: EditorClient, message: Buffer): boolean => {
  const envelope = readEnvelope(message);
  const { id, method } = envelope;
  if (method === undefined) {
    const answer = state.serverRequests.handleAnswer(client, message, envelope);
    return answer === undefined || state.write(answer);
  }
  if (id !== undefined) return request(state, client, message, envelope);
  if (DOCUMENT.has(method)) {
    const { params } = JSON.parse(message.toString('utf8'));
    const hasRoom = sendToServer(state, state.documents.apply(client, method, params), message);
    warnOfOtherText(state, uriOf(params?.textDocument?.uri));
    return hasRoom;
  }
  if (method === '$/cancelRequest') return state.write(state.requests.cancel(client, message));
  if (method === 'exit') client.end(ASKED);
  return LIFE.has(method) || state.write(message);
};

// Without a warning, wrong diagnostics in one of two editors with different unsaved texts look like a server error.
const warnOfOtherText = ({ documents, delivery }: State, uri: string): void => {
  const params = {
    type: WARNING,
    message: `Another editor has different unsaved text of ${uri}. ${HOW}`,
  };
  const message = messageBytes({ jsonrpc: '2.0', method: 'window/showMessage', params });
  for (const client of documents.clientsToWarn(uri, ({ isEditor }) => isEditor))
    delivery.deliver(client, message);
};

const WARNING = 2;
const HOW =
  'Your requests use your text; diagnostics go to the editor whose text was sent last. Save in one editor, and close or reload the other.';

const DOCUMENT = new Set([DID_OPEN, DID_CHANGE, DID_CLOSE]);
const LIFE = new Set(['initialized', 'exit']);

// The server is shared: it is initialized already, and one client must not shut it down.
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
  sendClientText(state, client, message);
  const passed = state.requests.pass(client, message, envelope);
  return passed === undefined ? reply(TOO_MANY) : state.write(passed);
};

// A request about a file refers to the client's own text.
const sendClientText = (state: State, client: EditorClient, message: Buffer): void => {
  if (state.clients.size < 2) return;
  const { params } = JSON.parse(message.toString('utf8'));
  sendToServer(state, state.documents.activate(client, uriOf(params?.textDocument?.uri)));
};

const TOO_MANY =
  '"error":{"code":-32000,"message":"Too many requests to the language server are unanswered: wait for responses"}';

const sendToServer = (state: State, messages: DocumentMessage[], asSent?: Buffer): boolean =>
  messages
    .map(({ method, params, ...message }) =>
      state.write(
        message.asSent && asSent !== undefined
          ? asSent
          : messageBytes({ jsonrpc: '2.0', method, params }),
      ),
    )
    .every(Boolean);
