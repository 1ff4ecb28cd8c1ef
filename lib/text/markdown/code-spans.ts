type Span = [start: number, end: number];

/**
 * The code spans in the text of a paragraph, in order. Only spans that every Markdown parser recognizes: stops where a tag,
 * link or table might contain a backtick.
 */
export const codeSpans = (text: string): Span[] => {
  if (!text.includes('`') || TABLE.test(text) || DEFINITION.test(text)) return [];
  const reading: Reading = { text, runs: runsByLength(text), word: 0, spans: [] };
  const tokens = new RegExp(TOKEN);
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const goOn = take(reading, found[0], found.index);
    if (goOn === undefined) break;
    tokens.lastIndex = goOn;
  }
  return reading.spans;
};

interface Reading {
  text: string;
  runs: Map<number, Runs>;
  /** The end of the last word that was read. */
  word: number;
  spans: Span[];
}

// Where to continue; undefined if the rest is ambiguous.
const take = (reading: Reading, token: string, at: number): number | undefined => {
  const { text, runs, spans } = reading;
  const after = at + token.length;
  if (token.startsWith('\\')) return after;
  if (token.startsWith('`')) {
    const end = endOfSpan(runs, at, token.length);
    if (end !== undefined) spans.push([at, end]);
    return end ?? after;
  }
  if (!ADDRESS.test(token)) return matchesAt(PLAIN, text, at) ? after : undefined;
  if (reading.word <= at) reading.word = endOfWord(text, at);
  return text[reading.word] === '`' ? undefined : after;
};

// Each table cell is parsed by itself.
const TABLE = /^[ \t]*[|:-][-:| \t]*$/m;
const DEFINITION = /^\[[\s\S]*\]:/;

const TOKEN = /\\[!-/:-@[-`{-~]|`+|<(?=[a-z/!?])|\]\(|:\/\/|www\./gi;
const ADDRESS = /^(?::|w)/i;

// Tags, addresses and links that clearly end before the next backtick.
const PLAIN =
  /<[a-z/][^\s<>`"'=]*>|<[a-z]+:[^\s<>`]*>|\]\([^\s()<>"'`\\]*(?:[ \t]"[^"()<>`\\\n]*")?\)/iy;

const matchesAt = (pattern: RegExp, text: string, at: number): boolean => {
  pattern.lastIndex = at;
  return pattern.test(text);
};

const endOfWord = (text: string, from: number): number => {
  const end = /[\s<`]/g;
  end.lastIndex = from;
  return end.exec(text)?.index ?? text.length;
};

interface Runs {
  starts: number[];
  next: number;
}

// The positions of backtick runs, by length.
const runsByLength = (text: string): Map<number, Runs> => {
  const runs = new Map<number, Runs>();
  for (const { index, 0: run } of text.matchAll(/`+/g)) {
    const same = runs.get(run.length);
    if (same === undefined) runs.set(run.length, { starts: [index], next: 0 });
    else same.starts.push(index);
  }
  return runs;
};

// A span ends at the next run of the same length.
const endOfSpan = (runs: Map<number, Runs>, begin: number, length: number): number | undefined => {
  const same = runs.get(length);
  if (same === undefined) return undefined;
  while ((same.starts[same.next] ?? Infinity) <= begin) same.next += 1;
  const start = same.starts[same.next];
  return start === undefined ? undefined : start + length;
};
