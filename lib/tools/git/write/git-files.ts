import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blobOf } from '../read/working-files.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { plainText } from '../run/plain-file.ts';

/** The small files of a worktree that git keeps beside HEAD and the index, by name, as objects. */
export type GitFiles = Record<string, string>;

// A message begun or prepared is a person's work, and what git writes over with the next one.
const MESSAGES = ['MERGE_MSG', 'SQUASH_MSG', 'COMMIT_EDITMSG'];
const MADE_BY_REBASE = ['REBASE_HEAD', 'AUTO_MERGE', 'MERGE_MSG'];
const NAMES = [...new Set([...MESSAGES, ...MADE_BY_REBASE, 'ORIG_HEAD'])];

/** What those say that are there, by name. */
export const gitFilesIn = ({ git_dir }: GitWorktree): [name: string, content: Buffer][] =>
  NAMES.flatMap((name) => {
    const text = plainText(join(git_dir, name), MOST_BYTES);
    return text === undefined ? [] : [[name, Buffer.from(text, 'latin1')]];
  });

const MOST_BYTES = 64 * 1024 * 1024;

/** Puts them back, and takes away those that were not there; of an older snapshot, that has none, what a rebase leaves. */
export const putGitFiles = async (
  git: GitAt<GitWorktree>,
  kept: GitFiles | undefined,
): Promise<void> => {
  const gone = kept === undefined ? MADE_BY_REBASE : NAMES.filter((name) => !(name in kept));
  for (const name of gone) await rm(join(git.place.git_dir, name), { force: true });
  await write(git, kept, NAMES);
};

/** Puts back the message that was prepared for the next commit, where there was one. */
export const putMessage = (git: GitAt<GitWorktree>, kept?: GitFiles): Promise<void> =>
  write(git, kept, ['MERGE_MSG', 'SQUASH_MSG']);

const write = async (
  git: GitAt<GitWorktree>,
  kept: GitFiles = {},
  names: readonly string[],
): Promise<void> => {
  for (const name of names) {
    const oid = kept[name];
    if (oid === undefined) continue;
    await writeFile(join(git.place.git_dir, name), await blobOf(git, oid));
  }
};
