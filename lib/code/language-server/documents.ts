import { list, number, record, text, type Wire } from '../../text/unknown-json.ts';

/** The open files of one server, with each client's version. */
interface Documents<Client> {
  /** Applies a client's open, change or close, and returns the messages to send to the server in its place. */
  apply(client: Client, method: string, params: unknown): DocumentMessage[];
  /** Closes all files of a client that disconnects. */
  closeAll(client: Client): DocumentMessage[];
  /** The messages that give the server this client's text before the client's request about the file. */
  activate(client: Client, uri: string): DocumentMessage[];
  /** The clients whose text differs from the server's, or from the server's text at this version. */
  clientsWithOtherText(uri: string, version?: number): Client[];
  /** The clients to warn that their texts of a file differ: each once, until the texts are equal again. */
  clientsToWarn(uri: string, among: (client: Client) => boolean): Client[];
}

export interface DocumentMessage {
  method: string;
  params: object;
  /** Whether it is identical to the client's own message. */
  asSent: boolean;
}

interface Version {
  text: string;
  version: number;
}

interface Open<Client> {
  versions: Map<Client, Version>;
  /** The client whose text the server has. */
  active: Client;
  /** The latest texts sent to the server, by version, because its diagnostics arrive later. */
  texts: Map<number, string>;
  /** Clients that were warned of different texts. */
  warned: Set<Client>;
}

/**
 * A server accepts one text for each open file. If several clients have a file open, the server gets the text of the
 * client that changed it or sent a request last; when that client closes the file, another's.
 */
export const createDocuments = <Client>(): Documents<Client> => {
  const open = new Map<string, Open<Client>>();

  const opened = (client: Client, uri: string, params: Wire): DocumentMessage[] => {
    const own = versionIn(record(params.textDocument));
    const known = open.get(uri);
    if (known === undefined) {
      open.set(uri, openedBy(client, own));
      return [{ method: DID_OPEN, params, asSent: true }];
    }
    known.versions.set(client, own);
    activateText(known, client);
    return [whole(uri, own)];
  };

  const changed = (client: Client, uri: string, params: Wire): DocumentMessage[] => {
    const known = open.get(uri);
    const own = known?.versions.get(client);
    if (known === undefined || own === undefined) return [];
    own.text = list(params.contentChanges).reduce<string>(applyChange, own.text);
    own.version = number(record(params.textDocument).version) ?? own.version;
    const asSent = known.active === client;
    activateText(known, client);
    return [asSent ? { method: DID_CHANGE, params, asSent } : whole(uri, own)];
  };

  const closed = (client: Client, uri: string): DocumentMessage[] => {
    const known = open.get(uri);
    if (known === undefined || !known.versions.delete(client)) return [];
    known.warned.delete(client);
    const [next] = known.versions;
    if (next === undefined) {
      open.delete(uri);
      return [{ method: DID_CLOSE, params: { textDocument: { uri } }, asSent: false }];
    }
    if (known.active !== client) return [];
    activateText(known, next[0]);
    return [whole(uri, next[1])];
  };

  return {
    activate: (client, uri) => activateFor(client, uri, open.get(uri)),
    clientsWithOtherText: (uri, version) => clientsWithOtherTextIn(open.get(uri), version),
    clientsToWarn: (uri, among) => unwarned(open.get(uri), among),
    apply: (client, method, given) => {
      const params = record(given);
      const uri = text(record(params.textDocument).uri) ?? '';
      if (method === DID_OPEN) return opened(client, uri, params);
      return method === DID_CHANGE ? changed(client, uri, params) : closed(client, uri);
    },
    closeAll: (client) => [...open.keys()].flatMap((uri) => closed(client, uri)),
  };
};

const openedBy = <Client>(client: Client, own: Version): Open<Client> => ({
  versions: new Map([[client, own]]),
  active: client,
  texts: new Map([[own.version, own.text]]),
  warned: new Set(),
});

const versionIn = ({ text: content, version }: Wire): Version => ({
  text: text(content) ?? '',
  version: number(version) ?? 0,
});

const activateFor = <Client>(
  client: Client,
  uri: string,
  known: Open<Client> | undefined,
): DocumentMessage[] => {
  const own = known?.versions.get(client);
  if (known === undefined || own === undefined || known.active === client) return [];
  const same = known.versions.get(known.active)?.text === own.text;
  activateText(known, client);
  return same ? [] : [whole(uri, own)];
};

const TEXTS = 8;

const activateText = <Client>(known: Open<Client>, client: Client): void => {
  known.active = client;
  const own = known.versions.get(client);
  if (own === undefined) return;
  known.texts.delete(own.version);
  known.texts.set(own.version, own.text);
  const [oldest] = known.texts.keys();
  if (known.texts.size > TEXTS && oldest !== undefined) known.texts.delete(oldest);
};

const clientsWithOtherTextIn = <Client>(
  known: Open<Client> | undefined,
  version?: number,
): Client[] => {
  if (known === undefined || known.versions.size < 2) return [];
  const active = known.texts.get(version ?? Number.NaN) ?? known.versions.get(known.active)?.text;
  return [...known.versions].flatMap(([client, { text: own }]) => (own === active ? [] : client));
};

const unwarned = <Client>(
  known: Open<Client> | undefined,
  among: (client: Client) => boolean,
): Client[] => {
  if (known === undefined || known.versions.size < 2) return [];
  const theirs = [...known.versions].filter(([client]) => among(client));
  const isSame = new Set(theirs.map(([, { text: own }]) => own)).size < 2;
  if (isSame) known.warned.clear();
  const news = isSame ? [] : theirs.flatMap(([client]) => (known.warned.has(client) ? [] : client));
  for (const client of news) known.warned.add(client);
  return news;
};

export const DID_OPEN = 'textDocument/didOpen';
export const DID_CHANGE = 'textDocument/didChange';
export const DID_CLOSE = 'textDocument/didClose';

const whole = (uri: string, { text: content, version }: Version): DocumentMessage => ({
  method: DID_CHANGE,
  params: { textDocument: { uri, version }, contentChanges: [{ text: content }] },
  asSent: false,
});

const applyChange = (before: string, change: unknown): string => {
  const { range, text: content } = record(change);
  const written = text(content) ?? '';
  if (range === undefined) return written;
  const { start, end } = record(range);
  return before.slice(0, offsetOf(before, start)) + written + before.slice(offsetOf(before, end));
};

// In UTF-16 units, like the protocol and JavaScript strings.
const offsetOf = (content: string, position: unknown): number => {
  const { line, character } = record(position);
  const ends = /\r\n|\n|\r/g;
  for (let left = number(line) ?? 0; left > 0; left -= 1)
    if (ends.exec(content) === null) return content.length;
  const from = ends.lastIndex;
  const end = ends.exec(content)?.index ?? content.length;
  return Math.min(end, from + (number(character) ?? 0));
};
