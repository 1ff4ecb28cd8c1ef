// Which test files share a process: some of one folder, and so what they import and one browser. A file that changes what is
// of the whole process, as its environment or its clock, has one alone.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { compile } from './compile.mjs';

const SECONDS = 20;
const FILES = 12;
const OF_THE_PROCESS = /process\.env\.\w+ = |process\.env\[\w+\] = |process\.chdir|mock\.timers/;

/** `expected`: how many seconds a file takes. What takes long begins first: nothing is waited for alone at the end. */
export const groupsOf = (files, expected) => {
  const groups = [];
  for (const file of files.toSorted()) {
    const group = {
      files: [],
      seconds: 0,
      isAlone: OF_THE_PROCESS.test(readFileSync(file, 'utf8')),
    };
    const last = groups.at(-1);
    const fits = last !== undefined && takes(last, group, file, expected(file));
    const into = fits ? last : group;
    into.files.push(file);
    into.seconds += expected(file);
    if (!fits) groups.push(group);
  }
  return groups.toSorted((a, b) => b.seconds - a.seconds).map(named);
};

const takes = (last, { isAlone }, file, seconds) =>
  !(isAlone || last.isAlone) &&
  last.files.length < FILES &&
  last.seconds + seconds <= SECONDS &&
  dirname(last.files[0]) === dirname(file);

const named = ({ files }, at) => ({
  files,
  name: `${String(at).padStart(3, '0')}-${dirname(files[0]).replaceAll('/', '-')}`,
});

/** Compiles each to `NAME.test.js` in a folder that is there; what several import is in chunks that they share. */
export const compileGroups = async (groups, outdir) => {
  const entries = groups.map(({ files, name }) => {
    const entry = join(outdir, `${name}.entry.mjs`);
    const imports = files.map((file) => `import ${JSON.stringify(resolve(file))};\n`);
    writeFileSync(entry, imports.join(''));
    return { in: entry, out: `${name}.test` };
  });
  await compile(entries, { outdir, splitting: true, chunkNames: 'chunks/[hash]' });
};
