import { isUtf8 } from 'node:buffer';
import { createReadStream, readFileSync } from 'node:fs';
import { orElse } from '../../../store/base/attempt.ts';
import { UsageError } from '../../config.ts';
import { Refusal } from './refusal.ts';

// More than the daemon accepts as a text; limits input that does not end.
const MOST = 1_048_576;

/** Reads the file of `--file`; `-` is standard input. */
export const readFileOption = (file: string): Promise<string> =>
  readInput(file === '-' ? process.stdin : createReadStream(file), 'The file of --file');

/** Reads UTF-8 text. `name` is the subject of its errors: `The file of --file`. */
export const readInput = async (source: AsyncIterable<Buffer>, name: string): Promise<string> => {
  const bytes = await readAll(source, name);
  if (isUtf8(bytes)) return bytes.toString();
  throw new Refusal(`${name} is not UTF-8. Save it as UTF-8`);
};

const readAll = async (source: AsyncIterable<Buffer>, name: string): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of source) {
      parts.push(part);
      size += part.length;
      if (size > MOST) break;
    }
  } catch (error) {
    throw new UsageError(`${name} cannot be read: ${whyUnreadable(error)}`);
  }
  if (size > MOST) throw new Refusal(`${name} is larger than 1 MB. Shorten it`);
  return Buffer.concat(parts);
};

/** The reason, as part of a sentence, for an error of reading a file. */
export const whyUnreadable = (error: unknown): string => {
  const { code, path, message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? `${path} does not exist` : message;
};

/**
 * Throws a Refusal for a text from the command line that was not UTF-8. Node replaces what it cannot decode, so the message
 * would arrive with other characters than were typed.
 */
export const checkTyped = (text: string): void => {
  if (!text.includes(REPLACED)) return;
  // The character itself can be typed, too.
  if (orElse(() => isUtf8(readFileSync('/proc/self/cmdline')), false)) return;
  throw new Refusal(
    `The text is not UTF-8: ${JSON.stringify(text.slice(0, SHOWN))}. Send it as UTF-8, for example with iconv -t UTF-8`,
  );
};

const REPLACED = '\ufffd';
const SHOWN = 60;
