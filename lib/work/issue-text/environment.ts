import type { ExtractedIssue } from '../../../store/records/extracted.ts';
import { type IssueSection, textOf } from './sections.ts';
import { saysNothing } from './wording.ts';

type Fact = ExtractedIssue['environment'][number];

/** What the sections on the environment tell, as names and values; a line without a name stands for the heading's. */
export const environmentOf = (sections: readonly IssueSection[]): Fact[] =>
  sections
    .filter(({ kind }) => kind === 'environment')
    .flatMap(factsOf)
    .filter(({ value }) => !saysNothing(value))
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
