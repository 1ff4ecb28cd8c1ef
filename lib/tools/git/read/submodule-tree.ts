import { randomUUID } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { orElse } from '../../../../store/base/attempt.ts';
import { sha256 } from '../../../../store/base/sha256.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { nulls, onIndexCopy } from '../run/index-copy.ts';
import { latin1 } from '../run/path-text.ts';
import { idOnDisk } from './blobs.ts';
import { stagedIndex } from './index-stages.ts';
import { headCommit } from './repository.ts';
import { lookingAtAll, readStatus } from './status.ts';
import { filesBelow, findSubmodules, type Submodule } from './submodules.ts';

/**
 * A tree of the worktree with its submodules as they are on disk. One that differs from the index has the commit that is
 * checked out, or, with uncommitted changes, a hash of them in place of a commit. The same tree if none differs.
 */
export const withSubmodules = async (git: GitAt<GitWorktree>, tree: string): Promise<string> => {
  const found = await submodulesNow(git);
  const changed = found.filter(({ commit, now }) => now !== commit);
  if (changed.length === 0) return tree;
  const input = nulls(changed.map(lineOf));
  const { said } = await stagedIndex(git);
  return onIndexCopy(git, said.stages, async (copy) => {
    await copy.run(['read-tree', tree]);
    await copy.run(['update-index', '-z', '--index-info'], { input });
    return copy.text(['write-tree', '--missing-ok']);
  });
};

interface SubmoduleNow extends Submodule {
  /** The id of its content; undefined if its directory was removed. */
  now: string | undefined;
}

const lineOf = ({ name, now, commit }: SubmoduleNow): string =>
  now === undefined ? `0 ${'0'.repeat(commit.length)}\t${name}` : `160000 ${now}\t${name}`;

const submodulesNow = async (git: GitAt<GitWorktree>): Promise<SubmoduleNow[]> => {
  const all: SubmoduleNow[] = [];
  for (const found of await findSubmodules(git)) {
    // Work that cannot be read is never the same work.
    const now = await idOf(git, found).catch(() => hashed([randomUUID()], found.commit));
    all.push({ ...found, now });
  }
  return all;
};

const idOf = async (
  { at }: GitAt,
  { place, root, commit }: Submodule,
): Promise<string | undefined> => {
  if (place === undefined) {
    const names = (await filesBelow(root)).map(latin1);
    if (names.length > 0) return hashed(await contentsOf(root, names, commit), commit);
    return orElse(() => lstatSync(root), undefined, 'ENOENT', 'ENOTDIR') && commit;
  }
  const git = at(place);
  const head = (await headCommit(git)) ?? '';
  const names = await changedFiles(git);
  const deeper = (await submodulesNow(git)).filter((each) => each.now !== each.commit);
  if (head !== '' && names.length + deeper.length === 0) return head;
  const contents = await contentsOf(root, names, commit);
  return hashed([head, ...contents, ...deeper.map(lineOf)], commit);
};

// Submodules in it are read on their own.
const changedFiles = async (git: GitAt<GitWorktree>): Promise<string[]> => {
  const { files } = await lookingAtAll(git, readStatus);
  return files.filter(({ repository }) => !repository).map(({ path }) => path);
};

const contentsOf = async (
  path: string,
  names: readonly string[],
  { length }: string,
): Promise<string[]> => {
  const lines: string[] = [];
  for (const name of names.toSorted())
    lines.push(`${name} ${(await idOnDisk({ path }, name, length)) ?? 'none'}`);
  return lines;
};

const hashed = (lines: readonly string[], { length }: string): string =>
  sha256(JSON.stringify(lines)).slice(0, length);
