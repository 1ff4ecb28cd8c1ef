import { hiddenBlock, shellBlocks } from './shell-blocks.ts';

/** In lines, and in characters of one line: more is asked for. */
const MOST = 100;
const LONGEST = 1000;

/**
 * The commands of a plan that can run without asking: each is a whole line of a fenced shell block, without indentation and
 * comment. The list of a block ends before the first line that is no whole command, and after one that changes the shell for
 * the lines after it. A plan that hides text has none.
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

/** The command of a line without its comment; undefined where it continues on the lines after it. */
const wholeCommand = (text: string): string | undefined => {
  const line = text.length > LONGEST ? undefined : uncommented(text);
  if (line === undefined || OPENS.test(line)) return undefined;
  const count = (bracket: RegExp): number => line.match(bracket)?.length ?? 0;
  const isClosed = count(/\(/g) === count(/\)/g) && count(/\{/g) === count(/\}/g);
  return isClosed ? line : undefined;
};

// Of quoted text all is one piece; an open quote, or a backslash at the end, continues on the next line.
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

// Where a command begins, also behind `!`, variables of its own and the builtins that run another.
const NAME = '[A-Za-z_]\\w*(?:\\[[^\\]]*\\])?\\+?=';
const VALUE = '(?:[^\\s"\';&|]|"[^"]*"|\'[^\']*\')*';
const BEGINS = `(?:^|[;&|]\\s*)(?:(?:!|time|command|builtin|${NAME}${VALUE})\\s+)*`;

// Compound commands, here-documents, and what ends with an operator.
const OPENS = new RegExp(
  [
    `${BEGINS}(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|select|function|coproc)(?![\\w./-])`,
    '^[({})]|^\\[\\[',
    '<<',
    '(?:\\||&&)$',
    '\\(\\s*\\)',
  ].join('|'),
);

// What runs in the same shell after it runs elsewhere, or means something else.
const CHANGES_SHELL = new RegExp(
  [
    `${BEGINS}(?:`,
    '(?:cd|pushd|popd|export|declare|typeset|local|readonly|unset|alias|unalias|source|eval|exec|exit|return',
    '|trap|umask|shopt|enable|hash|set|shift|read)(?![\\w./=-])',
    '|\\.(?=\\s)',
    `|${NAME}${VALUE}\\s*(?=$|[;&|])`,
    // Whether a command follows such a value is not told here.
    `|${NAME}(?=.*[\`(\\\\])`,
    ')',
  ].join(''),
);

// Such as `set -eu`, which one command alone does not need.
const SETS_FLAGS = /^set -[a-z]+(?: pipefail)?$/;
