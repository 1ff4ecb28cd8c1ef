import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blobOf } from '../read/working-files.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { plainText } from '../run/plain-file.ts';

/** Object ids of small files in the git directory, such as commit messages, by name. */
export type GitFiles = Record<string, string>;

// A prepared commit message is the operator's work, which git overwrites with the next one.
const MESSAGES = ['MERGE_MSG', 'SQUASH_MSG', 'COMMIT_EDITMSG'];
const MADE_BY_REBASE = ['REBASE_HEAD', 'AUTO_MERGE', 'MERGE_MSG'];
const NAMES = [...new Set([...MESSAGES, ...MADE_BY_REBASE, 'ORIG_HEAD'])];

/** The contents of those files that exist, by name. */
export const gitFilesIn = ({ git_dir }: GitWorktree): [name: string, content: Buffer][] =>
  NAMES.flatMap((name) => {
    const text = plainText(join(git_dir, name), MOST_BYTES);
    return text === undefined ? [] : [[name, Buffer.from(text, 'latin1')]];
  });

const MOST_BYTES = 64 * 1024 * 1024;

/** Restores the files and removes those that did not exist. Without `kept` (older snapshots), removes what a rebase leaves. */
export const putGitFiles = async (
  git: GitAt<GitWorktree>,
  kept: GitFiles | undefined,
): Promise<void> => {
  const gone = kept === undefined ? MADE_BY_REBASE : NAMES.filter((name) => !(name in kept));
  for (const name of gone) await rm(join(git.place.git_dir, name), { force: true });
  await write(git, kept, NAMES);
};

/** Restores the prepared message of the next commit, if there was one. */
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
