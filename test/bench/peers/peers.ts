import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { tableOf } from '../../helpers/markdown-table.ts';
import { describeSection } from '../describe-run.ts';
import { makePlace, removePlace } from '../place.ts';
import { stopAll } from '../processes.ts';
import { printTable } from '../report.ts';
import { NOTHING } from '../results.ts';
import type { ResultsFile } from '../results-file.ts';
import { install } from './install.ts';
import { type Place, TOOLS, type Tool } from './tools.ts';
import { type Done, WORK, workWith } from './work.ts';

/** Does the same work with Dossier and with other tools, and writes it to RESULTS.md. */
export const benchPeers = async (file: ResultsFile): Promise<boolean> => {
  const done = new Map<Tool, Done | string>();
  for (const tool of TOOLS) {
    process.stderr.write(`measuring ${tool.name} …\n`);
    done.set(tool, await measure(tool));
  }
  const table = tableOfWork(done);
  printTable(table);
  const unavailable = [...done].flatMap(([{ name }, work]) =>
    typeof work === 'string' ? [`- ${name} is not available on this machine: ${work}.`] : [],
  );
  const notes = [...TOOLS.map(({ name, note }) => `- ${name}: ${note}`), ...unavailable];
  process.stdout.write(`\n${notes.join('\n')}\n`);
  file.write({
    ...(file.read() ?? NOTHING),
    peers: `${describeSection('--peers')}\n\n${tableOf(table)}\n${notes.join('\n')}\n`,
  });
  return unavailable.length === 0;
};

/** What was measured of a tool, or why it could not be. */
const measure = async (tool: Tool): Promise<Done | string> => {
  const installed = makePlace();
  const [data, home, tmp] = ['data', 'home', 'tmp'].map((name) => join(installed, name)) as [
    string,
    string,
    string,
  ];
  for (const dir of [data, home, tmp]) mkdirSync(dir, { mode: 0o700 });
  const { PATH } = process.env;
  const place: Place = { installed, data, env: { PATH, HOME: home, TMPDIR: tmp, ...tool.env } };
  try {
    if (tool.package !== undefined) await install(tool.package, installed);
    return await workWith(tool, place);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await stopAll();
    removePlace(installed);
  }
};

const tableOfWork = (done: ReadonlyMap<Tool, Done | string>): string[][] => [
  ['what', ...[...done.keys()].map(nameOf)],
  ...(Object.keys(WORK) as (keyof typeof WORK)[]).map((key) => [
    WORK[key],
    ...[...done.values()].map((work) => (typeof work === 'string' ? 'not available' : work[key])),
  ]),
];

const nameOf = ({ name, package: installed }: Tool): string =>
  installed === undefined ? name : `${name} ${installed.replace(/^.*@/, '')}`;
