// Which test files share a process: some of one part of the tests, and so what they import, what Node has compiled of it, and one
// browser. A file that changes what is of the whole process, as its environment or its clock, has one alone.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compile } from './compile.mjs';

const SECONDS = 90;
const FILES = 48;
const OF_THE_PROCESS = /process\.env\.\w+ = |process\.env\[\w+\] = |process\.chdir|mock\.timers/;

/** `expected`: how many seconds a file takes. What takes long begins first: nothing is waited for alone at the end. */
export const groupsOf = (files, expected) => {
  const groups = [];
  for (const file of files.toSorted()) {
    const seconds = expected(file);
    const isAlone = OF_THE_PROCESS.test(readFileSync(file, 'utf8'));
    const fits = isAlone ? undefined : groups.find((group) => takes(group, file, seconds));
    const into = fits ?? { files: [], seconds: 0, isAlone };
    into.files.push(file);
    into.seconds += seconds;
    if (fits === undefined) groups.push(into);
  }
  return groups.toSorted((a, b) => b.seconds - a.seconds).map(named);
};

const takes = (group, file, seconds) =>
  !group.isAlone &&
  group.files.length < FILES &&
  group.seconds + seconds <= SECONDS &&
  partOf(group.files[0]) === partOf(file);

/** The pages of the console have a browser, which no other route's tests need. */
const partOf = (file) => /^test\/(routes\/console\/|[^/]+\/)?/.exec(file)?.[0];

const named = ({ files }, at) => ({
  files,
  name: `${String(at).padStart(3, '0')}-${dirname(files[0]).replaceAll('/', '-')}`,
});

/**
 * Compiles each to `NAME.test.js` in a folder that is there, which imports its files; what several import is in chunks that they
 * share. Where a file is compiled to tells its source: no map has to be read for that.
 */
export const compileGroups = async (groups, outdir) => {
  const files = groups.flatMap((group) => group.files);
  for (const group of groups) {
    const imports = group.files.map((file) => `import './${withoutEnding(file)}.js';\n`);
    writeFileSync(join(outdir, `${group.name}.test.js`), imports.join(''));
  }
  const entries = files.map((file) => ({ in: file, out: withoutEnding(file) }));
  await compile(entries, { outdir, splitting: true, chunkNames: 'chunks/[hash]' });
};

const withoutEnding = (file) => file.replace(/\.ts$/, '');
