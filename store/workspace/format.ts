import { readEntry } from '../front-matter/entry.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { parseFrontMatter, splitFrontMatter } from '../front-matter/front-matter.ts';
import { Problem } from '../front-matter/problem.ts';
import { editRecord } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { createFile } from '../fs/durable.ts';
import type { Layout } from '../layout.ts';
import { FORMAT } from '../records/settings.ts';

/** From one form of a workspace's files to the next. */
export interface Step {
  /** The form that it leads to, one more than the one before. */
  to: number;
  /** Done again from its beginning where it was interrupted. */
  upgrade: (layout: Layout) => Promise<void>;
}

/** Each release that changes the form of files adds one, and keeps a workspace of the release before as a test. */
const STEPS: readonly Step[] = [];

export class FormatError extends Error {
  override readonly name = 'FormatError';
}

/** The form of a workspace's files, as workspace.md says it: 1 where it says none. */
export const formatOf = (layout: Layout): number => {
  const parse = (text: string): unknown => formatIn(text);
  const value = Number(readEntry(layout.settings, { before: undefined, parse })?.value ?? 1);
  return Number.isInteger(value) && value > 1 ? value : 1;
};

// Also of a file that cannot be read otherwise: a newer Dossier may take for YAML what this one does not.
const formatIn = (text: string): unknown => {
  try {
    return parseFrontMatter(text).data.format;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'bad_yaml') return undefined;
    return /^format:[ \t]*(\d+)/m.exec(splitFrontMatter(text).yaml)?.[1];
  }
};

/** Throws FormatError where a newer Dossier has written the workspace. Writes nothing. */
export const refuseNewer = (layout: Layout, newest = FORMAT): void => {
  const format = formatOf(layout);
  if (format <= newest) return;
  throw new FormatError(
    `${layout.root} has files of format ${format}, which a newer Dossier wrote; this one knows ${newest} at most. Nothing was changed. Install the newest: npm install -g dossierd@latest.`,
  );
};

/** Brings the files of an older release into today's form, step by step. Only for whoever holds the workspace. */
export const upgrade = async (layout: Layout, steps: readonly Step[] = STEPS): Promise<void> => {
  if (isFresh(layout)) return;
  const from = formatOf(layout);
  for (const step of steps.filter(({ to }) => to > from)) {
    await step.upgrade(layout);
    await writeFormat(layout, step.to);
  }
};

const isFresh = ({ cases, settings }: Layout): boolean =>
  listDirectory(cases).length === 0 &&
  readEntry(settings, { before: undefined, parse: () => true }) === undefined;

const writeFormat = async (layout: Layout, format: number): Promise<void> => {
  const isThere = await editRecord(layout, layout.settings, () => ({ changes: { format } }));
  if (!isThere) await createFile(layout, layout.settings, renderFrontMatter({ format }, ''));
};
