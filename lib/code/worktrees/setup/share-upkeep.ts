import type { ListedSnapshot } from '../../../../store/records/shared-snapshot.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import {
  leftoverSnapshotDirs,
  partialNames,
  type StoredSnapshot,
  sharedHome,
  sharedSnapshots,
  snapshotNames,
  withdrawSnapshot,
} from '../../../../store/worktrees/shared-snapshots.ts';
import { pathKind } from '../../../../store/worktrees/worktrees.ts';
import type { WithConfig } from '../../../config.ts';
import type { WithLog } from '../../../log.ts';
import type { WithSandbox } from '../../../sandbox/sandbox.ts';
import { removeTree } from '../../../tools/process/directory-tree.ts';
import { cleanEnvironment } from '../../../tools/process/environment.ts';
import type { Runs, WithRuns } from '../../../tools/process/runs.ts';
import { projectRepository } from '../../projects/project.ts';
import { removeUnusedCaches } from '../cache.ts';
import { worktreeConfig } from '../config.ts';
import { surplusOf } from './share-rules.ts';

type UpkeepNeeds = WithConfig & WithStore;

/** Why nothing can be shared now, as a clause; undefined if it can. Without a sandbox, any run could change a snapshot. */
export const shareObstacle = ({
  store,
  sandbox,
  runs,
}: WithRuns & WithSandbox & WithStore): string | undefined => {
  if (sandbox().kind === 'none')
    return 'the sandbox is not enforced, so runs could change the snapshot';
  if (hasUnsandboxed(runs))
    return 'a program without a sandbox is running, which could change the snapshot';
  return sharedHome(store.layout) === undefined ? 'there is no state directory' : undefined;
};

const hasUnsandboxed = ({ live }: Runs): boolean => [...live].some(({ sandboxed }) => !sandboxed);

/** Lists the snapshots, the most recently used first. */
export const listSnapshots = ({ layout }: Pick<Store, 'layout'>): ListedSnapshot[] =>
  sharedSnapshots(layout).map(({ snapshot: { repository: _, ...shown }, used_at }) => ({
    ...shown,
    used_at: used_at.toISOString(),
  }));

/** Removes all snapshots, also those that are being made. Worktrees keep their copies. */
export const clearSnapshots = (service: UpkeepNeeds): Promise<void> =>
  remove(service, [...snapshotNames(service.store.layout), ...partialNames(service.store.layout)]);

/** Removes snapshots beyond the bounds. */
export const removeSurplus = (service: UpkeepNeeds): Promise<void> =>
  remove(
    service,
    surplusOf(sharedSnapshots(service.store.layout)).map(({ key }) => key),
  );

/**
 * Removes snapshots that no new worktree can use: of projects that are gone, all of them once `share` is empty, and those with
 * a damaged record.
 */
export const sweepSnapshots = async (service: UpkeepNeeds): Promise<void> => {
  const { layout } = service.store;
  const isShared = worktreeConfig(service.store).share.length > 0;
  const useful = sharedSnapshots(layout).filter((one) => isShared && hasProject(service, one));
  const kept = new Set(useful.map(({ key }) => key));
  await remove(
    service,
    snapshotNames(layout).filter((key) => !kept.has(key)),
  );
};

const hasProject = (service: UpkeepNeeds, { snapshot }: StoredSnapshot): boolean =>
  projectRepository(service, snapshot.project) !== undefined &&
  pathKind(snapshot.repository) === 'directory';

/** Deletes partial snapshots, only at the start, because later some are being made; and caches that are not used any more. */
export const removeLeftoverCopies = async (service: UpkeepNeeds): Promise<void> => {
  const env = cleanEnvironment(service.config.env);
  for (const dir of leftoverSnapshotDirs(service.store.layout)) await removeTree(dir, { env });
  await removeUnusedCaches(service);
};

/** Removes all snapshots before a program without a sandbox starts, because it could change them. */
export const clearForUnsandboxedRuns = (service: UpkeepNeeds & WithLog, runs: Runs): void =>
  runs.follow(() => {
    if (!hasUnsandboxed(runs)) return;
    clearSnapshots(service).catch((error: unknown) =>
      service.log.error({ err: error }, 'deleting snapshots of shared directories failed'),
    );
  });

// Withdrawn at once and deleted later: a copy that is under way fails and is not used.
const remove = async ({ store, config }: UpkeepNeeds, names: readonly string[]): Promise<void> => {
  const dirs = names.flatMap((name) => withdrawSnapshot(store.layout, name) ?? []);
  const env = cleanEnvironment(config.env);
  for (const dir of dirs) await removeTree(dir, { env });
};
