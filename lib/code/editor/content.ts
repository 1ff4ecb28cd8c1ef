import { isUtf8 } from 'node:buffer';
import { LARGEST_FILE, type TreeFile } from '../../../store/fs/worktree/read.ts';
import type { EditorFile, WrittenFile } from '../../../store/records/editor.ts';
import { badField, ServiceError } from '../../errors.ts';

/** What a file is to hold, as it was sent. */
export interface Sent {
  content: string;
  encoding?: 'utf-8' | 'base64';
}

/** The bytes that were meant. Throws 400 for a content that is not what its encoding says, 413 for one that is too large. */
export const contentBytes = ({ content, encoding = 'utf-8' }: Sent): Buffer => {
  const bytes = Buffer.from(content, encoding);
  const isMeant =
    encoding === 'base64' ? bytes.toString('base64') === content : !/\p{Cs}/u.test(content);
  if (!isMeant) throw notAs(encoding);
  if (bytes.length <= LARGEST_FILE) return bytes;
  throw new ServiceError(
    'too_large',
    `The file would have ${bytes.length} bytes, and ${LARGEST_FILE} at most are written here. Write it in the worktree itself.`,
    { members: { size: bytes.length, max_bytes: LARGEST_FILE } },
  );
};

const notAs = (encoding: string): ServiceError => {
  const message =
    encoding === 'base64'
      ? 'is not base64, with its padding and without line ends'
      : 'holds half a character (a lone surrogate), which no file can hold';
  return badField('/content', message, `content ${message}. Nothing was written.`);
};

/** As text where that is what it is, byte for byte; else as base64. */
export const readEditorFile = (file: TreeFile): EditorFile => {
  const { bytes } = file;
  const binary = isBinary(bytes);
  const encoding = binary ? 'base64' : 'utf-8';
  return { ...writtenRecord(file), encoding, content: bytes.toString(encoding) };
};

export const writtenRecord = ({ path, bytes, sha256 }: TreeFile): WrittenFile => ({
  path,
  size: bytes.length,
  sha256,
  binary: isBinary(bytes),
});

// As git tells them apart, but for the whole file; and what is not UTF-8 could not come back from a text as it was.
const isBinary = (bytes: Buffer): boolean => bytes.includes(0) || !isUtf8(bytes);
