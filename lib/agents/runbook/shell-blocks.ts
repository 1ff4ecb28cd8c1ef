import { visible, warningsIn } from '../../../store/base/visible.ts';
import { readFences } from '../../text/markdown/fences.ts';
import { DEEPEST, readLeaves } from '../../text/markdown/leaves.ts';

export interface ShellBlock {
  /** What reads it: a block marked `bash` needs bash, one marked `sh` or `shell` must not depend on it. */
  shell: 'sh' | 'bash';
  script: string;
  /** The heading or the line of text just before the block. */
  lead: string;
}

const SHELLS = new Map<string, ShellBlock['shell']>([
  ['sh', 'sh'],
  ['shell', 'sh'],
  ['bash', 'bash'],
]);

/** The shell blocks that a Markdown reader shows in the text, in order; blocks with no command in them are left out. */
export const shellBlocks = (markdown: string): ShellBlock[] =>
  readFences(markdown).flatMap(({ info, content, lead }) => {
    const shell = SHELLS.get(languageOf(info));
    return shell === undefined || content.trim() === '' ? [] : [{ shell, script: content, lead }];
  });

/** The first line of a script that says something: what an operator knows it by. */
export const firstLine = (script: string): string =>
  script
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '') ?? '';

const languageOf = (info: string): string => info.split(/[ \t]/, 1)[0]?.toLowerCase() ?? '';

/**
 * Where a shell block of the plan holds what nobody sees when reading it, in a sentence that names the block; undefined
 * where each is what it looks like. What is seen has to be what runs.
 */
export const hiddenBlock = (plan: string): string | undefined => {
  const { too_deep } = readLeaves(plan);
  if (too_deep !== undefined)
    return `Line ${too_deep} of the plan stands deeper than in ${DEEPEST} quotes and lists, and nothing from there on would be run.`;
  const blocks = shellBlocks(plan);
  if (blocks.length === 0) return undefined;
  for (const [at, { script }] of blocks.entries()) {
    const [found] = [...warningsIn(script), ...falseBlanks(script)];
    if (found === undefined) continue;
    const { kind, text, line, column } = found;
    const blanks = PUSHING[kind];
    const what = blanks === undefined ? text : `${blanks} that push “${text}” out of sight`;
    const name = `Block ${at + 1} of ${blocks.length} (${nameOf(script)})`;
    return `${name} has ${what} in its line ${line}, column ${column}.`;
  }
  return returns(plan) ?? otherBlocks(plan, blocks);
};

interface Found {
  kind: string;
  text: string;
  line: number;
  column: number;
}

// Blanks to the eye, and letters to the shell: it ends no word there.
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

// A terminal begins the line anew there, and a reader of Markdown begins another.
const returns = (plan: string): string | undefined => {
  const at = plan.search(/\r(?!\n)/);
  if (at < 0) return undefined;
  const line = plan.slice(0, at).split('\n').length;
  return `A carriage return (␍) stands alone in line ${line} of the plan.`;
};

// What is read is the text with everything in it to be seen: a mark beside a fence can make other blocks of it.
const otherBlocks = (plan: string, blocks: readonly ShellBlock[]): string | undefined => {
  const read = shellBlocks(visible(plan));
  const other = blocks.findIndex(
    ({ shell, script }, at) => read[at]?.shell !== shell || read[at].script !== script,
  );
  if (other < 0 && read.length === blocks.length) return undefined;
  const name = nameOf(blocks[Math.max(other, 0)]?.script ?? '');
  return `Invisible characters change which shell blocks the plan has, at or before the block that begins with “${name}”.`;
};
