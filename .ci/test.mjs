// Runs tests: node .ci/test.mjs [--quick] [--since=REV] [--slowest] [FILE or FOLDER...]
//
// --quick: those that the change touches, as many as fit into its time. --slowest: lists the time of each file, and the CPU
// time of each process with files of its own. A file that takes longer than .ci/budgets.json gives it, in a second run too if
// all were run, fails the run; more is given where all take longer.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { compilePrograms, filesBelow, letGo } from './compile.mjs';
import { compileGroups, groupsOf } from './test-groups.mjs';
import { runGroups } from './test-run.mjs';
import { touchedBy } from './touched.mjs';

const USAGE = '[--quick] [--since=REV] [--slowest] [FILE or FOLDER...]';
const OUT = 'dist/tests';
const TIMES = 'dist/test-times.json';
// Tests wait for part of their time. With more, two cores take as long, and what counts time becomes uncertain.
const AT_ONCE = 1 + availableParallelism();
const QUICK_S = 75;
const USUAL_S = 2;
// A budget is three times what a file takes on a quiet machine.
const SHARE = 1 / 3;

const readJson = (path, otherwise) =>
  existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : otherwise;

const budgets = readJson('.ci/budgets.json');
const known = readJson(TIMES, {});
/** Both in seconds. Where a file was not run yet, a share of its budget is expected. */
const budgetOf = (file) => budgets.files[file] ?? budgets.default;
const expected = (file) => {
  if (known[file] !== undefined) return known[file] / 1000;
  return file in budgets.files ? budgets.files[file] * SHARE : USUAL_S;
};

const refuse = (message) => {
  console.error(`${message}\nUsage: node .ci/test.mjs ${USAGE}`);
  process.exit(2);
};

const testsAt = (place) => {
  if (!existsSync(place)) refuse(`${place}: no such file or folder`);
  return statSync(place).isDirectory() ? filesBelow(place, /\.test\.ts$/) : [place];
};

/** The first of them that together take no longer than QUICK_S. */
const quickOf = (files) => {
  const fits = [];
  for (const file of files)
    if ([...fits, file].reduce((sum, each) => sum + expected(each), 0) <= QUICK_S * 2)
      fits.push(file);
  const out = files.filter((file) => !fits.includes(file));
  if (out.length > 0) console.log(`Left out, for time: ${out.join(' ')}. npm test runs all.`);
  return fits;
};

const run = async (groups) => {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  await Promise.all([compilePrograms(), compileGroups(groups, OUT)]);
  await letGo();
  return runGroups(groups, OUT, AT_ONCE);
};

/** How much longer than usual all that have a budget of their own took together, where the machine is slow or has other work. */
const slownessOf = (times) => {
  const named = times.filter(([file]) => file in budgets.files);
  const sum = (of) => named.reduce((total, each) => total + of(each), 0);
  const usual = sum(([file]) => budgets.files[file] * SHARE * 1000);
  return usual === 0 ? 1 : Math.max(1, sum(([, ms]) => ms) / usual);
};

const readArguments = () => {
  const quick = { type: 'boolean' };
  const since = { type: 'string', default: 'HEAD' };
  const slowest = { type: 'boolean' };
  try {
    return parseArgs({ allowPositionals: true, options: { quick, since, slowest } });
  } catch ({ message }) {
    return refuse(message);
  }
};

const { values, positionals } = readArguments();
const all = [...new Set((positionals.length === 0 ? ['test'] : positionals).flatMap(testsAt))];
const files = values.quick ? quickOf(touchedBy(values.since, all)) : all;
const { failures, passed, skipped, times, groups } = await run(groupsOf(files, expected));
writeFileSync(TIMES, JSON.stringify({ ...known, ...times }, null, 2));

const line = ([file, ms]) =>
  `${(ms / 1000).toFixed(1).padStart(7)} s of ${budgetOf(file)} s  ${file}`;
const sorted = Object.entries(times).toSorted(([, a], [, b]) => b - a);
if (values.slowest) {
  for (const each of sorted) console.log(line(each));
  for (const { name, cpu_s } of groups.toSorted((a, b) => b.cpu_s - a.cpu_s))
    console.log(`${cpu_s.toFixed(1).padStart(7)} s CPU  ${name}`);
}
const slowness = all.length > 100 ? slownessOf(sorted) : 1;
const overOf = (entries) => entries.filter(([file, ms]) => ms > budgetOf(file) * slowness * 1000);
const slow = overOf(sorted);
// The machine may have stood still meanwhile. What fails in the second run fails, too.
const second =
  slow.length > 0 && all.length > 100
    ? await run(
        groupsOf(
          slow.map(([file]) => file),
          expected,
        ),
      )
    : { failures: [], times: Object.fromEntries(slow) };
for (const each of slow) console.log(`SLOW ${line(each)}`);
const over = overOf(Object.entries(second.times));
for (const each of over) console.log(`OVER ITS BUDGET ${line(each)}`);
const failed = [...failures, ...second.failures];
for (const { file, line: at, name, reason = [] } of failed)
  console.log([`FAILED ${file}:${at}: ${name}`, ...reason].join('\n    '));
const cpu_s = groups.reduce((sum, group) => sum + group.cpu_s, 0);
console.log(
  `${passed} passed, ${failed.length} failed, ${skipped} skipped, ${cpu_s.toFixed(0)} s CPU`,
);
const isWrong = over.length > 0 || failed.length > 0;
process.exitCode = isWrong || (passed === 0 && !values.quick) ? 1 : 0;
