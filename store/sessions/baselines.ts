import { join } from 'node:path';
import { readOurs, saveOurs } from '../consent/seal.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { checkedBy, readRegularFile } from '../front-matter/record-file.ts';
import { createFile } from '../fs/durable.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import { syncDirectory } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import { Baseline } from '../records/baseline.ts';

/**
 * The baseline of a Work item's Plan turn that is not compared yet. There is at most one: a new turn compares it first.
 * Throws `unreadable_record`.
 */
export const readBaseline = (layout: Layout, caseId: string): Baseline | undefined =>
  readOurs(layout, fileOf(layout, caseId), (value) => checkedBy(Baseline, value));

/** The ids of Work items with a baseline. */
export const baselineOwners = ({ baselines }: Layout): string[] =>
  listDirectory(baselines).flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? []);

/** Saves a baseline. The agent may start once it is on disk, when the promise resolves. */
export const saveBaseline = (layout: Layout, baseline: Baseline): Promise<void> =>
  saveOurs(layout, fileOf(layout, baseline.case_id), baseline);

export const removeBaseline = async (layout: Layout, caseId: string): Promise<void> => {
  unlinkIfThere(fileOf(layout, caseId));
  unlinkIfThere(refsFileOf(layout, caseId));
  await syncDirectory(layout.baselines);
};

/** Saves the repository's refs at the start of the turn, in a file of their own since they may be many. Saved before the record. */
export const saveBaselineRefs = async (
  layout: Layout,
  caseId: string,
  list: Buffer,
): Promise<void> => {
  const path = refsFileOf(layout, caseId);
  unlinkIfThere(path);
  await createFile(layout, path, list, { mode: 0o600 });
};

/** Undefined if none were saved. */
export const readBaselineRefs = (layout: Layout, caseId: string): Buffer | undefined =>
  readRegularFile(layout.root, refsFileOf(layout, caseId));

const refsFileOf = ({ baselines }: Layout, caseId: string): string =>
  join(baselines, `${caseId}.refs`);

const fileOf = ({ baselines }: Layout, caseId: string): string => join(baselines, `${caseId}.json`);
