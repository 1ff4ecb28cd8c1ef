import { visible, warningsIn } from '../../../store/base/visible.ts';
import { type ShellBlock, shellBlocks } from '../../text/markdown/fences.ts';
import { DEEPEST, readLeaves } from '../../text/markdown/leaves.ts';
import { counted } from '../../text/wording.ts';

/** The first line of a script that is not empty, used as its name. */
export const firstLine = (script: string): string => writtenLines(script)[0] ?? '';

const writtenLines = (script: string): string[] =>
  script
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The name of a script as a command: its first line, and how many follow. */
export const titleOf = (script: string): string => {
  const [first = '', ...more] = writtenLines(script);
  return more.length === 0 ? first : `${first} … and ${counted(more.length, 'more line')}`;
};

/**
 * Checks that the shell blocks of a plan are what a reader sees. Returns a sentence that names the first block with hidden
 * text; undefined without one.
 */
export const hiddenBlock = (plan: string): string | undefined => {
  const { too_deep } = readLeaves(plan);
  if (too_deep !== undefined)
    return `Line ${too_deep} of the plan is nested in more than ${DEEPEST} quotes and lists, so no block from there on would run.`;
  const blocks = shellBlocks(plan);
  if (blocks.length === 0) return undefined;
  for (const [at, { script }] of blocks.entries()) {
    const [found] = [...warningsIn(script), ...falseBlanks(script)];
    if (found === undefined) continue;
    const { kind, text, line, column } = found;
    const blanks = PUSHING[kind];
    const what = blanks === undefined ? text : `${blanks} that push “${text}” out of sight`;
    const name = `Block ${at + 1} of ${blocks.length} (${nameOf(script)})`;
    return `${name} has ${what} in line ${line}, column ${column}.`;
  }
  return returns(plan) ?? otherBlocks(plan, blocks);
};

interface Found {
  kind: string;
  text: string;
  line: number;
  column: number;
}

// Unicode spaces look like blanks, but do not separate words in a shell.
const falseBlanks = (script: string): Found[] =>
  script.split('\n').flatMap((text, at) => {
    const found = /(?![ \t])\p{Zs}/u.exec(text);
    if (found === null) return [];
    const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    const column = [...text.slice(0, found.index)].length + 1;
    return [{ kind: 'blank', text: `⟦U+${code}⟧`, line: at + 1, column }];
  });

const PUSHING: Partial<Record<string, string>> = {
  long_blank: 'blanks',
  blank_lines: 'empty lines',
};

const nameOf = (script: string): string => [...visible(firstLine(script))].slice(0, 60).join('');

// A terminal returns to the start of the line there; Markdown starts a new line.
const returns = (plan: string): string | undefined => {
  const at = plan.search(/\r(?!\n)/);
  if (at < 0) return undefined;
  const line = plan.slice(0, at).split('\n').length;
  return `Line ${line} of the plan contains a carriage return (␍) without a line feed.`;
};

// Compares with the text in which invisible characters are made visible: one next to a fence can change the blocks.
const otherBlocks = (plan: string, blocks: readonly ShellBlock[]): string | undefined => {
  const read = shellBlocks(visible(plan));
  const other = blocks.findIndex(
    ({ shell, script }, at) => read[at]?.shell !== shell || read[at].script !== script,
  );
  if (other < 0 && read.length === blocks.length) return undefined;
  const name = nameOf(blocks[Math.max(other, 0)]?.script ?? '');
  return `Invisible characters change which shell blocks the plan has, at or before the block that begins with “${name}”.`;
};

/** Limits in lines and in characters per line. Commands beyond them need a permission. */
const MOST = 100;
const LONGEST = 1000;

/**
 * The commands of a plan that can be approved to run without asking: whole lines of its shell blocks, without indentation and
 * comments. Stops in a block before the first line that is not a complete command, and after one that changes the shell for
 * later lines. Empty for a plan with hidden text.
 */
export const commandLines = (plan: string): string[] => {
  if (hiddenBlock(plan) !== undefined) return [];
  const found = shellBlocks(plan).flatMap(({ script }) => linesOf(script));
  return [...new Set(found)].slice(0, MOST);
};

const linesOf = (script: string): string[] => {
  const lines: string[] = [];
  for (const text of script.split('\n')) {
    const line = wholeCommand(text.trim());
    if (line === undefined) break;
    if (line === '' || SETS_FLAGS.test(line)) continue;
    lines.push(line);
    if (CHANGES_SHELL.test(line)) break;
  }
  return lines;
};

/** The command of a line without its comment; undefined if it continues on later lines. */
const wholeCommand = (text: string): string | undefined => {
  const line = text.length > LONGEST ? undefined : uncommented(text);
  if (line === undefined || OPENS.test(line)) return undefined;
  const count = (bracket: RegExp): number => line.match(bracket)?.length ?? 0;
  const isClosed = count(/\(/g) === count(/\)/g) && count(/\{/g) === count(/\}/g);
  return isClosed ? line : undefined;
};

// Quoted text is one piece. An open quote, or a final backslash, continues on the next line.
const PIECE = /\\.|'[^']*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|[^\\'"`#\s]+|#|\s+/y;

const uncommented = (text: string): string | undefined => {
  PIECE.lastIndex = 0;
  let isWordStart = true;
  while (PIECE.lastIndex < text.length) {
    const at = PIECE.lastIndex;
    const piece = PIECE.exec(text)?.[0];
    if (piece === undefined) return undefined;
    if (piece === '#' && isWordStart) return text.slice(0, at).trimEnd();
    isWordStart = /^\s/.test(piece);
  }
  return text;
};

// The start of a command, also after `!`, variable assignments, and builtins that run a command.
const NAME = '[A-Za-z_]\\w*(?:\\[[^\\]]*\\])?\\+?=';
const VALUE = '(?:[^\\s"\';&|]|"[^"]*"|\'[^\']*\')*';
const BEGINS = `(?:^|[;&|]\\s*)(?:(?:!|time|command|builtin|${NAME}${VALUE})\\s+)*`;

// Compound commands, here-documents, and lines that end with an operator.
const OPENS = new RegExp(
  [
    `${BEGINS}(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|select|function|coproc)(?![\\w./-])`,
    '^[({})]|^\\[\\[',
    '<<',
    '(?:\\||&&)$',
    '\\(\\s*\\)',
  ].join('|'),
);

// Commands that change the directory, variables or meaning of later commands in the same shell.
const CHANGES_SHELL = new RegExp(
  [
    `${BEGINS}(?:`,
    '(?:cd|pushd|popd|export|declare|typeset|local|readonly|unset|alias|unalias|source|eval|exec|exit|return',
    '|trap|umask|shopt|enable|hash|set|shift|read)(?![\\w./=-])',
    '|\\.(?=\\s)',
    `|${NAME}${VALUE}\\s*(?=$|[;&|])`,
    // It is unclear whether a command follows such a value.
    `|${NAME}(?=.*[\`(\\\\])`,
    ')',
  ].join(''),
);

// Such as `set -eu`, which has no effect on a single command.
const SETS_FLAGS = /^set -[a-z]+(?: pipefail)?$/;
