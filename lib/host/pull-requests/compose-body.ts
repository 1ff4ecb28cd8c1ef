import type { ChecklistItem, Proof } from '../../../store/records/proof.ts';
import type { Session } from '../../../store/records/session.ts';
import { oneLine } from '../../text/one-line.ts';
import { shorten } from '../../text/shorten.ts';
import { asQuotation, harmless } from './disarm.ts';

/** What the body of a pull request tells: what was asked, what was done, how it was proved. */
export interface BodyFacts {
  title: string;
  description: string;
  /** The issue that is closed with it. */
  issue: { repository: string; number: number } | undefined;
  /** Those that completed their work, oldest first. */
  sessions: readonly { session: Session; words: SessionWords }[];
  /** Those that are verified. */
  proofs: readonly Pick<Proof, 'type' | 'verified_at' | 'commit'>[];
  checklist: readonly ChecklistItem[];
}

/** The most that the host takes, in characters. */
export const MAX_BODY = 65_536;

/**
 * The body of a pull request, Markdown. Nothing that an agent or an issue wrote notifies anybody, closes another issue or
 * hides what follows it. What would be too long for the host is shortened, and says so.
 */
export const composeBody = (told: BodyFacts, room = MAX_BODY): string => {
  const proved = provedBy(told);
  let body = '';
  for (const size of SIZES) {
    const asked = askedFor(told, size);
    const done = doneSo(told, size);
    body = `${[...asked, ...done, ...proved].join('\n\n')}\n`;
    if (body.length <= room) break;
  }
  return body;
};

interface Size {
  /** The most characters of what was asked, and of what a session said at its end. */
  asked: number;
  said: number;
}

// A quotation of short lines takes three times its text.
const SIZES: readonly Size[] = [
  { asked: 8000, said: 2000 },
  { asked: 4000, said: 500 },
  { asked: 500, said: 100 },
];

const askedFor = ({ title, description, issue }: BodyFacts, { asked }: Size): string[] => [
  '## What was asked',
  asQuotation(description.trim() === '' ? title : shortened(description.trim(), asked)),
  ...(issue === undefined ? [] : [`Closes ${issue.repository}#${issue.number}.`]),
];

const doneSo = ({ sessions }: BodyFacts, size: Size): string[] => {
  const newest = sessions.slice(-MOST_SESSIONS);
  const parts = newest.flatMap((one) => ofSession(one, size));
  const left = sessions.length - newest.length;
  return [
    '## What was done',
    ...(left > 0 ? [`${left} earlier sessions are not told here.`] : []),
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
    ...(said === '' ? [] : [asQuotation(shortened(said, most))]),
  ];
};

const provedBy = ({ proofs, checklist }: BodyFacts): string[] => {
  const items = checklist.slice(0, MOST_LINES).map(checkedLine);
  const lines = proofs.slice(0, MOST_LINES).map(proofLine);
  return [
    '## How it was proved',
    ...(items.length > 0 ? [listed(items, checklist.length)] : []),
    lines.length > 0 ? listed(lines, proofs.length) : 'Nothing is verified yet.',
  ];
};

/** What has to be proven, in one line, ticked where it is. */
export const checkedLine = ({ satisfied, description, type }: ChecklistItem): string =>
  harmless(
    `- [${satisfied ? 'x' : ' '}] ${shorten(oneLine(description), LONGEST_LINE)} (\`${type}\`)`,
  );

const proofLine = ({ type, verified_at, commit }: BodyFacts['proofs'][number]): string =>
  [
    `- \`${type}\``,
    ...(verified_at === null ? [] : [`verified ${minuteOf(verified_at)}`]),
    ...(commit === null ? [] : [`made on ${commit.slice(0, 12)}`]),
  ].join(', ');

/** Lines of a list, of which there may be more. */
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

/** `2026-01-31 12:30 UTC`. */
export const minuteOf = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;

/** What a session's summary says that whoever reviews the work wants to read. */
interface SessionWords {
  /** `2 files, +10 −3`; undefined where it tells of no change. */
  changed: string | undefined;
  /** What the agent said at its end, Markdown. */
  last_words: string | undefined;
}

/** Takes out of a summary, as it is in session.md, what belongs into a pull request. One edited by hand is read as far as it goes. */
export const publicWords = (summary: string): SessionWords => {
  const sections = sectionsOf(summary);
  const [changed] = /^\d+ files?, \+\d+ −\d+/.exec(sections.get('What changed') ?? '') ?? [];
  const said = sections.get('Last words');
  return { changed, last_words: said === undefined ? undefined : unfenced(said) };
};

// Headings inside of a code block are somebody's words.
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
