import { lstatSync, mkdirSync, readdirSync, utimesSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { orElse } from '../../../store/base/attempt.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import type { WithConfig } from '../../config.ts';
import { removeTree } from '../../tools/process/directory-tree.ts';
import { cleanEnvironment } from '../../tools/process/environment.ts';

const UNUSED_MS = 30 * 24 * 3_600_000;

/**
 * The directory that agents in Work mode have as `~/.cache`, one for each repository: what one of them leaves there reaches no
 * other repository, no setup and no check. Without it, if it cannot be created, their cache is private and empty.
 */
export const projectCache = (
  { layout }: Store,
  { common_dir }: Pick<WorktreeRecord, 'common_dir'>,
): { cache?: string } => {
  const repository = basename(common_dir) === '.git' ? dirname(common_dir) : common_dir;
  const name = `${basename(repository)}-${sha256(common_dir).slice(0, 12)}`;
  const path = join(layout.caches, name);
  return orElse(() => {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    // A link could lead the agent's writes elsewhere.
    if (![layout.caches, path].every((each) => lstatSync(each).isDirectory())) return {};
    utimesSync(path, new Date(), new Date());
    return { cache: path };
  }, {});
};

/** Removes caches that no agent was given for 30 days. */
export const removeUnusedCaches = async ({
  store: { layout, clock },
  config,
}: WithConfig & WithStore): Promise<void> => {
  const all = orElse(() => readdirSync(layout.caches), []).map((name) => join(layout.caches, name));
  for (const path of all) {
    const used = orElse(() => lstatSync(path).mtimeMs, Number.POSITIVE_INFINITY);
    if (clock().getTime() - used > UNUSED_MS)
      await removeTree(path, { env: cleanEnvironment(config.env) });
  }
};
