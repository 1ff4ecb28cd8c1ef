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
