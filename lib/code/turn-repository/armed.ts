import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type ConfigEntry, configText, entriesIn } from '../../tools/git/run/config.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { entriesOf, plainText } from '../../tools/git/run/plain-file.ts';

/** By what a git directory can have programs run, as it was. Plain data. */
export interface Arms {
  config: string;
  /** SHA-256 of its hooks; null where it has none. */
  hooks: string | null;
}

const MOST_BYTES = 1_048_576;

export const armsOf = (dir: string): Arms => ({
  config: plainText(join(dir, 'config'), MOST_BYTES) ?? '',
  hooks: hooksIn(dir),
});

const hooksIn = (dir: string): string | null => {
  const names = entriesOf(join(dir, 'hooks')).map(({ name }) => name);
  const hooks = names.filter((name) => !name.endsWith('.sample')).toSorted();
  if (hooks.length === 0) return null;
  const hash = createHash('sha256');
  for (const name of hooks)
    hash.update(`${name}\0${plainText(join(dir, 'hooks', name), MOST_BYTES) ?? ''}\0`);
  return hash.digest('hex');
};

interface Suspect {
  dir: string;
  name: string;
  before: Arms | undefined;
  /** Where what is taken out of it goes. */
  aside: string;
}

/**
 * Takes out of a git directory what a turn put there that makes git run a program, or look elsewhere: new hooks, and
 * settings but for those that name no program. True when there was something.
 */
export const mend = async (git: GitAt<GitWorktree>, suspect: Suspect): Promise<boolean> => {
  const { dir, name, before, aside } = suspect;
  const now = armsOf(dir);
  const isPlain = plainText(join(dir, 'config'), MOST_BYTES) !== undefined;
  const safe = now.config === before?.config ? now.config : await safeSettings(git, suspect);
  const odd = ['commondir', 'config.worktree', 'hooks'].filter((each) => {
    const found = lstatSync(join(dir, each), { throwIfNoEntry: false });
    if (found === undefined) return false;
    return each !== 'hooks' || !found.isDirectory() || now.hooks !== (before?.hooks ?? null);
  });
  for (const each of odd)
    await takeOut(join(dir, each), freeName(join(aside, `${name.replaceAll('/', '-')}.${each}`)));
  // A link, a pipe, or more than is read: git would read it all the same.
  if (safe === now.config && isPlain) return odd.length > 0;
  await takeOut(join(dir, 'config'), freeName(join(aside, `${name.replaceAll('/', '-')}.config`)));
  writeFileSync(join(dir, 'config'), safe, { encoding: 'latin1', flag: 'wx' });
  return true;
};

const takeOut = async (from: string, to: string): Promise<void> => {
  mkdirSync(dirname(to), { recursive: true });
  await cp(from, to, { recursive: true, verbatimSymlinks: true }).catch(() => undefined);
  await rm(from, { recursive: true, force: true });
};

/** The same name, or one with a number where something is there already. */
export const freeName = (path: string, number = 1): string => {
  const name = number === 1 ? path : `${path}-${number}`;
  return lstatSync(name, { throwIfNoEntry: false }) === undefined
    ? name
    : freeName(path, number + 1);
};

// What a clone of git's own says, and what was said before.
const safeSettings = async (
  git: GitAt<GitWorktree>,
  { dir, before, aside }: Suspect,
): Promise<string> => {
  const had = before?.config ?? '';
  const text = armsOf(dir).config;
  const now = await entriesAt(git, { text, aside });
  if (now === undefined) return had;
  const known = new Set((await entriesAt(git, { text: had, aside }))?.map(lineOf));
  const safe = now.filter((entry) => known.has(lineOf(entry)) || isSafe(git.place, dir, entry));
  return safe.length === now.length ? text : configText(safe);
};

const lineOf = ({ key, value }: ConfigEntry): string => `${key}\n${value}`;

const SAFE =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|symlinks|ignorecase|precomposeunicode|sparsecheckout|sparsecheckoutcone)|remote\..*\.(?:url|fetch|tagopt)|branch\..*\.(?:remote|merge|rebase)|submodule\..*\.(?:url|active)|user\.(?:name|email)|extensions\.objectformat)$/s;

// A URL may name a program, too, and the working files may be said to be somebody else's.
const isSafe = ({ path }: GitWorktree, dir: string, { key, value = '' }: ConfigEntry): boolean => {
  if (key === 'core.worktree') return `${resolve(dir, value)}/`.startsWith(`${path}/`);
  return SAFE.test(key) && !(key.endsWith('.url') && /^ext::|^-/.test(value));
};

const entriesAt = async (
  { at, place: { git_dir, common_dir } }: GitAt<GitWorktree>,
  { text, aside }: { text: string; aside: string },
): Promise<ConfigEntry[] | undefined> => {
  mkdirSync(aside, { recursive: true });
  const copy = freeName(join(aside, 'being-read'));
  try {
    writeFileSync(copy, text, { encoding: 'latin1', flag: 'wx' });
    const args = ['config', '--file', copy, '--no-includes', '--list', '-z'];
    const ok = [0, 1, 128];
    const { stdout, code } = await at({ git_dir, common_dir }).run(args, { read: true, ok });
    return code === 0 ? entriesIn(stdout.toString('latin1')) : undefined;
  } finally {
    rmSync(copy, { force: true });
  }
};
