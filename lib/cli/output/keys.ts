import { setImmediate } from 'node:timers/promises';
import { visible } from '../../../store/base/visible.ts';

/** The keys of the terminal, one at a time. */
interface Keys {
  /**
   * Asks, and returns the first of these keys that is pressed. Input from before the question was shown is dropped, and so are
   * further keys in the same input.
   */
  ask(question: string, wanted: readonly string[]): Promise<string>;
  /** Restores the terminal. */
  close(): void;
}

/** The keys that leave: q, Ctrl-C and Ctrl-D. */
export const LEAVE_KEYS = ['q', '\u0003', '\u0004'];
const ENDED = '\u0004';
const ESCAPE = '\u001b';

/** Switches the terminal to raw mode: keys, also Ctrl-C, arrive as they are pressed and are not echoed. */
export const openKeyboard = (): Keys => {
  const { stdin } = process;
  let take: ((key: string) => void) | undefined;
  const hear = (typed: Buffer | string): void => {
    const text = typed.toString();
    // An escape sequence, such as an arrow, is one key.
    for (const key of text.startsWith(ESCAPE) ? [text] : text) take?.(key);
  };
  const end = (): void => hear(ENDED);
  stdin.setRawMode(true);
  stdin.on('data', hear).on('end', end).resume();
  return {
    ask: async (question, wanted) => {
      await untilQuiet();
      process.stdout.write(question);
      return new Promise((resolve) => {
        take = (key) => {
          if (!wanted.includes(key)) return;
          take = undefined;
          resolve(key);
        };
      });
    },
    close: () => {
      stdin.off('data', hear).off('end', end).pause();
      stdin.setRawMode(false);
    },
  };
};

/** Drops pending input, so that none of it becomes an answer. */
export const dropPendingInput = async (): Promise<void> => {
  const keys = openKeyboard();
  await untilQuiet();
  keys.close();
};

// Waits until pending input has been read and discarded.
const untilQuiet = async (): Promise<void> => {
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  await setImmediate();
  await setImmediate();
};

const ROWS = 24;
const COLUMNS = 80;
// The number of lines that are repeated from the last page.
const KEPT = 1;

/** Shows a text page by page; Enter or space shows the next one. Returns false if it was left before its end. */
export const showPages = async (text: string, keys: Keys): Promise<boolean> => {
  const { stdout } = process;
  const lines = visible(text).split('\n');
  for (let at = 0; ; ) {
    const end = at + fitting(lines.slice(at), stdout);
    stdout.write(`${lines.slice(at, end).join('\n')}\n`);
    if (end >= lines.length) return true;
    // One that wraps could not be overwritten.
    const foot = `-- ${end} of ${lines.length} lines. Enter: next page, q: leave --`.slice(
      0,
      (stdout.columns || COLUMNS) - 1,
    );
    if (!(await goesOn(keys, foot))) return false;
    at = end;
  }
};

const goesOn = async (keys: Keys, foot: string): Promise<boolean> => {
  const isNext = NEXT.includes(await keys.ask(foot, [...NEXT, ...LEAVE_KEYS]));
  // The next page overwrites the prompt.
  process.stdout.write(isNext ? `\r${' '.repeat(foot.length)}\r` : '\n');
  return isNext;
};

const NEXT = ['\r', '\n', ' '];

// The number of lines that fit on the screen, at least one.
const fitting = (lines: readonly string[], { rows, columns }: NodeJS.WriteStream): number => {
  const width = columns || COLUMNS;
  let left = (rows || ROWS) - 1 - KEPT;
  const count = lines.findIndex((line) => {
    left -= Math.max(1, Math.ceil(cellsOf(line) / width));
    return left < 0;
  });
  return count < 0 ? lines.length : Math.max(1, count);
};

// Counts two cells for a character outside of ASCII: a page may be too short, but never too long.
const cellsOf = (line: string): number =>
  line.replaceAll('\t', '        ').replaceAll(/[^ -~]/gu, '  ').length;
