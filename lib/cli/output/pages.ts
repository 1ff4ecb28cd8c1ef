import { visible } from '../../../store/base/visible.ts';
import { type Keys, LEAVES } from './keys.ts';

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
