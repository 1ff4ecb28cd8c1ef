/** The table of RELIABILITY.md that runs write themselves. */
import { KNOWN } from './known.ts';
import type { Searched } from './search.ts';

const BEGIN = '<!-- crash: begin -->';
const END = '<!-- crash: end -->';

const NAMES: Readonly<Record<string, string>> = {
  alone: 'one operation',
  pairs: 'two operations, one after the other',
  triples: 'three operations, one after the other, by chance',
  row: 'one row of operations',
};

export const reliability = (
  text: string,
  results: readonly { name: string; searched: Searched }[],
  seed: number,
): string => {
  const [head = '', rest] = text.split(BEGIN);
  const tail = rest?.split(END)[1];
  if (tail === undefined) throw new Error(`There is no ${BEGIN} with ${END} behind it`);
  return `${head}${BEGIN}\n${tableOf(results, seed)}\n${END}${tail}`;
};

const tableOf = (
  results: readonly { name: string; searched: Searched }[],
  seed: number,
): string => {
  const tried = results.filter(({ searched }) => searched.rows > 0);
  const lines = tried.map(({ name, searched: { rows, states, found } }) => {
    const fresh = found.filter(({ known }) => known === undefined).length;
    const command = `npm run crash -- --only ${name} --seed ${seed}`;
    return `| Power cut: ${NAMES[name]} | ${rows} | ${states} | ${fresh} | ${found.length - fresh} | \`${command}\` |`;
  });
  const known = KNOWN.map(({ says }) => `- ${says}.`);
  return [
    '| Fault | Rows of operations | States | New faults | Known faults, by row | Command |',
    '| --- | --- | --- | --- | --- | --- |',
    ...lines,
    ...(known.length === 0 ? [] : ['', 'Known and not mended:', '', ...known]),
  ].join('\n');
};
