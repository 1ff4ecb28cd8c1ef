import {
  occupancyOf,
  readStanding,
  type WantedFile,
  type WorkspaceStanding,
} from '../../../store/archive/occupancy.ts';
import {
  checkSpace,
  dropStaging,
  moveIn,
  openStaging,
  type StagedFile,
  type Staging,
  stageFiles,
} from '../../../store/archive/staging.ts';
import { clearLeftovers } from '../../../store/fs/directories.ts';
import { type Layout, layoutOf } from '../../../store/layout.ts';
import { holdWorkspace } from '../../../store/workspace/hold.ts';
import { arrivalsOf } from './arrivals.ts';
import { type ImportConflict, importPlan, type Plan } from './plan.ts';

export interface ImportOptions {
  /** Absolute. */
  workspace: string;
  /** Says what would be done, and writes nothing. */
  dryRun: boolean;
  /** What is here with other content stays, and the rest comes in; without it such an import is refused. */
  keepExisting: boolean;
  /** Ends it, with the signal's reason, as long as nothing came in. */
  signal?: AbortSignal;
}

export type CargoFile = StagedFile & WantedFile;

/** What is to come in. */
export interface Cargo<F extends CargoFile> {
  files: readonly F[];
  /** Throws where they are not what they should be. */
  bytesOf: (file: F) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** The ids of the Work items by their directories; complete once all bytes were read. */
  ids: ReadonlyMap<string, string>;
}

export interface BroughtIn {
  plan: Plan;
  /** False: nothing was written, be it for the conflicts or because it was only tried. */
  isDone: boolean;
}

/**
 * Brings files into a workspace that no other process has. Every byte has been read and every conflict is known before
 * the first is written outside of the staging, which is removed in any case. Throws WorkspaceHeldError.
 */
export const bringInFiles = async <F extends CargoFile>(
  load: (standing: WorkspaceStanding, layout: Layout) => Cargo<F>,
  { workspace, dryRun, keepExisting, signal }: ImportOptions,
): Promise<BroughtIn> => {
  if (dryRun) return { plan: await tryOut(layoutOf(workspace), load), isDone: false };
  const held = await holdWorkspace(workspace);
  const { layout } = held;
  clearLeftovers(layout);
  const staging = openStaging(layout);
  try {
    const standing = readStanding(layout);
    const cargo = load(standing, layout);
    await stage(staging, cargo, signal);
    const plan = await importPlan({ layout, standing }, arrivalsOf(cargo.files, cargo.ids));
    if (isRefused(plan.conflicts, keepExisting)) return { plan, isDone: false };
    signal?.throwIfAborted();
    await moveIn(held, staging, {
      directories: plan.items.map(({ dir }) => dir),
      files: plan.singles.map(({ path }) => path),
      replacing: plan.replacing.map(({ path }) => path),
    });
    return { plan, isDone: true };
  } finally {
    dropStaging(staging);
    await held.release();
  }
};

// What stands in its place already is read all the same, for it has to be what it should be; it is not written.
const stage = async <F extends CargoFile>(
  staging: Staging,
  { files, bytesOf }: Cargo<F>,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const wanted: F[] = [];
  for (const file of files) {
    signal?.throwIfAborted();
    if ((await occupancyOf(staging.layout, file)) === 'same') await drain(bytesOf(file));
    else wanted.push(file);
  }
  checkSpace(staging, wanted);
  await stageFiles(staging, wanted, (file) => {
    signal?.throwIfAborted();
    return bytesOf(file);
  });
};

const drain = async (bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> => {
  for await (const _ of bytes);
};

const tryOut = async <F extends CargoFile>(
  layout: Layout,
  load: (standing: WorkspaceStanding, layout: Layout) => Cargo<F>,
): Promise<Plan> => {
  const standing = readStanding(layout);
  const { files, bytesOf, ids } = load(standing, layout);
  for (const file of files) await drain(bytesOf(file));
  return importPlan({ layout, standing }, arrivalsOf(files, ids));
};

/** Whether conflicts keep an import from being done at all. */
export const isRefused = (conflicts: readonly ImportConflict[], keepExisting: boolean): boolean =>
  conflicts.some(({ isFault }) => isFault || !keepExisting);
