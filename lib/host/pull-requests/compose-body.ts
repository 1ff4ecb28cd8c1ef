import type { ChecklistItem, Proof } from '../../../store/records/proof.ts';
import type { Session } from '../../../store/records/session.ts';
import { oneLine, shorten } from '../../text/wording.ts';
import { minuteOf } from '../../work/cases/text.ts';
import { disarmMarkdown, quoteMarkdown } from './disarm.ts';

/** The content of a pull request's body: what was asked, done and proved. */
interface BodyFacts {
  title: string;
  description: string;
  /** The issue that it closes. */
  issue: { repository: string; number: number } | undefined;
  /** The completed sessions, oldest first. */
  sessions: readonly { session: Session; words: SessionWords }[];
  /** The verified proofs. */
  proofs: readonly Pick<Proof, 'type' | 'verified_at' | 'commit' | 'verified_elsewhere'>[];
  checklist: readonly ChecklistItem[];
}

/** The host's limit in characters. */
export const MAX_BODY = 65_536;

/**
 * The body of a pull request in Markdown. Untrusted text in it cannot notify users, close other issues or hide the text
 * after it. A body over the limit is shortened, with a note.
 */
export const composeBody = (told: BodyFacts, room = MAX_BODY): string => {
  const proved = proofPart(told);
  let body = '';
  for (const size of SIZES) {
    const asked = requestPart(told, size);
    const done = workPart(told, size);
    body = `${[...asked, ...done, ...proved].join('\n\n')}\n`;
    if (body.length <= room) break;
  }
  return body;
};

interface Size {
  /** Limits in characters for the request, and for a session's last words. */
  asked: number;
  said: number;
}

// Quoting short lines can triple the length.
const SIZES: readonly Size[] = [
  { asked: 8000, said: 2000 },
  { asked: 4000, said: 500 },
  { asked: 500, said: 100 },
];

const requestPart = ({ title, description, issue }: BodyFacts, { asked }: Size): string[] => [
  '## What was asked',
  quoteMarkdown(description.trim() === '' ? title : shortened(description.trim(), asked)),
  ...(issue === undefined ? [] : [`Closes ${issue.repository}#${issue.number}.`]),
];

const workPart = ({ sessions }: BodyFacts, size: Size): string[] => {
  const newest = sessions.slice(-MOST_SESSIONS);
  const parts = newest.flatMap((one) => ofSession(one, size));
  const left = sessions.length - newest.length;
  return [
    '## What was done',
    ...(left > 0 ? [`${left} earlier sessions are left out.`] : []),
    ...(newest.length === 0 ? ['No session has completed its work.'] : parts),
  ];
};

const ofSession = (
  { session, words }: BodyFacts['sessions'][number],
  { said: most }: Size,
): string[] => {
  const ended = session.ended_at === null ? '' : `, ${minuteOf(session.ended_at)}`;
  const changed = words.changed === undefined ? '' : `: ${words.changed}`;
  const said = words.last_words?.trim() ?? '';
  return [
    `**${session.type}** by ${session.provider}${ended}${changed}`,
    ...(said === '' ? [] : [quoteMarkdown(shortened(said, most))]),
  ];
};

const proofPart = ({ proofs, checklist }: BodyFacts): string[] => {
  const items = checklist.slice(0, MOST_LINES).map(checkedLine);
  const lines = proofs.slice(0, MOST_LINES).map(proofLine);
  return [
    '## How it was proved',
    ...(items.length > 0 ? [listed(items, checklist.length)] : []),
    lines.length > 0 ? listed(lines, proofs.length) : 'Nothing is verified yet.',
  ];
};

/** A checklist item as a task line, ticked where it is satisfied. */
export const checkedLine = ({ satisfied, description, type }: ChecklistItem): string =>
  disarmMarkdown(
    `- [${satisfied ? 'x' : ' '}] ${shorten(oneLine(description), LONGEST_LINE)} (\`${type}\`)`,
  );

const proofLine = (proof: BodyFacts['proofs'][number]): string => {
  const { type, verified_at, verified_elsewhere = false, commit } = proof;
  const verified = verified_at === null ? [] : [`verified ${minuteOf(verified_at)}`];
  return [
    `- \`${type}\``,
    // Only a file says that it was verified.
    ...(verified_elsewhere ? ['not verified on the machine that wrote this'] : verified),
    ...(commit === null ? [] : [`made on ${commit.slice(0, 12)}`]),
  ].join(', ');
};

/** A list, with a last line for what was left out. */
export const listed = (lines: readonly string[], all: number): string =>
  [...lines, ...(all > lines.length ? [`- and ${all - lines.length} more`] : [])].join('\n');

const MOST_SESSIONS = 10;
const MOST_LINES = 50;

const shortened = (text: string, most: number): string => {
  const characters = [...text];
  if (characters.length <= most) return text;
  return `${characters.slice(0, most).join('')}\n\n[… ${characters.length - most} more characters]`;
};

const LONGEST_LINE = 300;

/** The parts of a session's summary for reviewers. */
interface SessionWords {
  /** `2 files, +10 −3`; undefined without changes. */
  changed: string | undefined;
  /** The agent's last words, Markdown. */
  last_words: string | undefined;
}

/** Extracts the public parts of the summary in session.md, as far as it still has its form. */
export const publicWords = (summary: string): SessionWords => {
  const sections = sectionsOf(summary);
  const [, changed] = CHANGED.exec(sections.get('What changed') ?? '') ?? [];
  const said = sections.get('Last words');
  return { changed, last_words: said === undefined ? undefined : unfenced(said) };
};

// Files that run something later may be named before. To its end, so that the name of one is not taken for it.
const CHANGED = /^(\d+ files?, \+\d+ −\d+): see \[diff\.patch\]\(diff\.patch\)\.$/m;

// Headings inside code blocks are not sections.
const sectionsOf = (text: string): Map<string, string> => {
  const sections = new Map<string, string>();
  let heading = '';
  let fence = '';
  for (const line of text.split(/\r?\n/)) {
    const [, run = ''] = /^(`{3,})/.exec(line) ?? [];
    const title = fence === '' ? /^## (.+)$/.exec(line)?.[1] : undefined;
    if (title !== undefined) heading = title.trim();
    else sections.set(heading, `${sections.get(heading) ?? ''}${line}\n`);
    if (fence === '') fence = run;
    else if (line.trimEnd() === fence) fence = '';
  }
  return new Map([...sections].map(([title, body]) => [title, body.trim()]));
};

const unfenced = (text: string): string | undefined => {
  const [, , inside] = /^(`{3,})markdown\n(.*)\n\1$/s.exec(text) ?? [];
  return inside ?? (text === '' ? undefined : text);
};
