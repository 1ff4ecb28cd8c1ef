import { visible } from '../../../store/base/visible.ts';

/** The keys of the terminal, one at a time. */
export interface Keys {
  /**
   * Asks, and answers the first of these keys that is pressed then: what was typed before all that was written is shown is
   * dropped, and so is what is typed together with the answer, behind it.
   */
  ask(question: string, wanted: readonly string[]): Promise<string>;
  /** Gives the terminal back. */
  close(): void;
}

/** Keys that leave what is shown: Ctrl-C and Ctrl-D, too. */
export const LEAVES = ['q', '\u0003', '\u0004'];
const ENDED = '\u0004';
const ESCAPE = '\u001b';

/** Takes the terminal: each key comes as it is pressed, Ctrl-C too, and none is shown. */
export const openKeys = (): Keys => {
  const { stdin } = process;
  let take: ((key: string) => void) | undefined;
  const hear = (typed: Buffer | string): void => {
    const text = typed.toString();
    // An arrow is many characters, and one key.
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

/** Drops what was typed before it was asked for: no line of it becomes an answer. */
export const dropTyped = async (): Promise<void> => {
  const keys = openKeys();
  await untilQuiet();
  keys.close();
};

// What the system has of it by now is read, and heard by nobody.
const untilQuiet = async (): Promise<void> => {
  await written();
  await turnOfTheLoop();
  await turnOfTheLoop();
};

const written = (): Promise<void> =>
  new Promise((resolve) => process.stdout.write('', () => resolve()));

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const ROWS = 24;
const COLUMNS = 80;
// Of the page before, to find the place again.
const KEPT = 1;

/** Shows a text by pages of the terminal; Enter or a blank shows the next. False where it was left before its end. */
export const showByPages = async (text: string, keys: Keys): Promise<boolean> => {
  const { stdout } = process;
  const lines = visible(text).split('\n');
  for (let at = 0; ; ) {
    const end = at + fitting(lines.slice(at), stdout);
    stdout.write(`${lines.slice(at, end).join('\n')}\n`);
    if (end >= lines.length) return true;
    const foot = `-- ${end} of ${lines.length} lines. Enter: next page, q: leave --`;
    if (!(await goesOn(keys, foot))) return false;
    at = end;
  }
};

const goesOn = async (keys: Keys, foot: string): Promise<boolean> => {
  const isNext = NEXT.includes(await keys.ask(foot, [...NEXT, ...LEAVES]));
  // The next page is written over the foot of this one.
  process.stdout.write(isNext ? `\r${' '.repeat(foot.length)}\r` : '\n');
  return isNext;
};

const NEXT = ['\r', '\n', ' '];

// At least one line, however long it is.
const fitting = (lines: readonly string[], { rows, columns }: NodeJS.WriteStream): number => {
  const width = columns || COLUMNS;
  let left = (rows || ROWS) - 1 - KEPT;
  const count = lines.findIndex((line) => {
    left -= Math.max(1, Math.ceil(cellsOf(line) / width));
    return left < 0;
  });
  return count < 0 ? lines.length : Math.max(1, count);
};

// What is not ASCII may take two: a page that is too short hides nothing.
const cellsOf = (line: string): number =>
  line.replaceAll('\t', '        ').replaceAll(/[^ -~]/gu, '  ').length;
