/**
 * A fast parser for front matter as records nearly always have it: comments, empty lines and `key: value` lines, each value
 * plain text, text in simple double quotes, null, a boolean or a small whole number. Undefined for everything else, which
 * the YAML parser reads. It is thirty times as fast, and tests compare the results of the two.
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

// Also matches an empty line.
const COMMENT = /^(?:#[\t\x20-\x7e\u00a0-\ud7ff]*)?$/;
// The key of `null: x` is not text. Inherited names such as `constructor` are refused by `key in data`.
const KEY = /^(?!(?:null|true|false)$)[a-z][a-z0-9_]{0,99}$/;

const WORDS = new Map<string, unknown>([
  ['null', null],
  ['true', true],
  ['false', false],
]);
// YAML also reads these as null, true or false.
const OTHER_CASE = /^(?:null|true|false)$/i;
const NUMBER = /^(?:0|[1-9]\d{0,14})$/;
const ID_OR_TIME =
  /^(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)$/;
const LETTER = String.raw`A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff\u4e00-\u9fff`;
const SIGN = String.raw`!$%&'()*+,./;<=>?@[\]^_{|}~\d-`;
// Starts with a letter. A colon must not precede a space; a number sign after a space would start a comment.
const TEXT = new RegExp(`^[${LETTER}](?:[${LETTER}${SIGN} ]|:(?=[${LETTER}${SIGN}]))*$`);
const QUOTED = new RegExp(`^"[${LETTER}${SIGN} :#]*"$`);

// Undefined if only the YAML parser can read it.
const plainValue = (text: string): unknown => {
  if (WORDS.has(text)) return WORDS.get(text);
  if (NUMBER.test(text)) return Number(text);
  if (ID_OR_TIME.test(text)) return text;
  if (QUOTED.test(text)) return text.slice(1, -1);
  const isText = TEXT.test(text) && !text.endsWith(' ') && !OTHER_CASE.test(text);
  return isText ? text : undefined;
};
