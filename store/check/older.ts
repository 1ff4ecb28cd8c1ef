import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { sha256 } from '../base/sha256.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { isAllNul } from '../front-matter/text.ts';
import { putFile } from '../front-matter/text-file.ts';
import { statsAt } from '../fs/plain-path.ts';
import type { Layout } from '../layout.ts';
import type { Mend } from './finding.ts';

/** Finds an older version of a file by the hash of its bytes; undefined if none was kept. */
export type Older = (file: string, wanted: ReadonlySet<string>) => Promise<Buffer | undefined>;

/** Searches `.dossier/undo` first, then the versions of the file in git, from `committed`. */
export const olderVersions = (
  layout: Layout,
  committed: (file: string) => Promise<Buffer[]>,
): Older => {
  const hashes = new Map<string, Map<string, string>>();
  const kept = (name: string): Map<string, string> => {
    const known = hashes.get(name) ?? hashesOf(keptAs(layout, name));
    hashes.set(name, known);
    return known;
  };
  return async (file, wanted) => {
    const undo = kept(basename(file));
    const sha = [...wanted].find((each) => undo.has(each));
    if (sha !== undefined) return readFileSync(undo.get(sha) as string);
    return (await committed(file)).find((bytes) => wanted.has(sha256(bytes)));
  };
};

// `<milliseconds>-<8 of a UUID>-<name>`, in a directory for each day.
const keptAs = ({ undo }: Layout, name: string): string[] =>
  listDirectory(undo).flatMap((day) =>
    listDirectory(join(undo, day))
      .filter((each) => each.endsWith(`-${name}`))
      .map((each) => join(undo, day, each))
      .filter((path) => statsAt(path)?.isFile() === true),
  );

const hashesOf = (paths: readonly string[]): Map<string, string> =>
  new Map(paths.map((path) => [sha256(readFileSync(path)), path]));

/**
 * A fix that restores a missing file, or one that a power cut emptied, to its last known content. Undefined if that was not
 * kept, or the file is not empty.
 */
export const restoreFix = async (
  layout: Layout,
  file: string,
  { older, wanted }: { older: Older; wanted: ReadonlySet<string> },
): Promise<Mend | undefined> => {
  const path = join(layout.root, file);
  const before = emptyBytes(path);
  if (before === 'full' || wanted.size === 0) return undefined;
  const bytes = await older(file, wanted);
  if (bytes === undefined) return undefined;
  return async () => {
    const done = await putFile(layout, path, { before }, bytes);
    return done ? 'restored to its last known content' : undefined;
  };
};

// The bytes of an empty or all-NUL file; undefined if there is no file.
const emptyBytes = (path: string): Buffer | 'full' | undefined => {
  const stats = statsAt(path);
  if (stats === undefined) return undefined;
  if (!stats.isFile() || stats.size > MAX_BYTES) return 'full';
  const bytes = readFileSync(path);
  return isAllNul(bytes) ? bytes : 'full';
};

const MAX_BYTES = 2_097_152;
