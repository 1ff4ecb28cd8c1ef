import type { ExtractedIssue, SectionKind } from '../../../store/records/extracted.ts';
import { type Block, blocksOf, type Code } from './blocks.ts';
import { errorsIn, linksIn, mentionsIn, namedFiles } from './references.ts';
import { type IssueSection, sectionsOf, textOf } from './sections.ts';
import { isUnanswered } from './wording.ts';

/**
 * Extracts the parts of an issue's text: sections by their headings, and what it lists, quotes and names. Reads at most
 * 256 KB in linear time and never throws; nothing found is executed.
 */
export const extractIssue = (markdown: string, title?: string): ExtractedIssue => {
  const text = markdown
    .slice(0, MOST)
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n');
  const sections = sectionsOf(blocksOf(text));
  const blocks = sections.flatMap((section) => section.blocks);
  const prose = blocks.map((block) => block.prose).join('\n');
  const quoted = blocks.flatMap(({ codes }) => codes.map(({ content }) => content)).join('\n');
  return {
    title: title ?? titleOf(sections),
    summary: summaryOf(sections),
    sections: sections.map(({ heading, level, kind, ...section }) => ({
      heading,
      level,
      kind,
      content: textOf({ heading, level, kind, ...section }),
    })),
    steps: entriesOf(sections, 'steps'),
    expected: toldOf(sections, 'expected'),
    actual: toldOf(sections, 'actual'),
    environment: environmentOf(sections),
    acceptance_criteria: entriesOf(sections, 'acceptance'),
    checklist: checklistOf(sections),
    code_blocks: codesOf(sections),
    logs: sections.flatMap(logsOf),
    errors: errorsIn(`${quoted}\n${prose}`),
    files: namedFiles(`${prose}\n${quoted}`),
    links: linksIn(prose),
    mentions: mentionsIn(prose),
    truncated: markdown.length > MOST,
  };
};

const MOST = 262_144;

const titleOf = (sections: readonly IssueSection[]): string | null =>
  sections.find(({ level }) => level === 1)?.heading ?? null;

// The summary sections; else the text before the first heading or under the title; else the first section of no kind.
const summaryOf = (sections: readonly IssueSection[]): string => {
  const told = sections.filter(({ kind }) => kind === 'summary');
  if (told.length > 0) return told.map(textOf).join('\n\n');
  const first =
    sections.find(({ heading, kind }) => heading === null && kind === 'other') ??
    sections.find(({ level, kind }) => level === 1 && kind === 'other') ??
    sections.find(({ kind }) => kind === 'other');
  return first === undefined ? '' : textOf(first);
};

const toldOf = (sections: readonly IssueSection[], wanted: SectionKind): string | null => {
  const told = sections.filter(({ kind }) => kind === wanted).map(textOf);
  const text = told.filter((each) => !isUnanswered(each)).join('\n\n');
  return text === '' ? null : text;
};

const entriesOf = (sections: readonly IssueSection[], wanted: SectionKind): string[] =>
  sections
    .filter(({ kind }) => kind === wanted)
    .flatMap(({ blocks }) => entriesIn(blocks))
    .filter((entry) => !isUnanswered(entry) && !LEAD_IN.test(entry));

// The list items, or the lines where there is no list.
const entriesIn = (blocks: readonly Block[]): string[] => {
  const items = blocks.flatMap((block) => block.items.map(({ text }) => text));
  if (items.length > 0) return items;
  return blocks
    .filter(({ kind }) => kind === 'paragraph')
    .flatMap(({ source }) => source.split('\n'))
    .map((line) => line.replace(/^\s*(?:[-*+•]|\d+[.)])\s+/, '').trim());
};

const LEAD_IN = /^steps to reproduce(?: the (?:behaviou?r|issue|problem|bug))?:?$/i;

const checklistOf = (sections: readonly IssueSection[]): ExtractedIssue['checklist'] =>
  sections.flatMap(({ heading, blocks }) =>
    blocks
      .flatMap(({ items }) => items)
      .flatMap(({ text, checked }) =>
        checked === null ? [] : [{ text, checked, section: heading }],
      ),
  );

const codesOf = (sections: readonly IssueSection[]): ExtractedIssue['code_blocks'] =>
  sections.flatMap(({ heading, blocks }) =>
    blocks.flatMap(({ codes }) => codes.map((code) => ({ ...code, section: heading }))),
  );

// Code in a log section, code that looks like output, and quotes that contain an error.
const logsOf = ({ kind, blocks }: IssueSection): string[] => {
  const code = blocks
    .flatMap(({ codes }) => codes)
    .filter((each) => kind === 'logs' || isOutput(each))
    .map(({ content }) => content);
  const quotes = blocks
    .filter((block) => block.kind === 'quote' && errorsIn(block.prose).length > 0)
    .map(({ prose }) => prose.replace(/^[ \t>]+/gm, ''));
  const loose = kind === 'logs' && code.length === 0 ? blocks.map(({ source }) => source) : [];
  return [...code, ...quotes, ...(loose.length > 0 ? [loose.join('\n\n')] : [])];
};

const isOutput = ({ language, content }: Code): boolean =>
  LOG_LANGUAGES.has(language ?? '') || (PLAIN.has(language ?? '') && errorsIn(content).length > 0);

const LOG_LANGUAGES = new Set(['log', 'logs', 'console', 'output', 'shell-session']);
const PLAIN = new Set(['', 'text', 'txt', 'plaintext', 'shell', 'bash', 'sh']);

type Fact = ExtractedIssue['environment'][number];

/** Names and values in the environment sections; a line without a name gets the heading's. */
const environmentOf = (sections: readonly IssueSection[]): Fact[] =>
  sections
    .filter(({ kind }) => kind === 'environment')
    .flatMap(factsOf)
    .filter(({ value }) => !isUnanswered(value))
    .slice(0, MOST_FACTS);

const MOST_FACTS = 100;

const factsOf = (section: IssueSection): Fact[] => {
  const lines = textOf(section).split('\n');
  return lines.flatMap((line) => factOf(line, section.heading ?? 'environment'));
};

const factOf = (line: string, heading: string): Fact[] => {
  const text = line
    .slice(0, 500)
    .replace(/^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)?(?:\[[ xX]\]\s+)?/, '')
    .replaceAll(/\*\*|__|`|\[e\.g\.[^\]]{0,200}\]/g, '')
    .trim();
  if (text === '' || FENCE.test(line) || /^[|\s:-]+$/.test(text)) return [];
  const [name = '', ...rest] = cellsOf(text) ?? text.split(/:\s+|:$|\s=\s/);
  const value = rest.join(': ').trim();
  if (value === '' && text.endsWith(':')) return [];
  const named = value !== '' && name.length <= 60;
  return [named ? { name: name.trim(), value } : { name: heading, value: text }];
};

const FENCE = /^[\s>]*(?:`{3,}|~{3,})/;

// A row of a table.
const cellsOf = (text: string): string[] | undefined =>
  text.startsWith('|')
    ? text
        .replace(/^\||\|$/g, '')
        .split('|')
        .map((cell) => cell.trim())
    : undefined;
