/** The largest message that a server or a client may send, in bytes. */
const LARGEST_MESSAGE = 32 * 1_048_576;

const LONGEST_HEADER = 4096;
const END_OF_HEADER = Buffer.from('\r\n\r\n');

/** What a language server wrote is no message of the protocol. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** The header that goes before a message on a server's standard input. */
export const headerOf = (message: Buffer): string => `Content-Length: ${message.length}\r\n\r\n`;

/**
 * Takes chunks of a server's standard output and hands on each message as its bytes, whatever the chunks' borders. Keeps
 * at most one message. Throws FrameError, after which the rest of the output has no meaning any more.
 */
export const createFrameReader = (
  take: (message: Buffer) => void,
  largest = LARGEST_MESSAGE,
): ((chunk: Buffer) => void) => {
  let parts: Buffer[] = [];
  let size = 0;
  // Of the message that is being read; undefined while its header is.
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
    if (end === -1 || end > LONGEST_HEADER) throw new FrameError('a header that does not end');
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
  if (found === undefined) throw new FrameError('a header without Content-Length');
  const length = Number(found);
  if (length === 0 || length > largest)
    throw new FrameError(`a message of ${found} bytes; at most ${largest} are taken`);
  return length;
};
