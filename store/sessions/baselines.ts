import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readOurs, sealedText } from '../consent/seal.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { checkedBy, readRegularFile } from '../front-matter/record-file.ts';
import { putFile } from '../front-matter/text-file.ts';
import { createFile } from '../fs/durable.ts';
import { syncDirectory } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import { Baseline } from '../records/baseline.ts';

/**
 * What a Work item's Plan turn began with, when it is not compared yet. There is one at most: a turn that finds one ends
 * that first. Throws `unreadable_record`.
 */
export const readBaseline = (layout: Layout, caseId: string): Baseline | undefined =>
  readOurs(layout, fileOf(layout, caseId), (value) => checkedBy(Baseline, value));

/** The Work items with a turn that is not compared yet. */
export const baselineOwners = ({ baselines }: Layout): string[] =>
  listDirectory(baselines).flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? []);

/** Resolves when it is on disk: only then may the agent start. */
export const saveBaseline = async (layout: Layout, baseline: Baseline): Promise<void> => {
  const path = fileOf(layout, baseline.case_id);
  const text = sealedText(layout, path, baseline);
  const before = readRegularFile(layout.root, path);
  await putFile(layout, path, { before, mode: 0o600 }, text);
};

export const removeBaseline = async (layout: Layout, caseId: string): Promise<void> => {
  rmSync(fileOf(layout, caseId), { force: true });
  rmSync(refsFileOf(layout, caseId), { force: true });
  await syncDirectory(layout.baselines);
};

/** The refs of the repository as the turn found them: beside the record, for there may be very many. Saved before it. */
export const saveBaselineRefs = async (
  layout: Layout,
  caseId: string,
  list: Buffer,
): Promise<void> => {
  const path = refsFileOf(layout, caseId);
  rmSync(path, { force: true });
  await createFile(layout, path, list, { mode: 0o600 });
};

/** Undefined when none were kept. */
export const readBaselineRefs = (layout: Layout, caseId: string): Buffer | undefined =>
  readRegularFile(layout.root, refsFileOf(layout, caseId));

const refsFileOf = ({ baselines }: Layout, caseId: string): string =>
  join(baselines, `${caseId}.refs`);

const fileOf = ({ baselines }: Layout, caseId: string): string => join(baselines, `${caseId}.json`);
