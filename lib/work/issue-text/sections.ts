import type { SectionKind } from '../../../store/records/extracted.ts';
import type { Block } from './blocks.ts';
import { isUnanswered, kindOfHeading, kindOfLabel } from './wording.ts';

export interface IssueSection {
  heading: string | null;
  /** 0 before the first heading; 7 for a section that begins with a bold line or a label, which any heading ends. */
  level: number;
  kind: SectionKind;
  blocks: Block[];
}

/** The sections of a document in order, without unanswered ones. */
export const sectionsOf = (blocks: readonly Block[]): IssueSection[] => {
  const sections: IssueSection[] = [begin(null, 0, 'other')];
  const latest = [0];
  for (const block of blocks) take({ sections, latest }, block);
  return sections.filter(({ blocks: [first, ...more] }) =>
    first === undefined ? false : more.length > 0 || !isUnanswered(first.source),
  );
};

/** A section as Markdown. */
export const textOf = ({ blocks }: IssueSection): string =>
  blocks
    .map(({ source }) => source)
    .join('\n\n')
    .trim();

const begin = (heading: string | null, level: number, kind: SectionKind): IssueSection => ({
  heading,
  level,
  kind,
  blocks: [],
});

interface Reading {
  sections: IssueSection[];
  /** The index of the latest heading of each level. */
  latest: number[];
}

// Further headings count as text, because every entry repeats the heading of its section.
const MOST = 1000;
const LONGEST = 300;

const take = ({ sections, latest }: Reading, block: Block): void => {
  const full = sections.length >= MOST;
  if (block.kind === 'heading' && (full || block.source.length > LONGEST)) {
    add(sections, paragraphOf(block.source));
  } else if (block.kind === 'heading') {
    const above = sections[Math.max(0, ...latest.slice(0, block.level).filter(Number.isInteger))];
    latest[block.level] = sections.length;
    sections.push(begin(bare(block.source), block.level, kindUnder(above, block)));
  } else if (block.kind === 'paragraph' && !full) {
    for (const run of runsOf(block.source)) takeRun(sections, run);
  } else add(sections, block);
};

const bare = (heading: string): string => heading.replace(/[*_]{2}/g, '').trim();

// "### Version" below "## Environment" has its own kind; "### Linux" there inherits the kind.
const kindUnder = (above: IssueSection | undefined, { source, level }: Block): SectionKind => {
  const own = kindOfHeading(source);
  // A level 1 heading is a title, for example that of a problem definition.
  if (own === 'summary' && level === 1) return 'other';
  if (own !== 'other') return own;
  return above === undefined || above.level === 0 || above.level === 1 ? 'other' : above.kind;
};

interface Run {
  label: string | undefined;
  bold: boolean;
  text: string;
}

// Splits a paragraph at lines that begin with a label or are all bold.
const runsOf = (source: string): Run[] => {
  const runs: Run[] = [];
  for (const line of source.split('\n')) {
    const run = labelled(line);
    const last = runs.at(-1);
    if (run !== undefined) runs.push(run);
    else if (last === undefined) runs.push({ label: undefined, bold: false, text: line });
    else last.text = last.text === '' ? line : `${last.text}\n${line}`;
  }
  return runs;
};

const labelled = (line: string): Run | undefined => {
  const bold = /^(?:\*\*|__)([^*_\n]{2,120})(?:\*\*|__)\s*:?$/.exec(line.trim())?.[1];
  if (bold !== undefined) return { label: bold, bold: true, text: '' };
  const [, label, text] =
    /^\s*(?:\*\*|__)?([A-Za-z][A-Za-z -]{2,40}?)(?:\*\*|__)?\s*:(?:\*\*|__)?(?:\s+(.*))?$/.exec(
      line.slice(0, 4096),
    ) ?? [];
  if (label === undefined || kindOfLabel(label) === undefined) return undefined;
  return { label, bold: false, text: text ?? '' };
};

const takeRun = (sections: IssueSection[], { label, bold, text }: Run): void => {
  const before = sections.at(-1);
  if (label !== undefined) {
    const kind = bold ? kindOfHeading(label) : (kindOfLabel(label) ?? 'other');
    sections.push(begin(bare(label).replace(/:$/, ''), 7, kind));
  }
  if (text.trim() !== '') add(sections, paragraphOf(text));
  // A label with text on its line ends with that line.
  if (label !== undefined && !bold && text.trim() !== '' && before !== undefined)
    sections.push(begin(before.heading, before.level, before.kind));
};

const paragraphOf = (text: string): Block => ({
  kind: 'paragraph',
  level: 0,
  source: text.trim(),
  items: [],
  codes: [],
  prose: text,
});

const add = (sections: IssueSection[], block: Block): void => {
  sections.at(-1)?.blocks.push(block);
};
