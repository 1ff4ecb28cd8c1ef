import { UNSEEN_ONE } from './visible.ts';

const UNSEEN = new RegExp(UNSEEN_ONE, 'u');
const EVERY = new RegExp(`(?!\\n)${UNSEEN.source}`, 'gu');

/**
 * A value as JSON in which a terminal shows all there is: what JSON lets stand raw and nobody would see (C1 controls,
 * bidi, invisible characters) is written `\uXXXX`. A reader of JSON gets the very same value.
 */
export const jsonText = (value: unknown, indent?: number): string => {
  const json = JSON.stringify(value, undefined, indent);
  return indent === undefined && !UNSEEN.test(json) ? json : json.replace(EVERY, escaped);
};

const escaped = (char: string): string =>
  [...Array(char.length).keys()]
    .map((at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');
