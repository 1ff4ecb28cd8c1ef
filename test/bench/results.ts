import { cellsIn, tableOf } from '../helpers/markdown-table.ts';
import { figureOf, meets, type Row } from './report.ts';

/** A row as RESULTS.md keeps it. */
export interface KeptRow {
  key: string;
  what: string;
  measured: string;
  limit: string;
  ratio?: number;
  /** With ` MISSED` behind it where that is so. */
  target: string;
  /** The ratio in the run before. */
  before?: number;
}

/** Of what was measured, when and on which machine: `commit`, `date`, `CPU`, … */
export type Run = Readonly<Record<string, string>>;

/** What RESULTS.md says. */
export interface Results {
  run: Run;
  before?: Run;
  rows: readonly KeptRow[];
  guard: readonly KeptRow[];
  /** What takes minutes each, and is measured by itself. */
  long?: LongResults;
  /** The section Peers, as it stands. */
  peers?: string;
}

interface LongResults {
  /** When and where, as a sentence. */
  of: string;
  rows: readonly KeptRow[];
}

export const NOTHING: Results = { run: {}, rows: [], guard: [] };

interface Measured {
  run: Run;
  rows: readonly Row[];
  guard: readonly Row[];
}

/** The results of a new run. The former ones become those of the run before; Long and Peers stay. */
export const nextResults = (
  { run, rows, guard }: Measured,
  former: Results | undefined,
): Results => ({
  run,
  ...(former && { before: former.run }),
  rows: rows.map((row) => keep(row, former?.rows)),
  guard: guard.map((row) => keep(row, former?.guard)),
  ...(former?.long && { long: former.long }),
  ...(former?.peers !== undefined && { peers: former.peers }),
});

/** The same with other rows in the section Long. */
export const withLong = (
  { of, rows }: { of: string; rows: readonly Row[] },
  former: Results = NOTHING,
): Results => ({
  ...former,
  long: { of, rows: rows.map((row) => keep(row, former.long?.rows)) },
});

const keep = (row: Row, former: readonly KeptRow[] = []): KeptRow => {
  const before = former.find(({ key }) => key === row.key)?.ratio;
  return {
    key: row.key,
    what: row.what,
    measured: row.measured,
    limit: row.limit ?? '',
    ...(row.ratio !== undefined && { ratio: Number(figureOf(row.ratio)) }),
    target: `${row.target ?? ''}${meets(row) === false ? MISSED : ''}`,
    ...(before !== undefined && { before }),
  };
};

const MISSED = ' MISSED';

const HEAD = ['what', 'measured', 'limit in the same run', 'ratio', 'target', 'before'];

const INTRODUCTION = `# Bench results

\`npm run bench\` writes this file. A limit is the least that the same work costs: both are measured in the same run, in
turns, and their ratio can be compared between machines. Each ratio is the median of the ratios of the rounds. \`before\`
is the ratio of the run before.
`;

const GUARD = `\`npm run bench -- --guard\` takes the same measures with smaller counts. It fails where a ratio is
1.3 × worse than the worse one of both runs here, since machines differ.
`;

/** The text of RESULTS.md. */
export const textOf = ({ run, before, rows, guard, long, peers }: Results): string =>
  [
    INTRODUCTION,
    tableOf([
      ['', 'this run', 'the run before'],
      ...Object.entries(run).map(([name, value]) => [name, value, before?.[name] ?? '']),
    ]),
    '## All\n',
    tableOf([HEAD, ...rows.map(cellsOf)]),
    '## Guard\n',
    GUARD,
    tableOf([HEAD, ...guard.map(cellsOf)]),
    ...(long === undefined
      ? []
      : ['## Long\n', `${long.of}\n`, tableOf([HEAD, ...long.rows.map(cellsOf)])]),
    ...(peers === undefined ? [] : ['## Peers\n', peers]),
  ].join('\n');

const cellsOf = (row: KeptRow): string[] => [
  `${row.what} (\`${row.key}\`)`,
  row.measured,
  row.limit,
  figureOf(row.ratio),
  row.target,
  figureOf(row.before),
];

/** Reads what `textOf` wrote. */
export const resultsIn = (text: string): Results => {
  const [introduction = '', ...sections] = text.split(/^(?=## )/m);
  const section = (name: string): string | undefined => {
    const head = `## ${name}\n\n`;
    return sections.find((each) => each.startsWith(head))?.slice(head.length);
  };
  const facts = cellsIn(introduction);
  const before = facts.filter(([, , value]) => value !== '');
  const long = section('Long');
  const peers = section('Peers');
  return {
    run: Object.fromEntries(facts.map(([name = '', value = '']) => [name, value])),
    ...(before.length > 0 && {
      before: Object.fromEntries(before.map(([name = '', , value = '']) => [name, value])),
    }),
    rows: rowsIn(section('All')),
    guard: rowsIn(section('Guard')),
    ...(long !== undefined && { long: { of: long.split('\n', 1)[0] ?? '', rows: rowsIn(long) } }),
    ...(peers !== undefined && { peers }),
  };
};

const rowsIn = (section = ''): KeptRow[] =>
  cellsIn(section).map(([named = '', measured = '', limit = '', ratio, target = '', before]) => {
    const [, what = named, key = ''] = /^(.*) \(`([^`]+)`\)$/.exec(named) ?? [];
    return {
      key,
      what,
      measured,
      limit,
      ...numberIn('ratio', ratio),
      target,
      ...numberIn('before', before),
    };
  });

const numberIn = <K extends string>(name: K, cell = ''): { [key in K]?: number } =>
  (cell === '' ? {} : { [name]: Number(cell) }) as { [key in K]?: number };
