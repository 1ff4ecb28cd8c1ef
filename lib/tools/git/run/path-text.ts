import { isUtf8 } from 'node:buffer';

/**
 * A name that was read as latin1, byte for byte, as text. One that is not UTF-8 is written as git writes it for people,
 * in quotes and with octal numbers, so that no two names become one.
 */
export const pathText = (path: string): string => {
  if (ASCII.test(path)) return path;
  return utf8Path(path) ?? `"${path.replace(UNCLEAR, escaped)}"`;
};

/** The same where the name is UTF-8: what programs that know text alone can open. */
export const utf8Path = (path: string): string | undefined => {
  const bytes = Buffer.from(path, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
};

const ASCII = /^[ -~\t\n\r]*$/;
const UNCLEAR = /[^ -~]|["\\]/g;

const escaped = (char: string): string => {
  if (char === '"' || char === '\\') return `\\${char}`;
  return `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`;
};
