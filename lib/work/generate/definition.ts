import type { ExtractedIssue } from '../../../store/records/extracted.ts';
import { asCode, asTextBlock, plainLine, section, withoutCommands } from './markdown.ts';
import { criteriaOf, tasksNamed } from './wanted.ts';

/** The issue that a definition is made from. */
export interface Origin {
  title: string;
  /** `owner/name#12`. */
  name: string;
  url: string | null;
  state: string | null;
  labels: readonly string[];
  synced_at: string | null;
}

/** Stage 1 without an agent: the content of the issue in a fixed order, with open questions. */
export const definitionOf = (issue: ExtractedIssue, origin: Origin): string =>
  withoutCommands(
    `${[
      `# Problem definition: ${plainLine(origin.title)}`,
      originText(origin),
      ...section('Problem', problem(issue)),
      ...section('Actual', issue.actual),
      ...section('Expected', issue.expected),
      ...section('Steps to reproduce', issue.steps.map(numbered)),
      ...section('Environment', issue.environment.map(fact)),
      ...section('Acceptance criteria', criteriaOf(issue).map(taskBox)),
      ...section('Tasks named in the issue', tasksNamed(issue).map(taskBox)),
      ...section('Errors', issue.errors.map(code)),
      ...section('Logs', blocks(issue.logs)),
      ...section('Code', otherCode(issue)),
      ...section('Proposal', proposal(issue)),
      ...section('Files', issue.files.map(code)),
      ...section('Related', related(issue)),
      ...section('Also said', others(issue)),
      ...section('Open questions', questions(issue)),
    ].join('\n\n')}\n`,
  );

const problem = ({ summary, sections }: ExtractedIssue): string =>
  sections.length === 0 ? 'The issue has only a title.' : summary;

const originText = ({ name, url, state, labels, synced_at }: Origin): string => {
  const where = url === null ? name : `${name} (<${url}>)`;
  const is = [state ?? '', ...labels.map((label) => asCode(label))].filter((word) => word !== '');
  return `From the issue ${where}${is.length === 0 ? '' : `, ${is.join(', ')}`}, as synced ${synced_at ?? 'by hand'}. This is its text, only rearranged. Compare it with the issue, then correct and complete it.`;
};

const numbered = (step: string, at: number): string => `${at + 1}. ${plainLine(step)}`;
const fact = ({ name, value }: { name: string; value: string }): string =>
  `- ${plainLine(name, 80)}: ${plainLine(value)}`;
const taskBox = ({ text, checked }: { text: string; checked: boolean }): string =>
  `- [${checked ? 'x' : ' '}] ${plainLine(text)}`;
const code = (text: string): string => `- ${asCode(text)}`;

const blocks = (texts: readonly string[]): string =>
  texts
    .slice(0, MOST_BLOCKS)
    .map((text) => asTextBlock(text))
    .join('\n\n');

const MOST_BLOCKS = 5;

// Code that is neither a log nor part of a section that is quoted in full.
const otherCode = ({ code_blocks, logs, sections }: ExtractedIssue): string => {
  const whole = new Set(
    sections.filter(({ kind }) => WHOLE.has(kind)).map(({ heading }) => heading),
  );
  const told = new Set(logs);
  return code_blocks
    .filter(({ content, section: heading }) => !told.has(content) && !whole.has(heading))
    .filter(({ content }) => content.trim() !== '')
    .slice(0, MOST_BLOCKS)
    .map(({ content, language }) => asTextBlock(content, language))
    .join('\n\n');
};

const WHOLE = new Set(['summary', 'actual', 'expected', 'proposal', 'environment', 'other']);

const proposal = ({ sections }: ExtractedIssue): string =>
  sections
    .filter(({ kind }) => kind === 'proposal')
    .map(({ content }) => content)
    .join('\n\n');

const related = ({ mentions, links }: ExtractedIssue): string[] => [
  ...mentions.map(({ repository, number }) => `- ${repository ?? ''}#${number}`),
  ...links
    .slice(0, 20)
    .map(({ text, url }) => (text === '' ? `- <${url}>` : `- ${plainLine(text)}: <${url}>`)),
];

const others = ({ sections, summary }: ExtractedIssue): string =>
  sections
    .filter(({ kind, content }) => kind === 'other' && content !== summary)
    .map(({ heading, content }) =>
      heading === null ? content : `### ${plainLine(heading)}\n\n${content}`,
    )
    .join('\n\n');

const questions = (issue: ExtractedIssue): string[] => {
  const open: [boolean, string][] = [
    [
      issue.expected === null && issue.acceptance_criteria.length === 0,
      'What is expected, and how can its completion be checked?',
    ],
    [issue.actual === null && issue.errors.length > 0, 'What was done when the error occurred?'],
    [issue.actual !== null && issue.steps.length === 0, 'How is it reproduced?'],
    [
      issue.actual !== null && issue.environment.length === 0,
      'Where does it happen: which versions, which system?',
    ],
    [issue.truncated, 'Only the beginning of the issue was read. What does the rest say?'],
  ];
  return open.flatMap(([isOpen, question]) => (isOpen ? [`- ${question}`] : []));
};
