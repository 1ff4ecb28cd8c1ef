/**
 * `npm run bench`: what the daemon costs, as ratios to limits that are taken in the same run. A machine that does other
 * work makes single figures wrong, the ratios much less so.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runApart } from './apart.ts';
import { measure } from './build.ts';
import { LONG, PARTS } from './parts.ts';
import { benchPeers } from './peers/peers.ts';
import { makePlace } from './place.ts';
import { stopAll } from './processes.ts';
import { resultsFile } from './results-file.ts';
import { runAll } from './run-all.ts';
import { runGuard } from './run-guard.ts';
import { runLong } from './run-long.ts';
import { runParts } from './run-parts.ts';

const USAGE = `npm run bench                     measure all, and write test/bench/RESULTS.md
npm run bench -- PART...          measure these parts: ${Object.keys({ ...PARTS, ...LONG }).join(' ')}
npm run bench -- --guard          fail where a ratio is 1.3 × worse than in test/bench/RESULTS.md; below two minutes
npm run bench -- --long           measure what takes minutes each: ${Object.keys(LONG).join(' ')}
npm run bench -- --peers          do the same work with other tools, which npm installs for it

  --of PATH        measure this dossier.js instead of this build's; with --results, all is written there
  --without-serve  that build is started without the command \`serve\`
  --results FILE   use this file instead of test/bench/RESULTS.md
`;

const OPTIONS = {
  guard: { type: 'boolean', default: false },
  long: { type: 'boolean', default: false },
  peers: { type: 'boolean', default: false },
  of: { type: 'string' },
  'without-serve': { type: 'boolean', default: false },
  results: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

interface Called {
  values: ReturnType<typeof parse>['values'];
  parts: readonly string[];
}

const parse = () => parseArgs({ allowPositionals: true, options: OPTIONS });

/** What the program was called with; the exit code where that is wrong, or no more than a question. */
const readArgs = (): Called | number => {
  try {
    const { values, positionals } = parse();
    const unknown = positionals.find((name) => !(name in PARTS || name in LONG));
    if (unknown === undefined && !values.help) return { values, parts: positionals };
    const why = unknown === undefined ? '' : `No part is called ${unknown}.\n`;
    process.stderr.write(`${why}${USAGE}`);
    return values.help ? 0 : 2;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    return 2;
  }
};

/** Returns the exit code. */
const main = async ({ values, parts }: Called): Promise<number> => {
  if (values.of !== undefined) measure(resolve(values.of), { serve: !values['without-serve'] });
  const results = resultsFile(values.results);
  // It installs what it measures, from the network.
  if (values.peers) return codeOf(await benchPeers(results));
  const code = await runApart();
  if (code !== undefined) return code;
  // Daemons of the bench have their default sockets beside no other's.
  Object.assign(process.env, { XDG_STATE_HOME: makePlace(), XDG_RUNTIME_DIR: '' });
  if (values.guard) return codeOf(await runGuard(results));
  if (parts.length > 0) return codeOf(await runParts(parts));
  if (values.long) return codeOf(await runLong(results));
  const isKept = values.of === undefined || values.results !== undefined;
  return codeOf(await runAll(isKept ? results : undefined));
};

const codeOf = (isGood: boolean): number => (isGood ? 0 : 1);

// Its temporary directories are removed at its exit, which a signal alone would skip.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => process.exit(1));

try {
  const called = readArgs();
  process.exitCode = typeof called === 'number' ? called : await main(called);
} finally {
  await stopAll();
}
