import { type IssueCopy, readIssueCopy } from '../../../store/codehost/issue-copy.ts';
import { readLink } from '../../../store/codehost/links.ts';
import type { Case } from '../../../store/records/case.ts';
import type { IssueLinkMatter } from '../../../store/records/link.ts';
import type { PlanningFile } from '../../../store/records/planning.ts';
import type { Planning } from '../../../store/sessions/planning.ts';
import type { Store } from '../../../store/store.ts';
import { invalidState, ServiceError } from '../../errors.ts';
import { extractIssue } from '../issue-text/extract.ts';
import { definitionOf, type Origin } from './definition.ts';
import { hypothesesOf } from './hypotheses.ts';
import { tasksOf } from './tasks.ts';

/** What a planning file is made from, with or without an agent. */
export interface Material {
  filename: PlanningFile;
  title: string;
  type: string;
  /** The input for an agent. */
  parts: { name: string; content: string }[];
  /** Makes the file from the text, without an agent. */
  extract: () => string;
}

type Gather = (store: Store, item: Case, planning: Planning) => Material;

/** Gathers the material of each stage. Throws 422 where it is missing. */
export const STAGES: Readonly<Record<PlanningFile, Gather>> = {
  'problem-definition.md': (store, item) => fromIssue(store, item),
  'hypotheses.md': (store, item, planning) => fromDefinition(store, item, planning),
  'tasks.md': (_store, item, planning) => fromHypotheses(item, planning),
};

const fromIssue = (store: Store, item: Case): Material => {
  const issue = readLink(store, item.id)?.issue;
  const copy = issue === undefined ? undefined : readIssueCopy(store, item.id);
  if (issue === undefined) throw notLinked('The Work item is not linked to an issue.');
  if (copy === undefined) throw notLinked('The linked issue was never synced.');
  const origin = originOf(issue, copy);
  return {
    ...of(item, 'problem-definition.md'),
    title: copy.title,
    parts: [{ name: `The issue ${origin.name}: ${copy.title}`, content: copy.body }],
    extract: () => definitionOf(extractIssue(copy.body, copy.title), origin),
  };
};

const notLinked = (what: string): ServiceError =>
  new ServiceError(
    'not_linked',
    `${what} Import the issue, or write link.md and sync; or write problem-definition.md with PUT …/planning-artifacts/problem-definition.md.`,
  );

const originOf = (issue: IssueLinkMatter, copy: IssueCopy): Origin => ({
  title: copy.title,
  name: nameOf(issue),
  url: issue.url ?? null,
  state: copy.state,
  labels: copy.labels,
  synced_at: issue.synced_at ?? null,
});

const nameOf = ({ repository, number }: IssueLinkMatter): string => `${repository}#${number}`;

const fromDefinition = (store: Store, item: Case, planning: Planning): Material => {
  const issue = readLink(store, item.id)?.issue;
  const [source, content] = problemOf(item, planning);
  return {
    ...of(item, 'hypotheses.md'),
    parts: [{ name: `From ${source}`, content }],
    extract: () =>
      hypothesesOf(extractIssue(content, item.title), {
        title: item.title,
        source,
        own: issue && nameOf(issue),
      }),
  };
};

// The problem definition, else the description.
const problemOf = ({ description }: Case, planning: Planning): [string, string] => {
  const definition = textOf(planning, 'problem-definition.md');
  return definition === undefined
    ? ['the description', description]
    : ['problem-definition.md', definition];
};

const textOf = ({ artifacts }: Planning, wanted: PlanningFile): string | undefined =>
  artifacts.find(({ filename }) => filename === wanted)?.content;

const fromHypotheses = (item: Case, planning: Planning): Material => {
  const hypotheses = textOf(planning, 'hypotheses.md');
  if (hypotheses === undefined)
    throw invalidState(
      'There is no hypotheses.md to make tasks from. Generate it with POST …/planning/hypotheses-file, or write it by hand.',
    );
  const [source, content] = problemOf(item, planning);
  return {
    ...of(item, 'tasks.md'),
    parts: [
      { name: 'From hypotheses.md', content: hypotheses },
      { name: `From ${source}`, content },
    ],
    extract: () => tasksOf(extractIssue(hypotheses), extractIssue(content), item.title),
  };
};

const of = (
  { title, type }: Case,
  filename: PlanningFile,
): Pick<Material, 'filename' | 'title' | 'type'> => ({ filename, title, type });
