import type { ExtractedIssue } from '../../../store/records/extracted.ts';

type Task = ExtractedIssue['checklist'][number];

/** The check boxes that are tasks: neither criteria, nor declarations such as having read the rules. */
export const tasksNamed = ({ checklist, sections }: ExtractedIssue): Task[] => {
  const elsewhere = new Set(
    sections
      .filter(({ kind }) => kind === 'declarations' || kind === 'acceptance')
      .map(({ heading }) => heading),
  );
  return checklist.filter(
    ({ text, section }) => !(section !== null && elsewhere.has(section)) && !DECLARED.test(text),
  );
};

const DECLARED =
  /^(?:i|we)(?:'ve|’ve|'m|’m)? (?:have|am|agree|read|searched|confirm|understand|checked|would)|^i['’](?:ve|m)\b/i;

/** The acceptance criteria, ticked or not. */
export const criteriaOf = ({
  acceptance_criteria,
  checklist,
}: ExtractedIssue): Pick<Task, 'text' | 'checked'>[] => {
  const ticked = new Set(checklist.filter(({ checked }) => checked).map(({ text }) => text));
  return acceptance_criteria.map((text) => ({ text, checked: ticked.has(text) }));
};

/** The criteria and tasks that are not ticked. */
export const wantedOf = (issue: ExtractedIssue): string[] =>
  [...criteriaOf(issue), ...tasksNamed(issue)]
    .filter(({ checked }) => !checked)
    .map(({ text }) => text);
