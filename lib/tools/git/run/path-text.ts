import { isUtf8 } from 'node:buffer';

/**
 * Decodes a name that was read as latin1. A name that is not UTF-8 is quoted with octal escapes, as git does, so that
 * different names stay different.
 */
export const pathText = (path: string): string => {
  if (ASCII.test(path)) return path;
  return utf8Path(path) ?? `"${path.replace(UNCLEAR, escaped)}"`;
};

/** Decodes a name that is valid UTF-8; else undefined. */
export const utf8Path = (path: string): string | undefined => {
  const bytes = Buffer.from(path, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
};

/** A text as git's names are read: one character for each byte. */
export const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

/** Decodes a name as UTF-8, whatever its bytes: not to be opened by, as bytes that are not UTF-8 are lost. */
export const lossyPath = (path: string): string => Buffer.from(path, 'latin1').toString('utf8');

const ASCII = /^[ -~\t\n\r]*$/;
const UNCLEAR = /[^ -~]|["\\]/g;

const escaped = (char: string): string => {
  if (char === '"' || char === '\\') return `\\${char}`;
  return `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`;
};
