import type { SectionKind } from '../../../store/records/extracted.ts';
import type { Block } from './blocks.ts';
import { kindOfHeading, kindOfLabel, saysNothing } from './wording.ts';

export interface IssueSection {
  heading: string | null;
  /** 0: before the first heading. 7: it begins with a bold line or a label, which any heading ends. */
  level: number;
  kind: SectionKind;
  blocks: Block[];
}

/** The sections of a document, in order; those in which nothing was answered are left out. */
export const sectionsOf = (blocks: readonly Block[]): IssueSection[] => {
  const sections: IssueSection[] = [begin(null, 0, 'other')];
  const latest = [0];
  for (const block of blocks) take({ sections, latest }, block);
  return sections.filter(({ blocks: [first, ...more] }) =>
    first === undefined ? false : more.length > 0 || !saysNothing(first.source),
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
  /** Where the latest heading of each level is among them. */
  latest: number[];
}

// What is more than that is text: whoever lists what is in a section names its heading each time.
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

// "### Version" of "## Environment" is what it says; "### Linux" there is of the environment, too.
const kindUnder = (above: IssueSection | undefined, { source, level }: Block): SectionKind => {
  const own = kindOfHeading(source);
  // A title, that of a definition of a problem among them.
  if (own === 'summary' && level === 1) return 'other';
  if (own !== 'other') return own;
  return above === undefined || above.level === 0 || above.level === 1 ? 'other' : above.kind;
};

interface Run {
  label: string | undefined;
  bold: boolean;
  text: string;
}

// A paragraph in which lines begin with a label, or with a line that is all bold, is several.
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
  // What a label says on its own line is all that it says.
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
