import { type Leaf, readLeaves } from './leaves.ts';

/** A fenced code block. */
interface Fence {
  /** The info string after the opening fence, trimmed. */
  info: string;
  /** Its lines, indentation of the fence and of the list or quote around it removed, each ended by `\n`. */
  content: string;
  /** The text just before it: the last line of a paragraph, or a heading. */
  lead: string;
}

/** The fenced code blocks of a Markdown text, in order. */
export const readFences = (markdown: string): Fence[] => {
  const fences: Fence[] = [];
  let lead = '';
  for (const leaf of readLeaves(markdown).leaves) {
    if (leaf.kind === 'paragraph' || leaf.kind === 'heading')
      lead = leaf.lines.at(-1)?.text.trim() ?? '';
    if (leaf.kind !== 'fence') continue;
    fences.push({ info: leaf.info, content: codeIn(leaf), lead });
    lead = '';
  }
  return fences;
};

const codeIn = ({ lines }: Leaf): string => lines.map(({ text }) => `${text}\n`).join('');

/** A shell block of a plan or a description. */
export interface ShellBlock {
  /** The shell that runs it: `bash` for blocks marked so, else `sh`. */
  shell: 'sh' | 'bash';
  script: string;
  /** The heading or text line just before the block. */
  lead: string;
}

const SHELLS = new Map<string, ShellBlock['shell']>([
  ['sh', 'sh'],
  ['shell', 'sh'],
  ['bash', 'bash'],
]);

/** The shell blocks of a Markdown text, in order, without empty ones. */
export const shellBlocks = (markdown: string): ShellBlock[] =>
  readFences(markdown).flatMap(({ info, content, lead }) => {
    const shell = SHELLS.get(languageOf(info));
    return shell === undefined || content.trim() === '' ? [] : [{ shell, script: content, lead }];
  });

const languageOf = (info: string): string => info.split(/[ \t]/, 1)[0]?.toLowerCase() ?? '';
