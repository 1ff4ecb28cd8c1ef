// Which tests a change touches, the nearest first: those that changed themselves, those of the folder that mirrors a changed
// file's, and those that import one.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { importsOf } from './rooms.mjs';

const git = (...args) =>
  execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);

const changedSince = (rev) => [
  ...git('diff', '--name-only', rev),
  ...git('ls-files', '--others', '--exclude-standard'),
];

const importsIn = (file) =>
  statSync(file, { throwIfNoEntry: false })?.isFile()
    ? importsOf(readFileSync(file, 'utf8'))
        .filter((to) => to.startsWith('.'))
        .map((to) => normalize(join(dirname(file), to)))
    : [];

/** What a test imports itself, or by a helper of the tests. Nearly everything imports the whole service: that says nothing. */
const reaches = (test) => {
  const direct = importsIn(test);
  const helpers = direct.filter(
    (path) => path.startsWith('test/') && basename(path) !== 'service.ts',
  );
  return new Set([...direct, ...helpers.flatMap(importsIn)]);
};

const nearness = (test, changed) => {
  if (changed.includes(test)) return 4;
  const reached = reaches(test);
  return Math.max(0, ...changed.map((path) => (reached.has(path) ? 3 : mirrors(test, path))));
};

const mirrors = (test, path) => {
  const folder = dirname(join('test', path));
  const name = basename(path).replace(/\..*$/, '');
  if (dirname(test) === folder && basename(test).startsWith(name)) return 2;
  return test.startsWith(`${folder}/`) ? 1 : 0;
};

/** Of all tests those that the changes since a commit touch. Without a change since HEAD, it is the last commit's. */
export const touchedBy = (rev, tests) => {
  const sinceHead = changedSince(rev);
  const changed = sinceHead.length > 0 ? sinceHead : changedSince(`${rev}~1`);
  return tests
    .map((test) => ({ test, near: nearness(test, changed) }))
    .filter(({ near }) => near > 0)
    .toSorted((a, b) => b.near - a.near)
    .map(({ test }) => test);
};
