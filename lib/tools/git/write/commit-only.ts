import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { plainRef } from '../read/plain-refs.ts';
import { type RawChange, rawChanges } from '../read/raw-diff.ts';
import { headCommit } from '../read/repository.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { FROM_INPUT } from '../run/index-copy.ts';
import { type Changed, identity } from './commit.ts';

interface OwnCommit {
  changed: readonly Changed[];
  message: string;
  /** A directory of this machine for the temporary index. */
  scratch: string;
}

/**
 * Commits these files as they are, new and removed ones too, and nothing else, with a temporary index: each is read once. In
 * the operator's index, entries that equal the last commit move to the new one; staged changes stay, also of files that are
 * committed here. Runs no hook and signs nothing.
 */
export const commitOnly = async (
  git: GitAt<GitWorktree>,
  { changed, message, scratch }: OwnCommit,
): Promise<void> => {
  const before = await headCommit(git);
  const tree = await treeOf(git, { before, changed, scratch });
  if (before !== undefined && tree === (await idOf(git, `${before}^{tree}`))) return;
  const env = await identity(git);
  const parents = before === undefined ? [] : ['-p', before];
  const input = `${message}\n`;
  const commit = textOf(await git.run(['commit-tree', tree, ...parents], { env, input }));
  const nothing = '0'.repeat(commit.length);
  const moves = `update HEAD ${commit} ${before ?? nothing}\nupdate ${MARK} ${commit}\n`;
  await git.run(['update-ref', '-m', `commit: ${message}`, '--stdin'], { env, input: moves });
  await removeIntentToAdd(git, changed);
  const standing = changed.filter(({ change }) => change !== 'removed').map(({ path }) => path);
  await alignIndex(git, { commit, parent: before, scratch }, standing);
};

/** Marks a commit that the operator's index does not have yet, so that the next start can finish it after a crash. */
const MARK = 'refs/dossier/unaligned';

/** Aligns the operator's index after a daemon ended between commit and alignment. */
export const finishCommit = async (git: GitAt<GitWorktree>, scratch: string): Promise<void> => {
  const plain = plainRef(git.place, MARK);
  const commit = plain === undefined ? await idOf(git, MARK) : plain;
  if (commit === null || commit === undefined) return;
  if (commit !== (await headCommit(git))) {
    await git.run(['update-ref', '-d', MARK]);
    return;
  }
  await alignIndex(git, { commit, parent: await idOf(git, `${commit}^`), scratch });
};

/** Writes the tree that `work` builds in an empty temporary index. */
const treeOn = async (
  git: GitAt<GitWorktree>,
  scratch: string,
  work: (git: GitAt<GitWorktree>) => Promise<unknown>,
): Promise<string> => {
  const index = join(scratch, `index-${randomUUID()}`);
  const own = git.with({ env: { GIT_INDEX_FILE: index } });
  try {
    await work(own);
    return textOf(await own.run(['write-tree']));
  } finally {
    await Promise.all([index, `${index}.lock`].map((path) => rm(path, { force: true })));
  }
};

const treeOf = (
  git: GitAt<GitWorktree>,
  { before, changed, scratch }: Omit<OwnCommit, 'message'> & { before: string | undefined },
): Promise<string> =>
  treeOn(git, scratch, async (own) => {
    if (before !== undefined) await own.run(['read-tree', before]);
    const input = listed(changed.map(({ path }) => path));
    await own.run(['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], { input });
  });

// An intent-to-add entry (git add -N) would count as a staged change against the commit.
const removeIntentToAdd = async (
  git: GitAt<GitWorktree>,
  changed: readonly Changed[],
): Promise<void> => {
  const paths = changed.filter(({ named }) => named === true).map(({ path }) => path);
  if (paths.length === 0) return;
  const args = ['update-index', '--force-remove', '-z', '--stdin'];
  await git.run(args, { input: listed(paths) });
};

interface Made {
  commit: string;
  parent: string | undefined;
  scratch: string;
}

/**
 * Moves the operator's index from a commit's parent to the commit. git moves all entries or none, so if one has a staged
 * change, the entries are moved one by one. `known`: the files that the commit added or changed; without it git lists them.
 */
const alignIndex = async (
  git: GitAt<GitWorktree>,
  made: Made,
  known?: readonly string[],
): Promise<void> => {
  const { commit, parent } = made;
  const isWhole = await move(git, parent ?? (await treeWith(git, made, [])), commit);
  const changes = isWhole && known !== undefined ? [] : await changesOf(git, commit);
  if (!isWhole) await alignEach(git, made, changes);
  const standing = known ?? changes.flatMap(({ path, is }) => (is.length === 0 ? [] : [path]));
  // Refreshes times and sizes in the index; git would read each file again otherwise.
  if (standing.length > 0)
    await git.run(['add', '--refresh', ...FROM_INPUT], {
      input: listed(standing),
      ok: [0, 1, 128],
    });
  await git.run(['update-ref', '-d', MARK]);
};

const alignEach = async (
  git: GitAt<GitWorktree>,
  made: Made,
  changes: readonly Change[],
): Promise<void> => {
  for (const { was, is } of changes) {
    const before = await treeWith(git, made, was);
    const after = await treeWith(git, made, is);
    await move(git, before, after);
  }
};

// Entries that do not differ between the trees, or already equal the new one, stay.
const move = async (git: GitAt<GitWorktree>, before: string, after: string): Promise<boolean> =>
  (await git.run(['read-tree', '-m', '-i', before, after], { ok: [0, 128] })).code === 0;

const treeWith = (
  git: GitAt<GitWorktree>,
  { scratch }: Made,
  lines: readonly string[],
): Promise<string> =>
  treeOn(git, scratch, (own) =>
    own.run(['update-index', '-z', '--index-info'], { input: listed(lines) }),
  );

/** The index lines of a file before and after a commit; empty where the file does not exist. */
interface Change {
  path: string;
  was: string[];
  is: string[];
}

const changesOf = async (git: GitAt<GitWorktree>, commit: string): Promise<Change[]> => {
  const args = ['diff-tree', '--root', '--no-commit-id', '--no-renames', '-r', '-z', commit, '--'];
  return rawChanges((await git.text(args)).split('\0')).map(({ path, before, now }) => {
    const line = ({ mode, oid }: RawChange['now']): string[] =>
      Number(mode) === 0 ? [] : [`${mode} ${oid}\t${path}`];
    return { path, was: line(before), is: line(now) };
  });
};

const textOf = ({ stdout }: { stdout: Buffer }): string => stdout.toString('utf8').trimEnd();

const idOf = (git: GitAt, name: string): Promise<string | undefined> =>
  git.find(['rev-parse', '--verify', '--quiet', name], { ok: [0, 1] });

const listed = (lines: readonly string[]): string => lines.map((line) => `${line}\0`).join('');
