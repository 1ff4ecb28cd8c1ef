import { isUtf8 } from 'node:buffer';
import { sha256 } from '../base/sha256.ts';
import { fenceFor } from '../base/text.ts';

export interface NamedBytes {
  filename: string;
  bytes: Buffer;
}

/**
 * The body of a snapshot: each file under a heading, between two fences that nothing in it can end. Its size says where
 * it ends, also without a last line end; what is not text stands in base64.
 */
export const renderFiles = (files: readonly NamedBytes[]): Buffer =>
  Buffer.concat([Buffer.from(INTRODUCTION), ...files.flatMap(partsOf)]);

const INTRODUCTION = `
The global memory as it was then. Between its two fences each file stands byte for byte.
`;

const partsOf = ({ filename, bytes }: NamedBytes): Buffer[] => {
  const isPlain = isUtf8(bytes) && !bytes.includes(0);
  const block = isPlain ? bytes : Buffer.from(bytes.toString('base64'));
  const fence = fenceFor(block.toString('latin1'));
  const size = `${bytes.length} bytes${isPlain ? '' : BASE64}, SHA-256 ${sha256(bytes)}`;
  const end = block.at(-1) === NEWLINE ? '' : '\n';
  return [
    Buffer.from(`\n## ${filename}\n\n${size}\n\n${fence}${isPlain ? 'markdown' : 'base64'}\n`),
    block,
    Buffer.from(`${end}${fence}\n`),
  ];
};

const NEWLINE = 10;
const BASE64 = ', here in base64';

const FILE =
  /^## ([A-Za-z0-9][A-Za-z0-9._-]*\.md)\n\n(\d+) bytes(, here in base64)?, SHA-256 ([0-9a-f]{64})\n\n`{3,}[a-z0-9]+\n/gm;

/** The files of a snapshot's body, in order, up to the first that is not as it was written. */
export const parseFiles = (body: Buffer): NamedBytes[] => {
  // One character a byte: sizes are in bytes.
  const text = body.toString('latin1');
  const pattern = new RegExp(FILE);
  const files: NamedBytes[] = [];
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const [, filename = '', size, encoded, hash] = found;
    const length = encoded === undefined ? Number(size) : 4 * Math.ceil(Number(size) / 3);
    const block = body.subarray(pattern.lastIndex, pattern.lastIndex + length);
    const bytes = encoded === undefined ? block : Buffer.from(block.toString('latin1'), 'base64');
    if (sha256(bytes) !== hash) break;
    files.push({ filename, bytes });
    pattern.lastIndex += length;
  }
  return files;
};
