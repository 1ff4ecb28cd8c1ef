import { styleText } from 'node:util';
import { jsonText, visible } from '../../../store/base/visible.ts';
import { showByPager } from '../../tools/process/terminal.ts';

export type Style = Parameters<typeof styleText>[0];

/** A text, optionally with a style. */
export type Words = string | { style: Style; text: string };

/** The output of a command. Control and invisible characters in texts are made visible. */
export interface Out {
  /** The output is a terminal, so columns are aligned. */
  readonly isTerminal: boolean;
  say(...words: Words[]): void;
  /** Prints without a line end. */
  piece(words: Words): void;
  /** Prints a long text, at a terminal with the pager. */
  read(text: string, styleOf?: (line: string) => Style | undefined): Promise<void>;
  /** Prints a value as JSON. */
  json(value: unknown): void;
  /** Prints a value as one line of JSON. */
  jsonLine(value: unknown): void;
  /**
   * Prints rows: at a terminal in columns, with further lines of the last cell below the row, otherwise separated by tabs for
   * cut and awk.
   */
  table(rows: readonly (readonly Words[])[]): void;
}

// outTo decides about colours, not styleText.
const PLAIN = { validateStream: false };

/** Creates the output. Colours are used only at a terminal, and not with NO_COLOR (https://no-color.org). */
export const createOutput = (
  stream: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>,
  env: NodeJS.ProcessEnv,
): Out => {
  const { NO_COLOR = '', TERM } = env;
  const isTerminal = stream.isTTY === true;
  const coloured = isTerminal && NO_COLOR === '' && TERM !== 'dumb';
  const line = (text: string): void => void stream.write(`${text}\n`);
  const shown = (words: Words, width = 0): string => {
    const text = textOf(words).padEnd(width);
    return coloured && typeof words !== 'string' ? styleText(words.style, text, PLAIN) : text;
  };
  return {
    isTerminal,
    say: (...words) => line(words.map((each) => shown(each)).join('')),
    piece: (words) => void stream.write(shown(words)),
    read: async (text, styleOf = () => undefined) => {
      const styled = (line: string): Words => {
        const style = styleOf(line);
        return style === undefined ? line : { style, text: line };
      };
      const told = text
        .split('\n')
        .map((each) => shown(styled(each)))
        .join('\n');
      if (!(isTerminal && (await showByPager(`${told}\n`, env)))) line(told);
    },
    json: (value) => line(jsonText(value, 2)),
    jsonLine: (value) => line(jsonText(value)),
    table: (rows) => {
      for (const text of tableLines(rows, isTerminal, shown)) line(text);
    },
  };
};

const tableLines = (
  rows: readonly (readonly Words[])[],
  isTerminal: boolean,
  shown: (words: Words, width?: number) => string,
): string[] => {
  const widths = isTerminal ? widthsOf(rows) : [];
  const separator = isTerminal ? '  ' : '\t';
  return rows.flatMap((row) => {
    const [last = '', ...below] = isTerminal ? linesOf(row.at(-1)) : row.slice(-1);
    const cells = [...row.slice(0, -1), last].map((cell, column) =>
      shown(inOneLine(cell), widths[column]),
    );
    return [cells.join(separator), ...below.map((text) => `  ${shown(text)}`)].map((text) =>
      text.trimEnd(),
    );
  });
};

const textOf = (words: Words): string => visible(typeof words === 'string' ? words : words.text);

const linesOf = (words: Words = ''): Words[] =>
  textOf(words)
    .trimEnd()
    .split(/\r?\n/)
    .map((text) => (typeof words === 'string' ? text : { ...words, text }));

const inOneLine = (words: Words): Words => {
  const text = textOf(words).replaceAll(/\s+/g, ' ');
  return typeof words === 'string' ? text : { ...words, text };
};

// The last column is not padded.
const widthsOf = (rows: readonly (readonly Words[])[]): number[] =>
  (rows[0] ?? [])
    .slice(0, -1)
    .map((_, column) =>
      Math.max(...rows.map((cells) => textOf(inOneLine(cells[column] ?? '')).length)),
    );
