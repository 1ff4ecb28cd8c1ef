/** The table of RELIABILITY.md that runs write themselves. */
import { tableOf } from '../helpers/markdown-table.ts';
import type { Errors } from './errors.ts';
import type { Tried } from './faulty.ts';
import type { Deleted } from './hands.ts';
import { KNOWN } from './known.ts';
import type { Searched } from './search.ts';

const NAMES: Readonly<Record<string, string>> = {
  alone: 'one operation',
  pairs: 'two operations, one after the other',
  triples: 'three operations, one after the other, by chance',
  row: 'one row of operations',
};

/** The text with other lines between `<!-- PART: begin -->` and its end. */
export const withPart = (text: string, part: string, lines: readonly string[]): string => {
  const [begin, end] = [`<!-- ${part}: begin -->`, `<!-- ${part}: end -->`];
  const [head = '', rest] = text.split(begin);
  const tail = rest?.split(end)[1];
  if (tail === undefined) throw new Error(`There is no ${begin} with ${end} behind it`);
  return `${head}${begin}\n${lines.join('\n')}\n${end}${tail}`;
};

export const tableOfCuts = (
  results: readonly { name: string; searched: Searched }[],
  { seed, options }: { seed: number; options: string },
): string[] => {
  const tried = results.filter(({ searched }) => searched.rows > 0);
  const lines = tried.map(({ name, searched: { rows, states, found } }) => {
    const fresh = found.filter(({ known }) => known === undefined).length;
    const command = `npm run crash -- --only ${name} --seed ${seed} ${options}`;
    const counts = [rows, states, fresh, found.length - fresh].map(String);
    return [`Power cut: ${NAMES[name]}`, ...counts, `\`${command}\``];
  });
  const known = KNOWN.map(({ says }) => `- ${says}.`);
  return [
    tableOf([HEAD_OF_CUTS, ...lines]).trimEnd(),
    ...(known.length === 0 ? [] : ['', 'Known and not mended:', '', ...known]),
  ];
};

const HEAD_OF_CUTS = [
  'Fault',
  'Rows of operations',
  'States',
  'New faults',
  'Known faults, by row',
  'Command',
];

const ERRNOS = ['EIO', 'ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EMFILE', 'ENFILE', 'EINTR', 'git'];

/** Errno × operation × answer. */
export const tableOfErrors = ({ tried, all }: Errors, command: string): string[] => {
  const errnos = ERRNOS.filter((errno) => tried.some((one) => one.errno === errno));
  const wrong = tried.filter((one) => one.wrong !== undefined).length;
  const there = [...all.values()].reduce((sum, count) => sum + count, 0);
  const lines = [...all.keys()].flatMap((operation) => {
    const own = tried.filter((one) => one.operation === operation);
    if (own.length === 0) return [];
    const cells = errnos.map((errno) => answersOf(own.filter((one) => one.errno === errno)));
    return [[operation, String(own.length), ...cells]];
  });
  return [
    `${tried.length} errors of ${there} that there are, ${wrong} answered wrongly: \`${command}\``,
    '',
    tableOf([['Operation', 'Errors', ...errnos], ...lines]).trimEnd(),
  ];
};

const answersOf = (tried: readonly Tried[]): string => {
  const counts = new Map<string, number>();
  for (const { answer } of tried) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([answer, count]) => `${answer} ${count}`)
    .join(', ');
};

/** What was deleted by hand while a session was finished. */
export const lineOfHands = (all: readonly Deleted[], command: string): string[] => {
  const wrong = all.filter((one) => one.wrong !== undefined).length;
  const files = new Set(all.map(({ path }) => path)).size;
  return [`${all.length} deletions of ${files} files, ${wrong} with a wrong end: \`${command}\``];
};
