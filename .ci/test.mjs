// Runs the tests of the files and below the folders that are named. Some files of a folder share a process: what they import, and
// the browser, is started once. A file that changes what is of the whole process, as its environment or its clock, runs
// alone.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const TOGETHER = 6;
const OF_THE_PROCESS = /process\.env\.\w+ = |process\.env\[\w+\] = |process\.chdir|mock\.timers/;

const testsBelow = (place) => {
  if (statSync(place).isDirectory())
    return readdirSync(place).flatMap((name) => testsBelow(join(place, name)));
  return place.endsWith('.test.js') ? [place] : [];
};

const groupsOf = (files) => {
  const groups = [];
  for (const file of files) {
    const isAlone = OF_THE_PROCESS.test(readFileSync(file, 'utf8'));
    const last = groups.at(-1);
    const fits =
      last !== undefined &&
      !(isAlone || last.isAlone) &&
      last.files.length < TOGETHER &&
      dirname(last.files[0]) === dirname(file);
    if (fits) last.files.push(file);
    else groups.push({ isAlone, files: [file] });
  }
  return groups.map(({ files }) => files);
};

const [, , ...places] = process.argv;
const files = [...new Set(places.flatMap(testsBelow))].sort();
const into = 'dist/together';
rmSync(into, { recursive: true, force: true });
mkdirSync(into);
const programs = groupsOf(files).map((group, at) => {
  const [first] = group;
  if (group.length === 1) return first;
  const room = relative('dist/test', dirname(first)).replaceAll('/', '-');
  const program = join(into, `${String(at).padStart(3, '0')}-${room}.test.js`);
  writeFileSync(program, group.map((file) => `import '../../${file}';\n`).join(''));
  return program;
});
const how = ['--test', '--test-reporter=spec', '--enable-source-maps', '--test-timeout=900000'];
const { status } = spawnSync(process.execPath, [...how, '--test-concurrency=3', ...programs], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
