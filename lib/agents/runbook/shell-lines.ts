import { hiddenBlock, shellBlocks } from './shell-blocks.ts';

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
