import { visible } from '../../../store/base/visible.ts';
import { Problem } from '../../../store/front-matter/problem.ts';
import { decodeText } from '../../../store/front-matter/text.ts';
import { badField, type FieldError, ServiceError } from '../../errors.ts';

/** Throws `bad_request` for a title or text that could not be read back from its file. */
export const checkTexts = (texts: Record<string, string | undefined>): void => {
  const errors = Object.entries(texts).flatMap(([name, text]) =>
    text === undefined ? [] : faults(name, text),
  );
  if (errors.length === 0) return;
  const sentences = errors.map(({ path, message }) => `${path} ${message}`);
  throw new ServiceError('bad_request', `${sentences.join('; ')}.`, { errors });
};

/** Throws `bad_request` for the command of a check that is blank, or that is not displayed as it would run. */
export const checkCommand = (command: string): void => {
  checkTexts({ command });
  if (command.trim() === '') throw badField('/command', 'must not be blank');
  if (visible(command) === command) return;
  throw badField(
    '/command',
    'contains invisible characters',
    'The command contains invisible characters. Type it again.',
  );
};

const faults = (name: string, text: string): FieldError[] => {
  const fault = (name === 'title' ? titleFault(text) : undefined) ?? textFault(text);
  return fault === undefined ? [] : [{ path: `/${name}`, message: fault }];
};

const LINE_BREAKING = /[\p{Cc}\u2028\u2029]/u;
const LINE_BREAKINGS = new RegExp(`${LINE_BREAKING.source}+`, 'gu');

/** A title from outside as one line, with invisible characters made visible. */
export const asOneLine = (title: string): string =>
  visible(title.replaceAll(LINE_BREAKINGS, ' ').trim());

/** A time for readers of a text: `2026-01-31 12:30 UTC`. */
export const minuteOf = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;

const HALF_A_PAIR = /\p{Cs}/u;

const titleFault = (title: string): string | undefined => {
  if (title.trim() === '') return 'must not be blank';
  if (LINE_BREAKING.test(title)) return 'must be one line, without control characters such as tabs';
  return visible(title) === title
    ? undefined
    : 'contains invisible or bidirectional control characters; remove them';
};

// The reader of records itself decides.
const textFault = (text: string): string | undefined => {
  if (HALF_A_PAIR.test(text))
    return 'contains an unpaired surrogate, which UTF-8 cannot encode; remove it';
  try {
    decodeText(Buffer.from(text));
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return FAULTS[error.code] ?? error.message;
    throw error;
  }
};

const FAULTS: Record<string, string> = {
  nul_byte: 'contains a NUL character; remove it',
  conflict_markers:
    'looks like an unresolved git merge; indent the lines with <<<<<<<, ======= and >>>>>>>',
};
