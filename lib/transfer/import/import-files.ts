import { basename, dirname } from 'node:path';
import type { Archive } from '../../../store/archive/archive.ts';
import {
  idIn,
  occupancyOf,
  readStanding,
  type WantedFile,
  type WorkspaceStanding,
} from '../../../store/archive/occupancy.ts';
import {
  contentOf,
  readManifest,
  tapBytes,
  type VerifiedEntry,
} from '../../../store/archive/read-manifest.ts';
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
import { CASE_FILE, type Layout, layoutOf } from '../../../store/layout.ts';
import { holdWorkspace } from '../../../store/workspace/hold.ts';
import { groupByCase, type ImportConflict, importPlan, type Plan } from './import-plan.ts';

export interface ImportOptions {
  /** Absolute. */
  workspace: string;
  /** Only plans the import, and writes nothing. */
  dryRun: boolean;
  /** Keeps existing files that differ and imports the rest; otherwise such an import is refused. */
  keepExisting: boolean;
  /** Stops the import with the signal's reason, as long as nothing was imported. */
  signal?: AbortSignal;
}

export type ImportInputFile = StagedFile & WantedFile;

/** The files to import. */
export interface ImportInput<F extends ImportInputFile> {
  files: readonly F[];
  /** Throws if the bytes do not match the file's size and hash. */
  bytesOf: (file: F) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** The ids of Work items by directory; complete once all bytes were read. */
  ids: ReadonlyMap<string, string>;
}

export interface ImportOutcome {
  plan: Plan;
  /** False if nothing was written, because of conflicts or a dry run. */
  isDone: boolean;
}

/**
 * Imports files into a workspace under its lock. All bytes are verified and all conflicts are known before anything is moved
 * out of the staging directory, which is removed in any case. Throws WorkspaceHeldError.
 */
export const importFiles = async <F extends ImportInputFile>(
  load: (standing: WorkspaceStanding, layout: Layout) => ImportInput<F>,
  { workspace, dryRun, keepExisting, signal }: ImportOptions,
): Promise<ImportOutcome> => {
  if (dryRun) return { plan: await planOnly(layoutOf(workspace), load), isDone: false };
  const held = await holdWorkspace(workspace);
  const { layout } = held;
  clearLeftovers(layout);
  const staging = openStaging(layout);
  try {
    const standing = readStanding(layout);
    const cargo = load(standing, layout);
    await stage(staging, cargo, signal);
    const plan = await importPlan({ layout, standing }, groupByCase(cargo.files, cargo.ids));
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

// Files that exist with the same content are verified too, but not staged.
const stage = async <F extends ImportInputFile>(
  staging: Staging,
  { files, bytesOf }: ImportInput<F>,
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

const planOnly = async <F extends ImportInputFile>(
  layout: Layout,
  load: (standing: WorkspaceStanding, layout: Layout) => ImportInput<F>,
): Promise<Plan> => {
  const standing = readStanding(layout);
  const { files, bytesOf, ids } = load(standing, layout);
  for (const file of files) await drain(bytesOf(file));
  return importPlan({ layout, standing }, groupByCase(files, ids));
};

/** Whether conflicts refuse the whole import. */
export const isRefused = (conflicts: readonly ImportConflict[], keepExisting: boolean): boolean =>
  conflicts.some(({ isFault }) => isFault || !keepExisting);

/** Imports an export into a workspace. Throws ArchiveError if a byte of it does not match its manifest. */
export const importArchive = async (
  archive: Archive,
  options: ImportOptions,
): Promise<ImportOutcome> => {
  const files = await readManifest(archive);
  const ids = new Map<string, string>();
  const bytesOf = (file: VerifiedEntry) => verified(archive, file, ids);
  return importFiles(() => ({ files, bytesOf, ids }), options);
};

// The bytes of a file. Notes the id of a Work item while its case.md is read.
const verified = (
  archive: Archive,
  file: VerifiedEntry,
  ids: Map<string, string>,
): AsyncIterable<Uint8Array> => {
  const bytes = contentOf(archive, file);
  if (basename(file.path) !== CASE_FILE) return bytes;
  return tapBytes(bytes, (all) => {
    const id = idIn(all);
    if (id !== undefined) ids.set(dirname(file.path), id);
  });
};
