import { basename, dirname, resolve } from 'node:path';
import { sha256 } from '../../../store/base/sha256.ts';
import { type FileProblem, fileProblem, Problem } from '../../../store/front-matter/problem.ts';
import { list, record } from '../../text/unknown-json.ts';
import {
  GIVEN_UP,
  listOf,
  objectIn,
  type SourceTask,
  sourceBytes,
  type TaskSource,
  type TaskState,
  textOf,
  timeOf,
} from './task-source.ts';

type Issue = Record<string, unknown>;

/** The issues of beads from its export, one JSON object per line. */
export const readTasks = (path: string): TaskSource => {
  const home = dirname(resolve(path));
  const name = basename(basename(home) === '.beads' ? dirname(home) : home);
  const lines = linesOf(sourceBytes(path)).map((bytes, at) =>
    readLine(basename(path), bytes, at + 1),
  );
  const kept = (what: SkippedKind): number => lines.filter((line) => line === what).length;
  return {
    tool: 'beads',
    key: 'beads',
    name,
    at: path,
    tasks: lines.flatMap((line) => (typeof line === 'object' && 'identity' in line ? [line] : [])),
    problems: lines.flatMap((line) => (typeof line === 'object' && 'code' in line ? [line] : [])),
    left: SKIPPED.filter((what) => kept(what) > 0).map((what) => `${kept(what)} ${what}`),
  };
};

const SKIPPED = ['of its memories', 'deleted'] as const;
type SkippedKind = (typeof SKIPPED)[number];

// The task, problem or skipped kind of a line; '' for an empty line.
const readLine = (
  name: string,
  bytes: Buffer,
  line: number,
): SourceTask | FileProblem | SkippedKind | '' => {
  if (bytes.toString('latin1').trim() === '') return '';
  const file = `${name}:${line}`;
  try {
    const issue = objectIn(bytes, line);
    if (issue._type === 'memory') return 'of its memories';
    if (issue.status === 'tombstone') return 'deleted';
    return taskOf(issue, file, sha256(bytes));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return fileProblem(error.place === undefined ? file : name, error);
  }
};

const linesOf = (bytes: Buffer): Buffer[] => {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start);
    lines.push(bytes.subarray(start, end < 0 ? bytes.length : end));
    start = end < 0 ? bytes.length : end + 1;
  }
  return lines;
};

const taskOf = (issue: Issue, file: string, sha: string): SourceTask => {
  const { id, title, description, design, acceptance_criteria, notes, comments, ...raw } = issue;
  if (typeof id !== 'string' || id === '')
    throw new Problem('no_id', 'This is not an issue: it has no id');
  return {
    key: id,
    // Projects with the same prefix can have the same ids, so the time of creation is included.
    identity: `beads\n${id}\n${textOf(issue.created_at)}`,
    file,
    sha256: sha,
    title: textOf(title) || id,
    type: textOf(issue.issue_type),
    labels: listOf(issue.labels),
    fate: fateOf(issue),
    created: timeOf(issue.created_at),
    updated: timeOf(issue.updated_at),
    body: [
      textOf(description),
      ...section('Design', textOf(design)),
      ...section('Acceptance criteria', textOf(acceptance_criteria)),
      ...section('Notes', textOf(notes)),
      ...section('Comments', commentsIn(comments)),
    ]
      .filter((text) => text !== '')
      .join('\n\n'),
    names: new Map(dependenciesOf(issue).map((name) => [name, name])),
    raw: { task: { id, title, ...raw } },
  };
};

const section = (title: string, text: string): string[] =>
  text === '' ? [] : [`## ${title}\n\n${text}`];

const commentsIn = (comments: unknown): string =>
  list(comments)
    .map(record)
    .map(
      ({ author, created_at, text }) =>
        `${textOf(author)}, ${textOf(created_at)}:\n\n${textOf(text)}`,
    )
    .join('\n\n');

const dependenciesOf = ({ dependencies }: Issue): string[] =>
  list(dependencies)
    .map((each) => textOf(record(each).depends_on_id))
    .filter((id) => id !== '');

const fateOf = ({ status, close_reason }: Issue): TaskState => {
  if (status === 'closed') return GIVEN_UP.test(textOf(close_reason)) ? 'dropped' : 'done';
  return status === 'blocked' ? 'blocked' : 'open';
};
