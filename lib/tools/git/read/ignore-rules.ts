import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inSlices } from '../../../../store/base/async.ts';
import { orElse } from '../../../../store/base/attempt.ts';
import { parentsOf } from '../../../../store/base/paths.ts';
import { isRefusal } from '../run/error.ts';
import type { GitAt, GitWorktree, RunOptions } from '../run/git.ts';
import { MOST_LISTED, nulls, onDisk } from '../run/index-copy.ts';
import { latin1 } from '../run/path-text.ts';
import { inTemporary } from '../run/temporary.ts';
import { readBlobs } from './blobs.ts';

/** A snapshot of the ignore rules of a commit and of the operator, as plain data. */
export interface IgnoreRules {
  /** The commit whose `.gitignore` files apply. */
  commit: string;
  /** `core.excludesFile` and then `info/exclude`, read as latin1. */
  own: string;
}

/** Reads the operator's rules, which apply in addition to those of the commit. Skips files inside the worktree. */
export const noteIgnoreRules = async (
  git: GitAt<GitWorktree>,
  commit: string,
): Promise<IgnoreRules> => {
  const args = ['config', '--type=path', '--default', '~/.config/git/ignore', '--get'];
  const named = await git.find([...args, 'core.excludesFile']);
  const files = [named ?? '', join(git.place.common_dir, 'info', 'exclude')];
  return { commit, own: files.map((path) => textOf(git.place, path)).join('\n') };
};

const MOST_BYTES = 1_048_576;

// Dotfiles are often links; a link into the worktree leads to a file that an agent can write.
const textOf = ({ path: root }: GitWorktree, path: string): string =>
  orElse(() => {
    const real = realpathSync(path);
    const found = statSync(real);
    const counts = found.isFile() && found.size <= MOST_BYTES && !real.startsWith(`${root}/`);
    return counts ? readFileSync(real, 'latin1') : '';
  }, '');

/** Returns which of these directories are ignored and have no file in the commit. Names are latin1. */
type IgnoredDirectories = (paths: readonly string[]) => Promise<ReadonlySet<string>>;

/**
 * Runs `work` with the snapshot of the rules, applied in a temporary repository: `.gitignore` files that were changed since
 * then have no effect.
 */
export const withIgnoreRules = <T>(
  git: GitAt<GitWorktree>,
  rules: IgnoreRules,
  work: (ignored: IgnoredDirectories) => Promise<T>,
): Promise<T> =>
  inTemporary('ignores', async (dir) => {
    const { directories, files } = await rulesAt(git, rules.commit);
    const copy = git.at(emptyRepository(dir));
    const probe = `.${randomUUID()}`;
    // Files in an ignored directory cannot be re-included, so a re-included probe name is ignored only if its directory is.
    const write = (path: Buffer, text: string): void =>
      writeFileSync(path, `${text}\n!${probe}\n`, 'latin1');
    write(Buffer.from(join(dir, 'git', 'info', 'exclude')), rules.own);
    for (const { path, text } of files) {
      mkdirSync(onDisk(copy.place, dirname(path)), { recursive: true });
      write(onDisk(copy.place, path), text);
    }
    return work(async (paths) =>
      ignoredIn(copy, { probe, paths: paths.filter((path) => !directories.has(path)) }),
    );
  });

const emptyRepository = (dir: string): GitWorktree => {
  for (const name of ['tree', 'git/info', 'git/objects', 'git/refs'])
    mkdirSync(join(dir, name), { recursive: true });
  const git_dir = join(dir, 'git');
  writeFileSync(join(git_dir, 'HEAD'), 'ref: refs/heads/none\n');
  writeFileSync(join(git_dir, 'config'), '[core]\n\tbare = false\n');
  return { git_dir, common_dir: git_dir, path: join(dir, 'tree') };
};

interface Asked {
  probe: string;
  paths: readonly string[];
}

const ignoredIn = async (
  copy: GitAt<GitWorktree>,
  { probe, paths }: Asked,
): Promise<ReadonlySet<string>> => {
  const probes = paths.map((path) => `${path}/${probe}`);
  const own = copy.with({ settings: [['core.excludesFile', '']] });
  const found = await ignoredNames(own, probes, ['--no-index']);
  return new Set([...found].map((path) => path.slice(0, -`/${probe}`.length)));
};

interface RulesAt {
  /** All directories of the commit. */
  directories: ReadonlySet<string>;
  files: { path: string; text: string }[];
}

