/**
 * `npm run crash [-- --states 20000 --seed 7 --minutes 10]`: cuts the power at every moment of every operation that writes, of
 * all pairs of them, and of triples by chance. `--row 'one + two' --most 12 --state 3`: one state again, as a failure prints
 * it. `--only alone`: or `pairs`, or `triples`. `--rows 274-558`: only these of them, where a run stopped before. `--write`
 * puts the counts into RELIABILITY.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { linesOfTried, searchErrors } from './errors.ts';
import { linesOfDeleted, searchHands } from './hands.ts';
import { KNOWN } from './known.ts';
import { lineOfHands, tableOfCuts, tableOfErrors, withPart } from './reliability.ts';
import { alone, numbered, pairs, type Row, triples } from './rows.ts';
import { linesOf, type Searched, search } from './search.ts';

const { values } = parseArgs({
  options: {
    states: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() & 0xffffff) },
    minutes: { type: 'string', default: '600' },
    row: { type: 'string' },
    rows: { type: 'string' },
    state: { type: 'string' },
    most: { type: 'string' },
    only: { type: 'string' },
    fault: { type: 'string' },
    file: { type: 'string' },
    nth: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const states = Number(values.states);
const end = Date.now() + Number(values.minutes) * 60_000;

interface Part {
  name: string;
  rows: Row[];
  most: number;
}

/** From the first row to before the last. */
const [from = 0, to] = (values.rows ?? '0').split('-').map(Number);
const ALONE = alone();
const PAIRS = pairs(seed);
const A_TRIPLE = 12;
const ENOUGH = 20_000;

// An eighth of them for the operations alone, which have no more, and half for the pairs.
const parts: Part[] = [
  { name: 'alone', rows: ALONE, most: Math.ceil(states / 8 / ALONE.length) },
  { name: 'pairs', rows: PAIRS, most: Math.ceil(states / 2 / PAIRS.length) },
  {
    name: 'triples',
    rows: triples(Math.ceil((states * 3) / 8 / A_TRIPLE), seed),
    most: A_TRIPLE,
  },
];
const wanted: Part[] =
  values.row === undefined
    ? parts.filter(({ name }) => values.only === undefined || name === values.only)
    : [
        {
          name: 'row',
          rows: numbered([values.row.split(' + ')]),
          most: Number(values.most ?? 100_000),
        },
      ];

console.log(`seed ${seed}`);

/** Puts what the run found into RELIABILITY.md. */
const keep = (part: string, lines: readonly string[]): void => {
  if (!values.write) return;
  const path = 'RELIABILITY.md';
  writeFileSync(path, withPart(readFileSync(path, 'utf8'), part, lines));
};
const atMost = values.most === undefined ? '' : ` --most ${values.most}`;
const command = `npm run crash -- --only ${values.only} --seed ${seed}${atMost}`;

if (values.only === 'hands') {
  const { file, nth, most = '200' } = values;
  const all = await searchHands({
    ...{ seed, most: Number(most) },
    only: file === undefined ? undefined : { path: file, nth: Number(nth) },
    tell: (one) => {
      if (one.wrong !== undefined) console.log(`\n${linesOfDeleted(one).join('\n')}`);
    },
  });
  keep('hands', lineOfHands(all, command));
  const wrong = all.filter((one) => one.wrong !== undefined);
  console.log(`${all.length} files deleted while a session was finished, ${wrong.length} wrong`);
  process.exit(wrong.length > 0 ? 1 : 0);
}
if (values.only === 'errors' || values.only === 'git') {
  const errors = await searchErrors({
    seed,
    most: Number(values.most ?? 100_000),
    ...(values.row !== undefined && { operations: [values.row] }),
    fault: values.fault,
    inGit: values.only === 'git',
    isOver: () => Date.now() > end,
    tell: (one) => {
      if (process.stdout.isTTY) process.stdout.write(`\r${one.operation}: ${one.fault}\x1b[K`);
      if (one.wrong !== undefined) console.log(`\n${linesOfTried(one).join('\n')}`);
    },
  });
  keep(values.only, tableOfErrors(errors, command));
  const { tried } = errors;
  const wrong = tried.filter((one) => one.wrong !== undefined);
  console.log(`${tried.length} errors, ${wrong.length} wrong`);
  process.exit(wrong.length > 0 ? 1 : 0);
}
const results: { name: string; searched: Searched }[] = [];
for (const { name, rows: all, most } of wanted) {
  const rows = all.slice(from, to);
  let told = 0;
  const tell = (searched: Searched): void => {
    for (const found of searched.found.slice(told))
      if (found.known === undefined) console.log(`\n${linesOf(found).join('\n')}`);
    told = searched.found.length;
    const line = `${name}: ${searched.rows} of ${rows.length} rows, ${searched.states} states`;
    if (process.stdout.isTTY) process.stdout.write(`\r${line}`);
  };
  const state = values.state === undefined ? undefined : Number(values.state);
  const isOver = (): boolean => Date.now() > end;
  const searched = await search(rows, { seed, most, state, tell, isOver });
  results.push({ name, searched });
  console.log(`\n${name}: ${searched.rows} rows, ${searched.states} states`);
}
const found = results.flatMap(({ searched }) => searched.found);
const fresh = found.filter(({ known }) => known === undefined);
// Few states, or few rows, need not have each of them.
const isPart = [values.row, values.rows, values.only].some((value) => value !== undefined);
const isWhole = !isPart && Date.now() < end;
let gone = 0;
for (const one of KNOWN) {
  const count = found.filter(({ known }) => known === one).length;
  console.log(`known, in ${count} rows: ${one.says}`);
  if (count > 0 || !isWhole || states < ENOUGH) continue;
  console.log('  It is not found any more: take it out of test/crash/known.ts');
  gone += 1;
}
console.log(`${fresh.length} faults that are not known`);
const onlyRows = values.rows === undefined ? '' : ` --rows ${values.rows}`;
keep('crash', tableOfCuts(results, { seed, options: `--states ${states}${onlyRows}` }));
process.exit(fresh.length + gone > 0 ? 1 : 0);
