import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../../store/base/sha256.ts';
import { unlinkIfThere } from '../../../store/fs/remove.ts';
import type { GitWorktree } from '../../tools/git/run/git.ts';
import { plainText } from '../../tools/git/run/plain-file.ts';

// The state of operations that end in one commit. The state of a rebase is left out: git runs commands listed in it.
const HEADS = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'];
const WORDS = ['MERGE_MSG', 'MERGE_MODE', 'SQUASH_MSG'];

const MOST_BYTES = 1_048_576;

/** The commits named by a merge in progress in the turn's repository. */
export const readMergeHeads = (dir: string): string[] =>
  HEADS.flatMap((name) => commitsIn(dir, name) ?? []);

const commitsIn = (dir: string, name: string): string[] | undefined => {
  const text = plainText(join(dir, name), MOST_BYTES);
  if (text === undefined || !/^(?:[0-9a-f]{40,64}\n)+$/.test(text)) return undefined;
  return text.split('\n').slice(0, -1);
};

/** SHA-256 of each state file of a merge in progress, by name. */
export const mergeStateHashes = (git_dir: string): Record<string, string> =>
  Object.fromEntries(
    [...HEADS, ...WORDS].flatMap((name) => {
      const text = plainText(join(git_dir, name), MOST_BYTES);
      return text === undefined ? [] : [[name, sha256(Buffer.from(text, 'latin1'))]];
    }),
  );

/**
 * Continues in the worktree a merge, cherry-pick or revert that the turn began, and ends one that the turn ended. A file
 * that changed in the worktree meanwhile is left as it is.
 */
export const importMergeState = (
  { git_dir }: GitWorktree,
  { dir, operation }: { dir: string; operation: Readonly<Record<string, string>> },
  there: ReadonlyMap<string, string>,
): void => {
  const [now, left] = [mergeStateHashes(git_dir), mergeStateHashes(dir)];
  for (const name of [...HEADS, ...WORDS]) {
    if (now[name] !== operation[name] || left[name] === now[name]) continue;
    if (left[name] === undefined) unlinkIfThere(join(git_dir, name));
    else if (isWhole(dir, name, there))
      put(git_dir, name, plainText(join(dir, name), MOST_BYTES) ?? '');
  }
};

const isWhole = (dir: string, name: string, there: ReadonlyMap<string, string>): boolean =>
  !HEADS.includes(name) ||
  commitsIn(dir, name)?.every((oid) => there.get(oid) === 'commit') === true;

const put = (git_dir: string, name: string, text: string): void => {
  const temporary = join(git_dir, `${name}.dossier`);
  writeFileSync(temporary, text, 'latin1');
  renameSync(temporary, join(git_dir, name));
};
