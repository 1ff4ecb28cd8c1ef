import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { hasCode, isDiskFault } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { noteTakenBack, recordChange, recordIfUncertain } from '../base/write-stage.ts';
import type { Layout } from '../layout.ts';
import { beside, syncIfThere } from './durable.ts';
import { assertNoLinks, isDirectoryItself, NOT_A_DIRECTORY, statsAt } from './plain-path.ts';
import { removeTreeSync } from './remove.ts';
import { finalSync, makeSyncedDirectory } from './synced.ts';

/** Creates the directories that every workspace has. Throws `unsafe_path`, and creates none, if one of them is a link. */
export const makeDirectories = (layout: Layout): void => {
  for (const path of [layout.cases, ...privateOf(layout)]) refuseOther(layout, path);
  for (const path of privateOf(layout)) refuseLinks(layout, path);
  makePlainDirectory(layout, layout.cases, 0o777);
  for (const path of privateOf(layout)) makePlainDirectory(layout, path, 0o700);
};

/** The directories of `.dossier/` that the daemon creates, and which may contain no link. */
export const privateOf = (layout: Layout): string[] => [
  layout.dossier,
  layout.tmp,
  layout.trash,
  layout.undo,
  layout.secrets,
  layout.apiKeys,
  layout.deliveries,
  layout.arrivals,
  layout.answers,
  layout.worktrees,
  layout.baselines,
  layout.told,
  layout.patches,
  layout.repositories,
  layout.journal,
];

/**
 * Creates the directories of `.dossier/` that were removed while the daemon runs; true if any were. Throws `read_only` if
 * the workspace itself is gone: it may have been moved, so it is not created again.
 */
export const remakeDirectories = (layout: Layout): boolean => {
  const away = whyAway(layout.root);
  if (away !== undefined) throw new StoreError('read_only', `${away}. Nothing was written`);
  if (areThere(layout)) return false;
  makeDirectories(layout);
  return true;
};

// Runs before every write, so it reads one directory only.
const areThere = (layout: Layout): boolean => {
  const { dossier } = layout;
  if (!isDirectoryItself(dossier)) return false;
  const entries = readdirSync(dossier, { withFileTypes: true });
  const found = new Set(entries.filter((entry) => entry.isDirectory()).map(({ name }) => name));
  return privateOf(layout).every((path) => path === dossier || found.has(basename(path)));
};

/** Why a workspace cannot be found, without a full stop; undefined if its directory is there. */
export const whyAway = (root: string): string | undefined =>
  isDirectoryItself(root)
    ? undefined
    : `The workspace directory ${root} does not exist. Put it back, and the daemon locks it again at once`;

const makePlainDirectory = (layout: Layout, path: string, mode: number): void => {
  if (statsAt(path) === undefined) makeSyncedDirectory(path, mode, layout.root);
  refuseOther(layout, path);
};

const refuseOther = ({ root }: Layout, path: string): void => {
  if (statsAt(path) === undefined || isDirectoryItself(path)) return;
  throw new StoreError('unsafe_path', `${relative(root, path)} ${NOT_A_DIRECTORY}`);
};

// A workspace from an untrusted source could use links here to overwrite or empty files elsewhere.
const refuseLinks = ({ root, dossier }: Layout, dir: string): void => {
  if (!isDirectoryItself(dir)) return;
  const link = readdirSync(dir, { withFileTypes: true }).find((entry) => entry.isSymbolicLink());
  if (link === undefined) return;
  throw new StoreError(
    'unsafe_path',
    `${relative(root, join(dir, link.name))} is a symbolic link, which ${relative(root, dossier)}/ may not contain. Remove it`,
  );
};

/**
 * Removes temporary files and trash of an earlier process, and reports what cannot be removed. Requires the workspace lock.
 */
export const clearLeftovers = (
  { root, tmp, trash }: Layout,
  report: (error: unknown, what: string) => void = () => undefined,
): void => {
  for (const path of [tmp, trash].filter(isDirectoryItself))
    for (const name of readdirSync(path))
      try {
        removeTreeSync(join(path, name));
      } catch (error) {
        report(error, `removing ${relative(root, join(path, name))}`);
      }
};

/**
 * Removes a directory by one rename into the trash, so that it is never half removed, and returns its path there.
 * `isMeant` runs before the rename and again after it, when no other process can reach the directory; if it returns
 * false, the directory stays or is put back, and the result is undefined.
 */
export const removeDirectory = async (
  layout: Layout,
  target: string,
  isMeant: (taken: string) => boolean = () => true,
): Promise<string | undefined> => {
  assertNoLinks(layout.root, dirname(target));
  if (!isMeant(target)) return undefined;
  // A new name, because the directory's own may already have the greatest length.
  const trash = recordIfUncertain(target, () => takeAway(target, join(layout.trash, randomUUID())));
  const wasMade = recordChange(target) === 'again';
  let isTaken = false;
  try {
    isTaken = isMeant(trash);
  } finally {
    if (!isTaken) putBack(trash, target);
  }
  await finalSync(syncIfThere(dirname(target)));
  if (wasMade || !isTaken) noteTakenBack(target);
  return isTaken ? trash : undefined;
};

const takeAway = (target: string, trash: string): string => {
  try {
    renameSync(target, trash);
    return trash;
  } catch (error) {
    // A disk may report an error after the change.
    if (isDiskFault(error) && isDirectoryItself(trash) && statsAt(target) === undefined)
      return trash;
    if (!hasCode(error, 'EXDEV')) throw error;
  }
  const hidden = beside(target);
  renameSync(target, hidden);
  return hidden;
};

// If another directory was created meanwhile, this one gets a name beside it.
const putBack = (taken: string, target: string): void => {
  try {
    renameSync(taken, target);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) throw error;
    renameSync(taken, `${target}-${randomUUID().slice(0, 8)}`);
  }
};

/** Runs work in an empty private directory, which is removed afterwards. */
export const inScratch = async <T>(
  { tmp }: Layout,
  work: (dir: string) => Promise<T>,
): Promise<T> => {
  const dir = join(tmp, randomUUID());
  mkdirSync(dir, { mode: 0o700 });
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

/** Like `inScratch`, with files of these names and texts in the directory. */
export const withScratchFiles = <T>(
  layout: Layout,
  texts: Readonly<Record<string, string>>,
  work: (dir: string) => Promise<T>,
): Promise<T> =>
  inScratch(layout, (dir) => {
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(dir, name), text);
    return work(dir);
  });
