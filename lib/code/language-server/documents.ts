import { list, number, record, text, type Wire } from '../../text/unknown-json.ts';

/** A change or a text of a client's, as the protocol's parameters say it. */
type Params = unknown;

/** The open files of one server, each client's own version of them. */
interface Documents<Client> {
  /** What the server has to be told instead, in this order, when a client opens, changes or closes a file. */
  hear(client: Client, method: string, params: Params): DocumentMessage[];
  /** The same for all that a client has open, when it goes. */
  leave(client: Client): DocumentMessage[];
  /** What the server has to be told before the client asks about a file, where it has another's text of it. */
  show(client: Client, uri: string): DocumentMessage[];
  /** Who has a text of the file other than the server has, or than it had when it was told this version. */
  apart(uri: string, version?: number): Client[];
  /** Those `among` whom a file has different texts, each told once until it is the same again. */
  differing(uri: string, among: (client: Client) => boolean): Client[];
}

export interface DocumentMessage {
  method: string;
  params: object;
  /** It is what the client sent, word for word. */
  asSent: boolean;
}

interface Version {
  text: string;
  version: number;
}

interface Open<Client> {
  versions: Map<Client, Version>;
  /** Whose version the server has. */
  shown: Client;
  /** The newest texts that the server was told, by their versions: it answers late. */
  texts: Map<number, string>;
  /** Who knows that another has another text. */
  told: Set<Client>;
}

/**
 * A server takes each file as open once, with one text. Where several clients have it open, the server has the version of
 * the one that wrote or asked last; when that one closes the file, another's.
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
    present(known, client);
    return [whole(uri, own)];
  };

  const changed = (client: Client, uri: string, params: Wire): DocumentMessage[] => {
    const known = open.get(uri);
    const own = known?.versions.get(client);
    if (known === undefined || own === undefined) return [];
    own.text = list(params.contentChanges).reduce<string>(applyChange, own.text);
    own.version = number(record(params.textDocument).version) ?? own.version;
    const asSent = known.shown === client;
    present(known, client);
    return [asSent ? { method: DID_CHANGE, params, asSent } : whole(uri, own)];
  };

  const closed = (client: Client, uri: string): DocumentMessage[] => {
    const known = open.get(uri);
    if (known === undefined || !known.versions.delete(client)) return [];
    known.told.delete(client);
    const [next] = known.versions;
    if (next === undefined) {
      open.delete(uri);
      return [{ method: DID_CLOSE, params: { textDocument: { uri } }, asSent: false }];
    }
    if (known.shown !== client) return [];
    present(known, next[0]);
    return [whole(uri, next[1])];
  };

  return {
    show: (client, uri) => shownTo(client, uri, open.get(uri)),
    apart: (uri, version) => apartIn(open.get(uri), version),
    differing: (uri, among) => untold(open.get(uri), among),
    hear: (client, method, given) => {
      const params = record(given);
      const uri = text(record(params.textDocument).uri) ?? '';
      if (method === DID_OPEN) return opened(client, uri, params);
      return method === DID_CHANGE ? changed(client, uri, params) : closed(client, uri);
    },
    leave: (client) => [...open.keys()].flatMap((uri) => closed(client, uri)),
  };
};

const openedBy = <Client>(client: Client, own: Version): Open<Client> => ({
  versions: new Map([[client, own]]),
  shown: client,
  texts: new Map([[own.version, own.text]]),
  told: new Set(),
});

const versionIn = ({ text: content, version }: Wire): Version => ({
  text: text(content) ?? '',
  version: number(version) ?? 0,
});

const shownTo = <Client>(
  client: Client,
  uri: string,
  known: Open<Client> | undefined,
): DocumentMessage[] => {
  const own = known?.versions.get(client);
  if (known === undefined || own === undefined || known.shown === client) return [];
  const same = known.versions.get(known.shown)?.text === own.text;
  present(known, client);
  return same ? [] : [whole(uri, own)];
};

const TEXTS = 8;

const present = <Client>(known: Open<Client>, client: Client): void => {
  known.shown = client;
  const own = known.versions.get(client);
  if (own === undefined) return;
  known.texts.delete(own.version);
  known.texts.set(own.version, own.text);
  const [oldest] = known.texts.keys();
  if (known.texts.size > TEXTS && oldest !== undefined) known.texts.delete(oldest);
};

const apartIn = <Client>(known: Open<Client> | undefined, version?: number): Client[] => {
  if (known === undefined || known.versions.size < 2) return [];
  const shown = known.texts.get(version ?? Number.NaN) ?? known.versions.get(known.shown)?.text;
  return [...known.versions].flatMap(([client, { text: own }]) => (own === shown ? [] : client));
};

const untold = <Client>(
  known: Open<Client> | undefined,
  among: (client: Client) => boolean,
): Client[] => {
  if (known === undefined || known.versions.size < 2) return [];
  const theirs = [...known.versions].filter(([client]) => among(client));
  const isSame = new Set(theirs.map(([, { text: own }]) => own)).size < 2;
  if (isSame) known.told.clear();
  const news = isSame ? [] : theirs.flatMap(([client]) => (known.told.has(client) ? [] : client));
  for (const client of news) known.told.add(client);
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

// In UTF-16 units, as the protocol counts and as strings do.
const offsetOf = (content: string, position: unknown): number => {
  const { line, character } = record(position);
  const ends = /\r\n|\n|\r/g;
  for (let left = number(line) ?? 0; left > 0; left -= 1)
    if (ends.exec(content) === null) return content.length;
  const from = ends.lastIndex;
  const end = ends.exec(content)?.index ?? content.length;
  return Math.min(end, from + (number(character) ?? 0));
};
