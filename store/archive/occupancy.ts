import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownValue } from '../base/own-value.ts';
import { parentsOf } from '../base/paths.ts';
import { sha256 } from '../base/sha256.ts';
import { parseFrontMatter } from '../front-matter/front-matter.ts';
import { ifReadable } from '../front-matter/problem.ts';
import { decodeText } from '../front-matter/text.ts';
import { statsAt } from '../fs/plain-path.ts';
import { caseFile, type Layout } from '../layout.ts';
import { walk } from '../reconcile/walk.ts';
import { WORKSPACE_FILES } from '../workspace/workspace-files.ts';

/** The Work items that a workspace already has. */
export interface WorkspaceStanding {
  /** The directory of each Work item, by its id. */
  readonly byId: ReadonlyMap<string, string>;
  /** The directories of all Work items, including those whose id cannot be read. */
  readonly dirs: ReadonlySet<string>;
}

export const readStanding = ({ root }: Layout): WorkspaceStanding => {
  const byId = new Map<string, string>();
  const dirs = new Set<string>();
  for (const { dir, kind } of walk(root)) {
    if (kind !== 'item') continue;
    dirs.add(dir);
    const id = idAt(caseFile(join(root, dir)));
    if (id !== undefined && !byId.has(id)) byId.set(id, dir);
  }
  return { byId, dirs };
};

const idAt = (path: string): string | undefined =>
  statsAt(path)?.isFile() === true ? idIn(readFileSync(path)) : undefined;

/** The id in a case.md; undefined if it has none or cannot be read. */
export const idIn = (bytes: Uint8Array): string | undefined => {
  const id = dataIn(bytes)?.id;
  return typeof id === 'string' ? id : undefined;
};

/** The front matter of a record without a schema check; undefined if it cannot be read. */
export const dataIn = (bytes: Uint8Array): Record<string, unknown> | undefined =>
  ifReadable(() => parseFrontMatter(decodeText(bytes)).data, undefined);

/** What is at the path of a file: nothing, the same bytes, other bytes, or something that blocks it. */
type Occupancy = 'free' | 'same' | 'other' | 'blocked';

export interface WantedFile {
  /** Relative to the workspace, with slashes. */
  path: string;
  size: number;
  sha256: string;
}

export const occupancyOf = async ({ root }: Layout, wanted: WantedFile): Promise<Occupancy> => {
  for (const above of parentsOf(wanted.path)) {
    const stats = statsAt(join(root, above));
    if (stats === undefined) return 'free';
    if (!stats.isDirectory()) return 'blocked';
  }
  const path = join(root, wanted.path);
  const stats = statsAt(path);
  if (stats === undefined) return 'free';
  if (!stats.isFile()) return 'blocked';
  if (stats.size !== wanted.size) return 'other';
  return (await hashOf(path)) === wanted.sha256 ? 'same' : 'other';
};

const hashOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
};

/** The text of an unchanged default file of a new workspace. Undefined for any other file. */
export const defaultAt = async (layout: Layout, path: string): Promise<string | undefined> => {
  const text = ownValue(WORKSPACE_FILES, path);
  if (text === undefined) return undefined;
  const own = { path, size: Buffer.byteLength(text), sha256: sha256(text) };
  return (await occupancyOf(layout, own)) === 'same' ? text : undefined;
};

/** Whether a path, relative to the workspace, is taken, or a parent is a link or a file. */
export const isTaken = ({ root }: Layout, path: string): boolean =>
  statsAt(join(root, path)) !== undefined ||
  parentsOf(path).some((above) => statsAt(join(root, above))?.isDirectory() === false);
