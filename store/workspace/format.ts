import { readEntry } from '../front-matter/entry.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { parseFrontMatter, splitFrontMatter } from '../front-matter/front-matter.ts';
import { Problem } from '../front-matter/problem.ts';
import { editRecord } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { createFile } from '../fs/durable.ts';
import type { Layout } from '../layout.ts';
import { FORMAT } from '../records/settings.ts';

/** An upgrade from one format of the workspace's files to the next. */
export interface Step {
  /** The new format, one more than the previous one. */
  to: number;
  /** Repeated from the beginning if it was interrupted. */
  upgrade: (layout: Layout) => Promise<void>;
}

/** A release that changes the format adds a step, and a workspace of the previous release as a test. */
const STEPS: readonly Step[] = [];

export class FormatError extends Error {
  override readonly name = 'FormatError';
}

/** The format of a workspace's files from workspace.md; 1 if it names none. */
export const formatOf = (layout: Layout): number => {
  const parse = (text: string): unknown => formatIn(text);
  const value = Number(readEntry(layout.settings, { parse })?.value ?? 1);
  return Number.isInteger(value) && value > 1 ? value : 1;
};

// Also reads the format of a file with invalid YAML, which a newer Dossier may accept.
const formatIn = (text: string): unknown => {
  try {
    return parseFrontMatter(text).data.format;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'bad_yaml') return undefined;
    return /^format:[ \t]*(\d+)/m.exec(splitFrontMatter(text).yaml)?.[1];
  }
};

/** Throws FormatError if a newer Dossier wrote the workspace. Writes nothing. */
export const refuseNewer = (layout: Layout, newest = FORMAT): void => {
  const format = formatOf(layout);
  if (format <= newest) return;
  throw new FormatError(
    `${layout.root} has files of format ${format}, written by a newer Dossier; this one supports up to ${newest}. Nothing was changed. Install the newer version, then try again.`,
  );
};

/** Upgrades the files of an older release step by step. The caller holds the workspace lock. */
export const upgrade = async (layout: Layout, steps: readonly Step[] = STEPS): Promise<void> => {
  if (isFresh(layout)) return;
  const from = formatOf(layout);
  for (const step of steps.filter(({ to }) => to > from)) {
    await step.upgrade(layout);
    await writeFormat(layout, step.to);
  }
};

const isFresh = ({ cases, settings }: Layout): boolean =>
  listDirectory(cases).length === 0 && readEntry(settings, { parse: () => true }) === undefined;

const writeFormat = async (layout: Layout, format: number): Promise<void> => {
  const isThere = await editRecord(layout, layout.settings, () => ({ changes: { format } }));
  if (!isThere) await createFile(layout, layout.settings, renderFrontMatter({ format }, ''));
};
