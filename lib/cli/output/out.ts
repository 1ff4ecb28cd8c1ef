import { styleText } from 'node:util';
import { jsonText, visible } from '../../../store/base/visible.ts';
import { showByPager } from '../../tools/process/terminal.ts';

export type Style = Parameters<typeof styleText>[0];

/** A text, or one in a style where colours are wanted. */
export type Words = string | { style: Style; text: string };

/** Where a command says what it found. What comes from an agent, an issue or a file is shown, whatever it hides. */
export interface Out {
  /** Somebody looks at it: columns stand below each other. */
  readonly isTerminal: boolean;
  say(...words: Words[]): void;
  /** A part of a line, or lines: what follows stands behind it. */
  piece(words: Words): void;
  /** A long text: by the pager, where somebody looks, and there each line in its style. */
  read(text: string, styleOf?: (line: string) => Style | undefined): Promise<void>;
  /** One value for programs: the API's own answer. */
  json(value: unknown): void;
  /** The same, of many values: each in one line. */
  jsonLine(value: unknown): void;
  /** At a terminal in columns; else with tabs between, for cut and awk. */
  table(rows: readonly (readonly Words[])[]): void;
}

// Whether colours are wanted is decided here.
const PLAIN = { validateStream: false };

/** As https://no-color.org asks; to what is no terminal no escape is ever written. */
export const outTo = (
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
      const widths = isTerminal ? widthsOf(rows) : [];
      for (const cells of rows)
        line(
          cells
            .map((cell, column) => shown(inOneLine(cell), widths[column]))
            .join(isTerminal ? '  ' : '\t')
            .trimEnd(),
        );
    },
  };
};

const textOf = (words: Words): string => visible(typeof words === 'string' ? words : words.text);

const inOneLine = (words: Words): Words => {
  const text = textOf(words).replaceAll(/\s+/g, ' ');
  return typeof words === 'string' ? text : { ...words, text };
};

// The last column is as wide as it comes.
const widthsOf = (rows: readonly (readonly Words[])[]): number[] =>
  (rows[0] ?? [])
    .slice(0, -1)
    .map((_, column) =>
      Math.max(...rows.map((cells) => textOf(inOneLine(cells[column] ?? '')).length)),
    );
