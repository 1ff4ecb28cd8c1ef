import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { readOurs, sealedText } from '../consent/seal.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { checkedBy, readRegularFile } from '../front-matter/record-file.ts';
import { createFile } from '../fs/durable.ts';
import { removeTree, unlinkIfThere } from '../fs/remove.ts';
import { syncDirectory, syncFile } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import { TurnRecord } from '../records/turn.ts';

/** The paths of the repository of a Work item's turn. */
export interface TurnPlaces {
  home: string;
  /** The repository itself. */
  dir: string;
  /** A file that points to the repository, like the `.git` of a worktree. */
  pointer: string;
  /** The mount point of the operator's repository inside a sandbox. */
  operator: string;
}

export const turnPlaces = ({ repositories }: Layout, caseId: string): TurnPlaces => {
  const home = join(repositories, caseId);
  return {
    home,
    dir: join(home, 'git'),
    pointer: join(home, 'pointer'),
    operator: join(home, 'operator'),
  };
};

/** The turn of a Work item whose work is not imported yet; there is at most one. Throws `unreadable_record`. */
export const readTurn = (layout: Layout, caseId: string): TurnRecord | undefined =>
  readOurs(layout, fileOf(layout, caseId), (value) => checkedBy(TurnRecord, value));

/** The ids of Work items with such a turn. */
export const turnOwners = ({ repositories }: Layout): string[] =>
  listDirectory(repositories).flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? []);

/** Removes files of turns that never began. */
export const removePartialTurns = ({ repositories }: Layout): void => {
  const names = new Set(listDirectory(repositories));
  for (const name of names)
    if (name.endsWith('.refs') && !names.has(name.replace(/refs$/, 'json')))
      unlinkIfThere(join(repositories, name));
};

/** Saves the record and the refs of a turn. The repository may be made once both are on disk, when the promise resolves. */
export const saveTurn = async (layout: Layout, turn: TurnRecord, refs: string): Promise<void> => {
  unlinkIfThere(refsOf(layout, turn.case_id));
  await createFile(layout, refsOf(layout, turn.case_id), Buffer.from(refs, 'latin1'), PRIVATE);
  const path = fileOf(layout, turn.case_id);
  await createFile(layout, path, sealedText(layout, path, turn), PRIVATE);
};

const PRIVATE = { mode: 0o600 };

/** The refs at the start of the turn. */
export const readTurnRefs = (layout: Layout, caseId: string): string =>
  readRegularFile(layout.root, refsOf(layout, caseId))?.toString('latin1') ?? '';

/** Removes a turn whose work is imported, or that never had a repository. */
export const removeTurn = async (layout: Layout, caseId: string): Promise<void> => {
  const { home } = turnPlaces(layout, caseId);
  if (existsSync(home)) {
    const trash = join(layout.trash, `turn-${caseId}-${Date.now()}`);
    renameSync(home, trash);
    // The next start tries again to remove what cannot be removed.
    await removeTree(trash).catch(() => undefined);
  }
  await forget(layout, caseId);
};

/** Moves the repository of a turn aside if part of its work could not be imported, and returns the path. */
export const keepTurn = async (layout: Layout, caseId: string, at: Date): Promise<string> => {
  const { home } = turnPlaces(layout, caseId);
  const kept = `${home}-${at.toISOString().replaceAll(':', '-')}`;
  if (existsSync(home)) renameSync(home, kept);
  await forget(layout, caseId);
  return kept;
};

const forget = async (layout: Layout, caseId: string): Promise<void> => {
  unlinkIfThere(fileOf(layout, caseId));
  unlinkIfThere(refsOf(layout, caseId));
  await syncDirectory(layout.repositories);
};

/** Moves a complete repository to its place by one rename. What an import reads, as the index, is on disk before. */
export const placeTurn = async (layout: Layout, caseId: string, made: string): Promise<void> => {
  const git = join(made, 'git');
  const files = readdirSync(git, { withFileTypes: true }).filter((entry) => entry.isFile());
  const names = [...files.map(({ name }) => name), 'objects/info/alternates'];
  await Promise.all(names.map((name) => syncFile(join(git, name))));
  renameSync(made, turnPlaces(layout, caseId).home);
  await syncDirectory(layout.repositories);
};

const fileOf = ({ repositories }: Layout, caseId: string): string =>
  join(repositories, `${caseId}.json`);

const refsOf = ({ repositories }: Layout, caseId: string): string =>
  join(repositories, `${caseId}.refs`);
