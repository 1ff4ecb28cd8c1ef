import type { ExtractedIssue } from '../../../store/records/extracted.ts';
import { firstSentence, plainLine, withoutCommands } from './markdown.ts';
import { wantedOf } from './wanted.ts';

interface Task {
  text: string;
  how?: string;
  verify: string;
}

/**
 * Stage 3 without an agent: what to find out and what to change, each with its check. It contains no command, because
 * untrusted text must not become what the runbook runs.
 */
export const tasksOf = (
  hypotheses: ExtractedIssue,
  problem: ExtractedIssue,
  title: string,
): string =>
  withoutCommands(
    `${[
      `# Tasks: ${plainLine(title)}`,
      'Made from hypotheses.md and the acceptance criteria. Reorder the tasks, and strike those that a verdict makes unnecessary.',
      ...group('Find out', [...reproduce(problem), ...checks(hypotheses)]),
      ...group('Change', changes(problem)),
      ...group('Make sure', finalTasks(problem)),
    ].join('\n\n')}\n`,
  );

const group = (heading: string, tasks: readonly Task[]): string[] =>
  tasks.length === 0 ? [] : [`## ${heading}`, tasks.map(written).join('\n')];

const written = ({ text, how, verify }: Task): string =>
  [
    `- [ ] ${text}`,
    ...(how === undefined ? [] : [`  - How: ${how}`]),
    `  - Verify: ${verify}`,
  ].join('\n');

const reproduce = ({ steps, actual, errors }: ExtractedIssue): Task[] => {
  if (steps.length === 0 && actual === null) return [];
  const seen = actual ?? errors[0];
  const how = steps.length > 0 ? `by its ${steps.length} steps` : 'as it is described';
  return [
    {
      text: `Reproduce it ${how} on the base of the branch`,
      verify: seen === undefined ? 'it is seen.' : `it is seen: “${firstSentence(seen)}”.`,
    },
  ];
};

const MOST = 12;

// Headings such as "H1: …"; in a hand-written file the headings below the title, or the list items.
const checks = ({ sections, checklist }: ExtractedIssue): Task[] => {
  const below = sections.filter(({ heading, level }) => heading !== null && level > 1);
  const numbered = below.filter(({ heading }) => /^(?:H|Hypothesis )\d+\b/i.test(heading ?? ''));
  const chosen = (numbered.length > 0 ? numbered : below).filter(({ content }) => isOpen(content));
  if (below.length > 0)
    return chosen.slice(0, MOST).map(({ heading, content }) => ({
      text: `Check ${plainLine(heading ?? '', 240)}`,
      ...checkOf(content),
      verify: VERDICT,
    }));
  const items = checklist.length > 0 ? checklist.map(({ text }) => text) : itemsOf(sections);
  return items.slice(0, MOST).map((text) => ({
    text: `Check: ${plainLine(text)}`,
    verify: VERDICT,
  }));
};

const VERDICT = 'hypotheses.md says whether it holds, and what shows it.';

const isOpen = (content: string): boolean => {
  const verdict = /^[-* \t]*Verdict(?:\*\*)?:(.{0,200})$/im.exec(content)?.[1]?.trim();
  return verdict === undefined || !/^(?:wrong|no\b|false|rejected|struck|refuted)/i.test(verdict);
};

const checkOf = (content: string): { how?: string } => {
  const told = /^[-* \t]*(?:How to )?check(?:\*\*)?:(.{1,1000})$/im.exec(content)?.[1];
  return told === undefined ? {} : { how: plainLine(told, 400) };
};

const itemsOf = (sections: ExtractedIssue['sections']): string[] =>
  sections
    .flatMap(({ content }) => content.split('\n'))
    .flatMap((line) => /^\s*(?:[-*+]|\d{1,9}[.)])\s+(\S.*)$/.exec(line.slice(0, 500))?.[1] ?? []);

const changes = (problem: ExtractedIssue): Task[] => {
  const wanted = wantedOf(problem);
  if (wanted.length > 0)
    return wanted.slice(0, 50).map((text) => ({
      text: plainLine(text),
      verify: 'a test shows it, or it can be demonstrated.',
    }));
  if (problem.expected !== null)
    return [
      {
        text: `Make it so: ${firstSentence(problem.expected)}`,
        verify: 'the steps that showed the problem show this instead.',
      },
    ];
  return [
    {
      text: 'Make the change that the confirmed hypothesis requires',
      verify: 'the reported behavior no longer occurs.',
    },
  ];
};

const finalTasks = ({ actual, errors }: ExtractedIssue): Task[] => [
  {
    text:
      actual === null && errors.length === 0
        ? 'Write a test for what is new'
        : 'Write a test that fails without the change',
    verify: 'it fails on the base of the branch, and passes on the branch.',
  },
  {
    text: 'Run the whole test suite',
    verify: 'it passes; its output is attached as proof.',
  },
];
