// Drawn as nothing, though Unicode classes them as symbols or format controls: Braille, Khitan, hieroglyphs, music.
const EMPTY = '\\u2800\\u{16FE4}\\u{13430}-\\u{13442}\\u{1D159}';

/** A character class: characters that are invisible, or that move, hide or reverse visible ones. */
export const UNSEEN_ONE = `[\\p{Cc}\\p{DI}\\p{Zl}\\p{Zp}\\uFFF9-\\uFFFB${EMPTY}]`;

// Line ends and tabs are allowed.
const UNSEEN = `(?![\\t\\n]|\\r\\n)${UNSEEN_ONE}`;

// Scripts in which an invisible joiner changes the form of a letter.
const JOINED = ['Arab', 'Syrc', 'Nkoo', 'Mong', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml']
  .concat(['Telu', 'Knda', 'Mlym', 'Sinh', 'Khmr', 'Tibt', 'Mymr'])
  .map((script) => `\\p{scx=${script}}`)
  .join('');

// A direction mark beside right-to-left letters places their punctuation.
const RIGHT_TO_LEFT = '[\\p{scx=Arab}\\p{scx=Hebr}\\p{scx=Syrc}\\p{scx=Thaa}]';
const MARK = '[\\u200E\\u200F\\u061C]';

// The flags of England, Scotland and Wales. Tags behind a flag could spell any other word, which an agent reads.
const FLAGS = ['gbeng', 'gbsct', 'gbwls'].map((name) =>
  [...name].map((letter) => `\\u{${(0xe0000 + letter.charCodeAt(0)).toString(16)}}`).join(''),
);

// Legitimate invisible characters: in emoji, flags and joined letters, and the byte order mark.
const FITTING = [
  `\\u{1F3F4}(?:${FLAGS.join('|')})\\u{E007F}`,
  '\\p{ExtPict}(?:\\p{EMod}|[\\uFE0E\\uFE0F])?(?:\\u200D\\p{ExtPict}(?:\\p{EMod}|\\uFE0F)?)*',
  '[0-9#*]\\uFE0F\\u20E3',
  '\\p{Script=Han}[\\uFE00-\\uFE0F\\u{E0100}-\\u{E01EF}]',
  `(?<=[${JOINED}])\\u200C`,
  `(?<=[${JOINED}])\\u200D`,
  '(?<=\\p{Script=Mongolian})[\\u180B-\\u180D\\u180F]',
  `(?<=${RIGHT_TO_LEFT}[ \\p{P}]{0,3})${MARK}`,
  `${MARK}(?=[ \\p{P}]{0,3}${RIGHT_TO_LEFT})`,
  '^\\uFEFF',
].join('|');

const HIDES = new RegExp(UNSEEN, 'u');
const ONE = new RegExp(`${FITTING}|(${UNSEEN})`, 'gu');
const RUN = new RegExp(`${FITTING}|((?:${UNSEEN})+)`, 'gu');

/**
 * Replaces control characters with their pictures (`␛`) and invisible ones with their number (`⟦U+202E⟧`). Line ends,
 * tabs, emoji and the joiners of scripts stay. Idempotent.
 */
export const visible = (text: string): string =>
  HIDES.test(text)
    ? text.replace(ONE, (all, hidden?: string) => (hidden === undefined ? all : nameOf(hidden)))
    : text;

const nameOf = (char: string): string => {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(PICTURES + code);
  if (code === DEL) return '␡';
  return `⟦U+${code.toString(16).toUpperCase().padStart(4, '0')}⟧`;
};

const PICTURES = 0x2400;
const DEL = 0x7f;

const [ESC, CSI] = [0x1b, 0x9b].map((code) => String.fromCharCode(code));
const COLOUR = new RegExp(`(?:${ESC}\\[|${CSI})[\\d;:]*m`, 'g');

/** Terminal output without its colours; everything else is made visible. */
export const visibleOutput = (text: string): string =>
  HIDES.test(text) ? visible(text.replace(COLOUR, '')) : text;

/** Applies `show` to every string in a value, at any depth, except field names and fields that end in `_id`. */
export const visibleWithin = <T>(value: T, show = visible): T => {
  if (typeof value === 'string') return show(value) as T;
  if (Array.isArray(value)) return value.map((one) => visibleWithin(one, show)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [
    key,
    key.endsWith('_id') ? one : visibleWithin(one, show),
  ]);
  return Object.fromEntries(entries) as T;
};

/** Hidden text in a file, made visible. Lines and columns count from 1. */
interface HiddenText {
  line: number;
  /** In characters. */
  column: number;
  kind: 'control' | 'bidi' | 'invisible' | 'line_separator' | 'long_blank' | 'blank_lines';
  text: string;
}

/** Finds text that a reader would not see, or that blanks push out of sight, in order: at most 100 places. */
export const warningsIn = (text: string): HiddenText[] => {
  const found = [...hiddenIn(text), ...blanksIn(text), ...emptyLinesIn(text)].toSorted(
    (a, b) => a.at - b.at,
  );
  let [line, start] = [1, 0];
  return found.slice(0, MOST).map(({ at, kind, shown }) => {
    for (let end = text.indexOf('\n', start); end >= 0 && end < at; ) {
      [line, start] = [line + 1, end + 1];
      end = text.indexOf('\n', start);
    }
    const column = [...text.slice(start, at)].length + 1;
    return { line, column, kind, text: [...shown].slice(0, LONGEST).join('') };
  });
};

const MOST = 100;
const LONGEST = 80;

interface Found {
  at: number;
  kind: HiddenText['kind'];
  shown: string;
}

const hiddenIn = (text: string): Found[] => {
  if (!HIDES.test(text)) return [];
  return [...text.matchAll(RUN)].flatMap(({ 1: hidden, index }) =>
    hidden === undefined
      ? []
      : [{ at: index, kind: kindOf(hidden), shown: [...hidden].map(nameOf).join('') }],
  );
};

const kindOf = (hidden: string): HiddenText['kind'] =>
  KINDS.find(([, pattern]) => pattern.test(hidden))?.[0] ?? 'invisible';

const KINDS: readonly (readonly [HiddenText['kind'], RegExp])[] = [
  ['control', /\p{Cc}/u],
  ['bidi', /\p{Bidi_C}/u],
  ['line_separator', /[\p{Zl}\p{Zp}]/u],
];

const TAB = 8;

// Blanks hide something only if text follows them.
const blanksIn = (text: string): Found[] =>
  [...text.matchAll(/[\t\p{Zs}]{10,}/gu)].flatMap(({ 0: blanks, index }) => {
    const after = text.slice(index + blanks.length, index + blanks.length + LONGEST);
    const columns = blanks.length + blanks.split('\t').length * (TAB - 1) - (TAB - 1);
    if (columns < LONGEST || /^(?:\s|$)/.test(after)) return [];
    return [{ at: index, kind: 'long_blank', shown: visible(after.split('\n')[0] ?? '') }];
  });

const FOLD = 20;

// A loop, because a regular expression would take quadratic time on runs of blanks.
const emptyLinesIn = (text: string): Found[] => {
  const found: Found[] = [];
  let [at, first, empty] = [0, 0, 0];
  for (const line of text.split('\n')) {
    if (line.trim() === '') {
      if (empty === 0) first = at;
      empty += 1;
    } else {
      if (empty >= FOLD)
        found.push({ at: first, kind: 'blank_lines', shown: visible(line.slice(0, LONGEST)) });
      empty = 0;
    }
    at += line.length + 1;
  }
  return found;
};

const NEEDS_ESCAPE = new RegExp(UNSEEN_ONE, 'u');
const EVERY_ESCAPED = new RegExp(`(?!\\n)${NEEDS_ESCAPE.source}`, 'gu');

/**
 * JSON in which a terminal shows every character: C1 controls, bidi and invisible characters are written `\uXXXX`, which
 * parses to the same value.
 */
export const jsonText = (value: unknown, indent?: number): string => {
  const json = JSON.stringify(value, undefined, indent);
  return indent === undefined && !NEEDS_ESCAPE.test(json)
    ? json
    : json.replace(EVERY_ESCAPED, escaped);
};

const escaped = (char: string): string =>
  [...Array(char.length).keys()]
    .map((at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');
