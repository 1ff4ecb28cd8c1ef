import { useEffect, useRef, useState } from 'preact/hooks';
import type { FilePatch } from '../../../../lib/text/patch.ts';
import { visible } from '../../../../store/base/visible.ts';
import type { Pieces, startHighlighter } from './highlight-worker.ts';
import { linesIn, type Row } from './rows.ts';

/** Highlighted lines, by language and text. */
export type Highlights = ReadonlyMap<string, Pieces>;

// The highlighter has each as the name of a language, or as an alias of one.
const ENDINGS =
  'ts tsx mts cts js jsx mjs cjs py go rs java kt rb php c h cc cpp hpp cs swift json yaml yml toml md html xml css scss sql sh bash lua';
const HIGHLIGHTED: ReadonlySet<string> = new Set(ENDINGS.split(' '));

/** Longer lines are not highlighted. */
const LONGEST = 500;
const MOST = 20_000;

export const highlightKey = (path: string, text: string): string => `${languageOf(path)}\n${text}`;

const languageOf = (path: string): string | undefined => {
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  return HIGHLIGHTED.has(ending) ? ending : undefined;
};

type Highlighter = ReturnType<typeof startHighlighter>;

/** Highlights the visible rows. A row is shown without colours until its result arrives. */
export const useHighlights = (
  files: readonly FilePatch[],
  rows: readonly Row[],
  seen: readonly number[],
): Highlights => {
  const [highlights, setHighlights] = useState<Highlights>(new Map());
  const helper = useRef<Promise<Highlighter> | undefined>(undefined);
  useEffect(() => () => void helper.current?.then(({ end }) => end()), []);
  useEffect(() => {
    const requests = requestsFor(files, rows, seen, highlights);
    if (requests.size === 0) return;
    helper.current ??= import('./highlight-worker.ts').then((it) => it.startHighlighter());
    for (const [language, lines] of requests)
      void helper.current
        .then(({ ask }) => ask({ language, lines }))
        .then((pieces) => setHighlights((known) => withMore(known, language, lines, pieces)))
        .catch(() => undefined);
  }, [rows, seen[0], seen.at(-1)]);
  return highlights;
};

const withMore = (
  known: Highlights,
  language: string,
  lines: string[],
  pieces: Pieces[],
): Highlights => {
  const all = new Map(known.size > MOST ? [] : known);
  for (const [at, line] of lines.entries())
    all.set(`${language}\n${line}`, pieces[at] ?? [['', line]]);
  return all;
};

const requestsFor = (
  files: readonly FilePatch[],
  rows: readonly Row[],
  seen: readonly number[],
  known: Highlights,
): Map<string, string[]> => {
  const requests = new Map<string, string[]>();
  for (const row of seen.flatMap((at) => rows[at] ?? [])) {
    const language = languageOf(files[row.file]?.path ?? '');
    if (language === undefined) continue;
    const wanted = linesIn(row)
      .map(({ text }) => visible(text))
      .filter((text) => text.length <= LONGEST && !known.has(`${language}\n${text}`));
    if (wanted.length > 0) requests.set(language, [...(requests.get(language) ?? []), ...wanted]);
  }
  return requests;
};
