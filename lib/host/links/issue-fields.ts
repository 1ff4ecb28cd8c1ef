import { isDeepStrictEqual } from 'node:util';
import { visible } from '../../../store/base/visible.ts';
import type { IssueCopy } from '../../../store/codehost/issue-copy.ts';
import { storable } from '../../../store/front-matter/text.ts';
import { MOST_CHARACTERS } from '../../../store/records/case.ts';
import type { Issue } from '../../../store/records/code-host.ts';
import { ServiceError } from '../../errors.ts';
import { shorten } from '../../text/wording.ts';
import { asOneLine } from '../../work/cases/text.ts';

const MAX_BODY_BYTES = 1_000_000;

/**
 * The issue for issue.md, complete but for characters that a file cannot store. Throws `too_large` beyond the size of a
 * record.
 */
export const storableCopy = (issue: Issue): IssueCopy => {
  const body = seen(issue.body);
  const bytes = Buffer.byteLength(body);
  if (bytes > MAX_BODY_BYTES)
    throw new ServiceError(
      'too_large',
      `The body of issue #${issue.number} has ${bytes} bytes; a record can have 1 MB. Shorten it on the host, then try again.`,
    );
  const { state, state_reason, author, created_at, updated_at, closed_at } = issue;
  return {
    title: seen(issue.title),
    state,
    state_reason: seenOrNull(state_reason),
    labels: issue.labels.map(seen),
    assignees: issue.assignees.map(seen),
    milestone: seenOrNull(issue.milestone),
    author: seenOrNull(author),
    created_at,
    updated_at,
    closed_at,
    body,
  };
};

// Issues are untrusted text, so invisible characters are made visible.
const seen = (text: string): string => visible(storable(text));
const seenOrNull = (text: string | null): string | null => (text === null ? null : seen(text));

/** The fields of an issue in a Work item. */
export interface Fields {
  title: string;
  description: string;
  labels: readonly string[];
  assignees: readonly string[];
  milestone: string | null;
  state: 'open' | 'closed' | null;
}

/** The issue within the limits of a Work item: a title of one line and 200 characters, a description of 256 KB. */
export const fieldsOf = ({
  title,
  body,
  labels,
  assignees,
  milestone,
  state,
}: IssueCopy): Fields => ({
  title: fitTitle(title),
  description: fitDescription(body),
  labels,
  assignees,
  milestone,
  state,
});

const fitTitle = (title: string): string => {
  const line = asOneLine(title);
  if (line === '') return '(no title)';
  return line.length <= MOST_CHARACTERS.title
    ? line
    : `${shorten(line, MOST_CHARACTERS.title - 1, '').trimEnd()}…`;
};

const fitDescription = (body: string): string => {
  const text = withPlainEnds(body);
  if (text.length <= MOST_CHARACTERS.description) return text;
  const cut = shorten(text, MOST_CHARACTERS.description - REST.length, '');
  return `${cut.slice(0, Math.max(0, cut.lastIndexOf('\n')) || cut.length)}${REST}`;
};

const REST = '\n\n*The issue is longer than a description can be. The whole text is in issue.md.*';

/** GitHub sends CRLF for text from its forms, which is not a change. */
export const withPlainEnds = (text: string): string => text.replaceAll('\r\n', '\n');

const textsOf = ({ title, body, labels, assignees, milestone, author }: Issue) => ({
  ...{ title, body, labels, assignees, milestone, author },
});

/** Sentences on what a Work item could not store unchanged. */
export const notesOf = (issue: Issue, copy: IssueCopy): string[] => {
  const { title, description } = fieldsOf(copy);
  const line = asOneLine(copy.title);
  const notes: [boolean, string][] = [
    [
      line !== '' && title !== line,
      'The title was shortened to one line of 200 characters; issue.md has the full title.',
    ],
    [
      line !== '' && title === line && line !== copy.title,
      'The title was put on one line; issue.md has it as it is.',
    ],
    [line === '', 'The issue has no title.'],
    [
      description.length < withPlainEnds(copy.body).length,
      'The description was cut at 262144 characters; issue.md has the full text.',
    ],
    [
      !isDeepStrictEqual(copy, { ...copy, ...textsOf(issue) }),
      'Characters that a file cannot store or a reader cannot see (NUL, unpaired surrogates, merge markers, control and direction characters) were replaced or indented.',
    ],
  ];
  return notes.flatMap(([is, note]) => (is ? [note] : []));
};
