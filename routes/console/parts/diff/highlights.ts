import { useEffect, useRef, useState } from 'preact/hooks';
import type { FilePatch } from '../../../../lib/text/patch.ts';
import { ownValue } from '../../../../store/base/own-value.ts';
import { visible } from '../../../../store/base/visible.ts';
import type { Pieces, startHighlighter } from './highlight-worker.ts';
import { linesIn, type Row } from './rows.ts';

/** Highlighted lines, by language and text. */
export type Highlights = ReadonlyMap<string, Pieces>;

const LANGUAGES: Readonly<Record<string, string>> = {
  ts: 'typescript',
  tsx: 'typescript',
  mts: 'typescript',
  cts: 'typescript',
  js: 'javascript',
  jsx: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  py: 'python',
  go: 'go',
  rs: 'rust',
  java: 'java',
  kt: 'kotlin',
  rb: 'ruby',
  php: 'php',
  c: 'c',
  h: 'c',
  cc: 'cpp',
  cpp: 'cpp',
  hpp: 'cpp',
  cs: 'csharp',
  swift: 'swift',
  json: 'json',
  yaml: 'yaml',
  yml: 'yaml',
  toml: 'ini',
  md: 'markdown',
  html: 'xml',
  xml: 'xml',
  css: 'css',
  scss: 'scss',
  sql: 'sql',
  sh: 'bash',
  bash: 'bash',
  lua: 'lua',
};

/** Longer lines are not highlighted. */
const LONGEST = 500;
const MOST = 20_000;

export const highlightKey = (path: string, text: string): string => `${languageOf(path)}\n${text}`;

const languageOf = (path: string): string | undefined => {
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  return ownValue(LANGUAGES, ending);
};

type Highlighter = ReturnType<typeof startHighlighter>;

/** Highlights the visible rows. A row is shown without colours until its result arrives. */
export const useHighlights = (
  files: readonly FilePatch[],
  rows: readonly Row[],
  seen: readonly number[],
): Highlights => {
  const [highlights, setShades] = useState<Highlights>(new Map());
  const helper = useRef<Promise<Highlighter> | undefined>(undefined);
  useEffect(() => () => void helper.current?.then(({ end }) => end()), []);
  useEffect(() => {
    const requests = requestsFor(files, rows, seen, highlights);
    if (requests.size === 0) return;
    helper.current ??= import('./highlight-worker.ts').then((it) => it.startHighlighter());
    for (const [language, lines] of requests)
      void helper.current
        .then(({ ask }) => ask({ language, lines }))
        .then((pieces) => setShades((known) => withMore(known, language, lines, pieces)))
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