// A commit does not change, and a turn reads its rules at its start and end, as do the next turns from the same base.
let latest: { commit: string; rules: RulesAt } | undefined;

// A commit that can no longer be read has no rules.
const rulesAt = async (git: GitAt, commit: string): Promise<RulesAt> => {
  if (latest?.commit === commit) return latest.rules;
  const listed = await listingOf(git, commit).catch(() => undefined);
  if (listed === undefined) return { directories: new Set(), files: [] };
  const rules = await rulesIn(git, listed);
  latest = { commit, rules };
  return rules;
};

const listingOf = (git: GitAt, commit: string): Promise<string[]> =>
  git.names(['ls-tree', '-r', '-t', '-z', '--full-tree', commit], { max_bytes: MOST_LISTED });

const rulesIn = async (git: GitAt, listed: readonly string[]): Promise<RulesAt> => {
  const directories = new Set<string>();
  const found: { path: string; oid: string }[] = [];
  for (const line of listed) {
    const [, mode = '', type = '', oid = '', path = ''] = LISTED.exec(line) ?? [];
    if (type === 'tree') directories.add(path);
    // git does not follow a linked `.gitignore` either.
    if (mode.startsWith('100') && /^(?:.*\/)?\.gitignore$/s.test(path)) found.push({ path, oid });
  }
  const oids = [...new Set(found.map(({ oid }) => oid))];
  const blobs = await readBlobs(git, oids);
  const texts = new Map(oids.map((oid, at) => [oid, blobs[at]?.toString('latin1')]));
  const files = found.filter(({ path }) => !/(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$)/i.test(path));
  return {
    directories,
    files: files.map(({ path, oid }) => ({ path, text: texts.get(oid) ?? '' })),
  };
};

const LISTED = /^(\d{6}) ([a-z]+) ([0-9a-f]+)\t(.*)$/s;

const asking = (paths: readonly string[]): RunOptions => ({
  // With ./, no path is taken for pathspec magic.
  input: nulls(paths.map((path) => `./${path}`)),
  // The command takes paths, not patterns, and knows no such switch.
  env: { GIT_LITERAL_PATHSPECS: '0' },
  max_bytes: MOST_LISTED,
  ok: [0, 1],
});

/** Those of these paths, read as latin1, that git ignores. */
export const ignoredNames = async (
  git: GitAt<GitWorktree>,
  paths: readonly string[],
  options: readonly string[] = [],
): Promise<ReadonlySet<string>> => {
  if (paths.length === 0) return new Set();
  const found = await git.names(['check-ignore', '-z', '--stdin', ...options], asking(paths));
  return new Set(found.map((path) => path.slice('./'.length)));
};

/**
 * Untracked files, and directories with a slash at the end, that a `.gitignore` ignores which ignores itself too: neither
 * status nor diff shows them, nor the rule. Some tools write such a file into the directory of their cache. As latin1.
 */
export const ignoredUnseen = async (git: GitAt<GitWorktree>): Promise<string[]> => {
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory'];
  const ignored = await git.names(args, { max_bytes: MOST_LISTED });
  if (ignored.length === 0) return [];
  // Four names for each: the file with the rule, its line, the pattern, and the path as asked.
  const told = await git.names(['check-ignore', '--verbose', '-z', '--stdin'], asking(ignored));
  const names = new Set(ignored.map(withoutSlash));
  const isWithin = (path: string, among: ReadonlySet<string>): boolean =>
    parentsOf(path).some((parent) => among.has(parent));
  const unseen: string[] = [];
  await inSlices(told.keys(), (at) => {
    const rules = told[at] ?? '';
    if (at % 4 === 0 && (names.has(rules) || isWithin(rules, names)))
      unseen.push((told[at + 3] ?? '').slice('./'.length));
  });
  const all = new Set(unseen.map(withoutSlash));
  return unseen.filter((path) => !isWithin(withoutSlash(path), all));
};

const withoutSlash = (path: string): string => path.replace(/\/$/, '');

/** The paths that git ignores; undefined if git refuses to tell, for example for a path in a submodule. */
export const ignoredPaths = async (
  git: GitAt<GitWorktree>,
  paths: readonly string[],
): Promise<ReadonlySet<string> | undefined> => {
  const names = paths.map(latin1);
  const ignored = await ignoredNames(git, names).catch((error: unknown) => {
    if (isRefusal(error)) return undefined;
    throw error;
  });
  return ignored && new Set(paths.filter((_, at) => ignored.has(names[at] ?? '')));
};
