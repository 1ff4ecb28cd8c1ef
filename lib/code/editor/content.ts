import { isUtf8 } from 'node:buffer';
import { LARGEST_FILE, type TreeFile } from '../../../store/fs/worktree/read.ts';
import type { EditorFile, WrittenFile } from '../../../store/records/editor.ts';
import { badField, ServiceError } from '../../errors.ts';

/** The content of a file in a request. */
export interface Sent {
  content: string;
  encoding?: 'utf-8' | 'base64';
}

/** Decodes the content. Throws 400 if it is invalid in its encoding, 413 if it is too large. */
export const contentBytes = ({ content, encoding = 'utf-8' }: Sent): Buffer => {
  const bytes = Buffer.from(content, encoding);
  const isMeant =
    encoding === 'base64' ? bytes.toString('base64') === content : !/\p{Cs}/u.test(content);
  if (!isMeant) throw notAs(encoding);
  if (bytes.length <= LARGEST_FILE) return bytes;
  throw new ServiceError(
    'too_large',
    `The file is too large: ${bytes.length} bytes, at most ${LARGEST_FILE}. Write it directly in the worktree.`,
    { members: { size: bytes.length, max_bytes: LARGEST_FILE } },
  );
};

const notAs = (encoding: string): ServiceError => {
  const message =
    encoding === 'base64'
      ? 'is not valid base64 (with padding, without line breaks)'
      : 'contains a lone surrogate, which UTF-8 cannot encode';
  return badField('/content', message, `content ${message}. Nothing was written.`);
};

/** The file as text if it is valid UTF-8, else as base64. */
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

// Like git's check for NUL bytes, but of the whole file. Invalid UTF-8 would not survive a round trip as text.
const isBinary = (bytes: Buffer): boolean => bytes.includes(0) || !isUtf8(bytes);
