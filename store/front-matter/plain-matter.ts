/**
 * The values of front matter that is written as records nearly always are: lines of `key: value`, with comments and empty
 * lines between them, each value a text that needs no quotes, one in plain double quotes, null, a boolean or a small whole
 * number. Undefined for all else, which is for the YAML parser: for these lines it answers the same (the tests compare the
 * two), and takes thirty times as long.
 */
export const plainMatter = (yaml: string): Record<string, unknown> | undefined => {
  if (!yaml.endsWith('\n')) return undefined;
  const data: Record<string, unknown> = {};
  let isEmpty = true;
  for (const line of yaml.slice(0, -1).split('\n')) {
    if (COMMENT.test(line)) continue;
    const colon = line.indexOf(': ');
    const key = line.slice(0, Math.max(0, colon));
    const value = KEY.test(key) ? plainValue(line.slice(colon + 2)) : undefined;
    if (value === undefined || key in data) return undefined;
    data[key] = value;
    isEmpty = false;
  }
  return isEmpty ? undefined : data;
};

// Or nothing at all.
const COMMENT = /^(?:#[\t\x20-\x7e\u00a0-\ud7ff]*)?$/;
// `null: x` has no text as its key. What an object has by itself, such as `constructor`, is in `data` already.
const KEY = /^(?!(?:null|true|false)$)[a-z][a-z0-9_]{0,99}$/;

const WORDS = new Map<string, unknown>([
  ['null', null],
  ['true', true],
  ['false', false],
]);
// YAML reads each of these as the word.
const OTHER_CASE = /^(?:null|true|false)$/i;
const NUMBER = /^(?:0|[1-9]\d{0,14})$/;
const ID_OR_TIME =
  /^(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)$/;
const LETTER = String.raw`A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff\u4e00-\u9fff`;
const SIGN = String.raw`!$%&'()*+,./;<=>?@[\]^_{|}~\d-`;
// Begins with a letter. A colon only before what is no space; a number sign would begin a comment after a space.
const TEXT = new RegExp(`^[${LETTER}](?:[${LETTER}${SIGN} ]|:(?=[${LETTER}${SIGN}]))*$`);
const QUOTED = new RegExp(`^"[${LETTER}${SIGN} :#]*"$`);

// Undefined where it is for the YAML parser.
const plainValue = (text: string): unknown => {
  if (WORDS.has(text)) return WORDS.get(text);
  if (NUMBER.test(text)) return Number(text);
  if (ID_OR_TIME.test(text)) return text;
  if (QUOTED.test(text)) return text.slice(1, -1);
  const isText = TEXT.test(text) && !text.endsWith(' ') && !OTHER_CASE.test(text);
  return isText ? text : undefined;
};
