import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../base/errors.ts';
import { replaceFile } from '../fs/durable.ts';
import type { HeldWorkspace } from '../workspace/hold.ts';
import { moveDirectoryIn, moveFileIn, type Staging, syncPlaces } from './staging.ts';
import { defaultAt } from './standing.ts';

/** What of the staging comes into the workspace: by its paths there. */
export interface Arriving {
  /** Work items. */
  directories: readonly string[];
  files: readonly string[];
  /** Files whose place a new workspace's own file has. */
  replacing: readonly string[];
}

/**
 * Moves what is staged into the workspace, Work item by Work item, each whole or not at all. Cut off at any point, it can
 * be done again: what came in stands as it was staged. All of it is on disk when this resolves.
 */
export const moveIn = async (
  held: HeldWorkspace,
  staging: Staging,
  { directories, files, replacing }: Arriving,
): Promise<void> => {
  const moves = [
    ...directories.map((path) => [path, moveDirectoryIn] as const),
    ...files.map((path) => [path, moveFileIn] as const),
  ];
  for (const [path, move] of moves) {
    held.check();
    // Somebody can have put something there since it was looked at: an editor, or git.
    if (!move(staging, path)) throw changedMeanwhile(path);
  }
  for (const path of replacing) {
    held.check();
    await replace(staging, path);
  }
  await syncPlaces(staging.layout, [...directories, ...files]);
};

const replace = async ({ layout, dir }: Staging, path: string): Promise<void> => {
  const text = await defaultAt(layout, path);
  const bytes = readFileSync(join(dir, path));
  if (text === undefined) throw changedMeanwhile(path);
  if (!(await replaceFile(layout, join(layout.root, path), Buffer.from(text), bytes)))
    throw changedMeanwhile(path);
};

const changedMeanwhile = (path: string): StoreError =>
  new StoreError(
    'file_busy',
    `${path} was made or changed while the import ran, and was left as it is. Run the import again: what came in is skipped.`,
  );
