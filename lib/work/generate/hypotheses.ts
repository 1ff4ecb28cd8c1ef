import { shellQuoted } from '../../../store/base/text.ts';
import type { ExtractedIssue } from '../../../store/records/extracted.ts';
import { asCode, firstSentence, plainLine, withoutCommands } from './markdown.ts';
import { wantedOf } from './wanted.ts';

interface Hypothesis {
  title: string;
  because: string;
  check: string;
}

interface From {
  title: string;
  /** The file or field it is made from. */
  source: string;
  /** The linked issue, `owner/name#12`. */
  own: string | undefined;
}

/** Stage 2 without an agent: possible causes, from the errors, words and files that are named. */
export const hypothesesOf = (issue: ExtractedIssue, { title, source, own }: From): string => {
  const found = [
    ...fromErrors(issue),
    ...fromBehaviour(issue),
    ...fromFiles(issue),
    ...fromEnvironment(issue),
    ...fromMentions(issue, own),
    ...fromProposal(issue),
    ...fromWishes(issue),
  ].slice(0, MOST);
  const all = found.length === 0 ? [titleHypothesis(title)] : found;
  return withoutCommands(
    `${[`# Hypotheses: ${plainLine(title)}`, INTRO(source), ...all.map(written)].join('\n\n')}\n`,
  );
};

const MOST = 10;

const INTRO = (source: string): string =>
  `Made from the quotes and names in ${source}, without reading the code. Strike what is wrong, add what is missing, and write a verdict for each.`;

const written = ({ title, because, check }: Hypothesis, at: number): string =>
  [`## H${at + 1}: ${title}`, `- Because: ${because}\n- Check: ${check}\n- Verdict: open`].join(
    '\n\n',
  );

const fromErrors = ({ errors, logs, code_blocks, files }: ExtractedIssue): Hypothesis[] =>
  errors.slice(0, 2).map((error) => {
    const quotes = [...logs, ...code_blocks.map(({ content }) => content)];
    const log = quotes.filter((text) => text.includes(error)).join('\n');
    const place = files.find((file) => log.includes(file));
    const text = asCode(plainLine(error, 160));
    if (place === undefined)
      return {
        title: `${text} names the cause`,
        because: 'The issue quotes this error.',
        check: 'Search the code for its text, and find where it is raised and with which input.',
      };
    return {
      title: `${text} begins in ${asCode(place)}`,
      because: `The output that is quoted names ${asCode(lineIn(log, place))} with this error.`,
      check: `Reproduce it, and check in ${asCode(place)} which value is not what the code expects, and where it comes from.`,
    };
  });

// With the line number, where the log has one.
const lineIn = (log: string, file: string): string => {
  const from = log.slice(log.indexOf(file) + file.length);
  return `${file}${/^:\d{1,6}/.exec(from)?.[0] ?? ''}`;
};

const fromBehaviour = ({ actual, expected, steps }: ExtractedIssue): Hypothesis[] => {
  if (actual === null && expected === null) return [];
  const now = actual === null ? '' : firstSentence(actual);
  const wanted = expected === null ? '' : firstSentence(expected);
  const how = steps.length > 0 ? ', by the steps to reproduce' : '';
  if (wanted === '' || now === '')
    return [
      {
        title: `The code does this on purpose or by accident: ${now || `not “${wanted}”`}`,
        because: 'The issue describes only one side.',
        check: `See it happen${how}, then look whether a test or a document asks for it.`,
      },
    ];
  return [
    {
      title: 'A case is handled wrongly, or not at all',
      because: `It should be “${wanted}”, but it is “${now}”.`,
      check: `Write a test for what is expected${how}. It has to fail now; look where it fails.`,
    },
  ];
};

// Files that no error leads to.
const fromFiles = ({ files, errors, logs }: ExtractedIssue): Hypothesis[] => {
  const told = errors.length === 0 ? '' : logs.join('\n');
  const others = files.filter((file) => !told.includes(file));
  return others.slice(0, 3).map((file) => ({
    title: `What has to change is in ${asCode(file)}`,
    because: 'The text names it.',
    check: `Read it, and what changed in it last (${asCode(`git log -p -- ${shellQuoted(file)}`)}).`,
  }));
};

const fromEnvironment = ({ environment, actual, errors }: ExtractedIssue): Hypothesis[] => {
  if (environment.length === 0 || (actual === null && errors.length === 0)) return [];
  const where = environment
    .slice(0, 3)
    .map(({ name, value }) => `${plainLine(name, 40)}: ${plainLine(value, 60)}`)
    .join(', ');
  return [
    {
      title: 'It happens only in this environment',
      because: `It was seen with ${where}.`,
      check:
        'Reproduce it with another version or on another system. If it fails there too, strike this.',
    },
  ];
};

const fromMentions = ({ mentions }: ExtractedIssue, own: string | undefined): Hypothesis[] => {
  const names = mentions
    .map(({ repository, number }) => `${repository ?? ''}#${number}`)
    .filter((name) => name !== own)
    .slice(0, 5);
  if (names.length === 0) return [];
  return [
    {
      title: `It is connected with ${names.join(', ')}`,
      because: 'The text names it.',
      check: 'Read it: it may have the same cause, or be the change that caused this.',
    },
  ];
};

const fromProposal = ({ sections }: ExtractedIssue): Hypothesis[] => {
  const proposal = sections.find(({ kind }) => kind === 'proposal');
  if (proposal === undefined) return [];
  return [
    {
      title: 'What the issue proposes is the way to do it',
      because: `It says: “${firstSentence(proposal.content)}”`,
      check: 'Think of one other way, and compare: what does each change, and what can each break?',
    },
  ];
};

// Something is wanted and nothing is reported as broken.
const fromWishes = (issue: ExtractedIssue): Hypothesis[] => {
  const wanted = wantedOf(issue);
  if (issue.actual !== null || issue.errors.length > 0 || wanted.length === 0) return [];
  return [
    {
      title: 'It can be added without changing existing code',
      because: `Nothing is reported as broken; the request is “${plainLine(wanted[0] ?? '', 160)}”${wanted.length > 1 ? ` and ${wanted.length - 1} more` : ''}.`,
      check:
        'Look for code that already does part of it, and for callers that a change would affect.',
    },
  ];
};

const titleHypothesis = (title: string): Hypothesis => ({
  title: `“${plainLine(title, 160)}” says what is to be done`,
  because: 'No error, no file and no expectation is named.',
  check: 'Ask the author what they saw, what they expected, and how to check that it is done.',
});
