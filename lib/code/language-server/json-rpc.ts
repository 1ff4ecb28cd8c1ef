/** The id and method of a JSON-RPC message, read without parsing its params or result. */
export interface Envelope {
  /** The byte range of the id; undefined for a notification. */
  id: { from: number; to: number } | undefined;
  /** Undefined for a response. */
  method: string | undefined;
}

const [QUOTE, BACKSLASH, COMMA, COLON, NULL] = [0x22, 0x5c, 0x2c, 0x3a, 0x6e];
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Reads the keys of the outermost object only, and stops as early as possible; values are skipped as bytes. Throws if
 * the message is not an object, or has escaped keys; the receiver validates the rest.
 */
export const readEnvelope = (message: Buffer): Envelope => {
  const found: Envelope = { id: undefined, method: undefined };
  let at = expect(message, skipBlank(message, 0), OPEN);
  let isAnswer = false;
  while (message[at] !== CLOSE) {
    const entry = entryAt(message, at);
    const { key, from, to } = entry;
    if (key === 'id' && message[from] !== NULL) found.id = { from, to };
    else if (key === 'method') found.method = message.toString('utf8', from + 1, to - 1);
    else isAnswer ||= OF_ANSWERS.has(key);
    if (found.id !== undefined && (isAnswer || found.method !== undefined)) return found;
    at = entry.next;
  }
  return found;
};

interface Entry {
  key: string;
  /** The byte range of the value. */
  from: number;
  to: number;
  /** The offset of the next key, or of the end of the object. */
  next: number;
}

const entryAt = (message: Buffer, at: number): Entry => {
  const end = endOfString(message, at);
  const key = message.toString('latin1', at + 1, end - 1);
  if (key.includes('\\')) throw new Error('a key of the message contains escapes');
  const from = expect(message, skipBlank(message, end), COLON);
  const to = endOfValue(message, from);
  const after = skipBlank(message, to);
  const next = message[after] === COMMA ? skipBlank(message, after + 1) : after;
  if (next === after && message[after] !== CLOSE) throw broken();
  return { key, from, to, next };
};

const OF_ANSWERS = new Set(['result', 'error']);

/** The id as JSON. */
export const messageId = (message: Buffer, { id }: Envelope): string =>
  id === undefined ? 'null' : message.toString('utf8', id.from, id.to);

/** Replaces the id of a message. */
export const withId = (message: Buffer, { id }: Envelope, other: string): Buffer => {
  if (id === undefined) return message;
  return Buffer.concat([message.subarray(0, id.from), Buffer.from(other), message.subarray(id.to)]);
};

const broken = (): Error => new Error('the message is not a JSON object');

const expect = (bytes: Buffer, at: number, byte: number): number => {
  if (bytes[at] !== byte) throw broken();
  return skipBlank(bytes, at + 1);
};

const skipBlank = (bytes: Buffer, from: number): number => {
  let at = from;
  while (isBlank(bytes[at])) at += 1;
  return at;
};

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

const endOfValue = (bytes: Buffer, from: number): number => {
  if (bytes[from] === QUOTE) return endOfString(bytes, from);
  if (bytes[from] === OPEN || bytes[from] === OPEN_LIST) return endOfNested(bytes, from);
  let at = from;
  while (at < bytes.length && !isEndOfWord(bytes[at])) at += 1;
  if (at === from || at >= bytes.length) throw broken();
  return at;
};

const isEndOfWord = (byte: number | undefined): boolean =>
  byte === COMMA || byte === CLOSE || byte === CLOSE_LIST || (byte !== undefined && byte <= 0x20);

const endOfNested = (bytes: Buffer, from: number): number => {
  let depth = 0;
  let at = from;
  do {
    const byte = bytes[at];
    if (byte === undefined) throw broken();
    depth += DEPTH[byte] ?? 0;
    at = byte === QUOTE ? endOfString(bytes, at) : at + 1;
  } while (depth > 0);
  return at;
};

const DEPTH = new Int8Array(256);
for (const byte of [OPEN, OPEN_LIST]) DEPTH[byte] = 1;
for (const byte of [CLOSE, CLOSE_LIST]) DEPTH[byte] = -1;

const endOfString = (bytes: Buffer, from: number): number => {
  if (bytes[from] !== QUOTE) throw broken();
  for (let at = bytes.indexOf(QUOTE, from + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
  throw broken();
};

/** The largest message that a server or a client may send, in bytes. */
const LARGEST_MESSAGE = 32 * 1_048_576;

const LONGEST_HEADER = 4096;
const END_OF_HEADER = Buffer.from('\r\n\r\n');

/** The header of a message frame. */
export const headerOf = (message: Buffer): string => `Content-Length: ${message.length}\r\n\r\n`;

/**
 * Splits the chunks of a server's standard output into messages. Buffers at most one message. Throws if they are no
 * valid frames, after which the rest of the output cannot be interpreted.
 */
export const createFrameReader = (
  take: (message: Buffer) => void,
  largest = LARGEST_MESSAGE,
): ((chunk: Buffer) => void) => {
  let parts: Buffer[] = [];
  let size = 0;
  // The length of the current message; undefined while its header is being read.
  let length: number | undefined;

  const joined = (): Buffer => (parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts));
  const keep = (rest: Buffer): void => {
    parts = rest.length > 0 ? [rest] : [];
    size = rest.length;
  };
  const readHeader = (): boolean => {
    const bytes = joined();
    const end = bytes.indexOf(END_OF_HEADER);
    if (end === -1 && size <= LONGEST_HEADER) {
      keep(bytes);
      return false;
    }
    if (end === -1 || end > LONGEST_HEADER) throw new Error('a header without an end');
    length = lengthIn(bytes.toString('latin1', 0, end), largest);
    keep(bytes.subarray(end + END_OF_HEADER.length));
    return true;
  };
  const readBody = (wanted: number): boolean => {
    if (size < wanted) return false;
    const bytes = joined();
    length = undefined;
    keep(bytes.subarray(wanted));
    take(bytes.subarray(0, wanted));
    return true;
  };
  return (chunk) => {
    parts.push(chunk);
    size += chunk.length;
    while (size > 0 && (length === undefined ? readHeader() : readBody(length)));
  };
};

const lengthIn = (header: string, largest: number): number => {
  const found = /^Content-Length: *(\d+) *$/im.exec(header)?.[1];
  if (found === undefined) throw new Error('a header without Content-Length');
  const length = Number(found);
  if (length === 0 || length > largest)
    throw new Error(`a message of ${found} bytes; the limit is ${largest}`);
  return length;
};
