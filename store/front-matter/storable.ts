import { Problem } from './problem.ts';
import { decodeText } from './text.ts';

/**
 * A text from elsewhere, such that it can be read back from a record: halves of surrogate pairs and NULs become U+FFFD,
 * and lines that look like a merge left open are set in by one blank. Done twice it is as done once.
 */
export const storable = (text: string): string => {
  const plain = text.replaceAll(UNSAYABLE, '\uFFFD');
  return looksMerging(plain) ? plain.replaceAll(MARKER, ' $&') : plain;
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: the NUL is what is looked for
const UNSAYABLE = /\p{Cs}|\u0000/gu;
const MARKER = /^(?:<<<<<<< |=======\r?$|>>>>>>> )/gm;

const looksMerging = (text: string): boolean => {
  try {
    decodeText(Buffer.from(text));
    return false;
  } catch (error) {
    if (error instanceof Problem) return error.code === 'conflict_markers';
    throw error;
  }
};
