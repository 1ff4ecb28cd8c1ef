import { visible } from '../../../store/base/visible.ts';
import { Problem } from '../../../store/front-matter/problem.ts';
import { decodeText } from '../../../store/front-matter/text.ts';
import { type FieldError, ServiceError } from '../../errors.ts';

/** Throws `bad_request` for a title or a text that could not be read back from the file it is to be kept in. */
export const checkTexts = (texts: Record<string, string | undefined>): void => {
  const errors = Object.entries(texts).flatMap(([name, text]) =>
    text === undefined ? [] : faults(name, text),
  );
  if (errors.length === 0) return;
  const sentences = errors.map(({ path, message }) => `${path} ${message}`);
  throw new ServiceError('bad_request', `${sentences.join('; ')}.`, { errors });
};

const faults = (name: string, text: string): FieldError[] => {
  const fault = (name === 'title' ? titleFault(text) : undefined) ?? textFault(text);
  return fault === undefined ? [] : [{ path: `/${name}`, message: fault }];
};

const LINE_BREAKING = /[\p{Cc}\u2028\u2029]/u;
const LINE_BREAKINGS = new RegExp(`${LINE_BREAKING.source}+`, 'gu');

/** A title that somebody else wrote, as one line in which all is seen. */
export const asOneLine = (title: string): string =>
  visible(title.replaceAll(LINE_BREAKINGS, ' ').trim());
const HALF_A_PAIR = /\p{Cs}/u;

const titleFault = (title: string): string | undefined => {
  if (title.trim() === '') return 'must not be blank';
  if (LINE_BREAKING.test(title)) return 'must be one line, without control characters such as tabs';
  return visible(title) === title
    ? undefined
    : 'holds invisible characters, or ones that turn its direction round; take them out';
};

// The reader of records itself is asked.
const textFault = (text: string): string | undefined => {
  if (HALF_A_PAIR.test(text))
    return 'holds half a surrogate pair, which UTF-8 cannot say; take it out';
  try {
    decodeText(Buffer.from(text));
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return FAULTS[error.code] ?? error.message;
    throw error;
  }
};

const FAULTS: Record<string, string> = {
  nul_byte: 'holds a NUL character; take it out',
  conflict_markers:
    'looks like a git merge that was left open; indent the lines with <<<<<<<, ======= and >>>>>>>',
};
