import { readdirSync, rmSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { StoreError } from '../base/errors.ts';
import type { Layout } from '../layout.ts';
import { makeSyncedDirectory } from './make-directory.ts';
import { isDirectoryItself, statsAt } from './plain-path.ts';

/** Makes the directories that every workspace has; none of them where a link stands in place of one: `unsafe_path`. */
export const makeDirectories = (layout: Layout): void => {
  for (const path of [layout.cases, ...privateOf(layout)]) refuseOther(layout, path);
  for (const path of privateOf(layout)) refuseLinks(layout, path);
  makePlainDirectory(layout, layout.cases, 0o777);
  for (const path of privateOf(layout)) makePlainDirectory(layout, path, 0o700);
};

const privateOf = (layout: Layout): string[] => [
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
  layout.repositories,
  layout.journal,
];

/**
 * Makes again what somebody took away of `.dossier/` while the daemon runs; true when something was. Throws `read_only`
 * when the whole workspace is gone: it may be moved, and is not made anew elsewhere.
 */
export const remakeDirectories = (layout: Layout): boolean => {
  if (!isDirectoryItself(layout.root))
    throw new StoreError('read_only', `${awayFrom(layout.root)}. Nothing was written`);
  if (areThere(layout)) return false;
  makeDirectories(layout);
  return true;
};

// By one look into `.dossier/`: this is asked before every write.
const areThere = (layout: Layout): boolean => {
  const { dossier } = layout;
  if (!isDirectoryItself(dossier)) return false;
  const entries = readdirSync(dossier, { withFileTypes: true });
  const found = new Set(entries.filter((entry) => entry.isDirectory()).map(({ name }) => name));
  return privateOf(layout).every((path) => path === dossier || found.has(basename(path)));
};

export const awayFrom = (root: string): string =>
  `The workspace is away: there is no directory ${root}. Put it back, and it is held again at once`;

const makePlainDirectory = (layout: Layout, path: string, mode: number): void => {
  if (statsAt(path) === undefined) makeSyncedDirectory(path, mode, layout.root);
  refuseOther(layout, path);
};

const refuseOther = ({ root }: Layout, path: string): void => {
  if (statsAt(path) === undefined || isDirectoryItself(path)) return;
  throw new StoreError(
    'unsafe_path',
    `${relative(root, path)} has to be a directory, not a link or a file`,
  );
};

// Whoever made the workspace may have put links here, to have files elsewhere written or emptied.
const refuseLinks = ({ root, dossier }: Layout, dir: string): void => {
  if (!isDirectoryItself(dir)) return;
  const link = readdirSync(dir, { withFileTypes: true }).find((entry) => entry.isSymbolicLink());
  if (link === undefined) return;
  throw new StoreError(
    'unsafe_path',
    `${relative(root, join(dir, link.name))} is a symbolic link; ${relative(root, dossier)}/ may hold none. Remove it`,
  );
};

/** Removes what a former life left half made (temporary files) or half removed. Only for whoever holds the workspace. */
export const clearLeftovers = ({ tmp, trash }: Layout): void => {
  for (const path of [tmp, trash].filter(isDirectoryItself))
    for (const name of readdirSync(path))
      rmSync(join(path, name), { recursive: true, force: true });
};
