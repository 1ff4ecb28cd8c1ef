/** Directories as they were, and as they are put back: file for file, in place, so that each stays the file it was. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

interface Entry {
  kind: 'file' | 'directory' | 'link';
  mode: number;
  /** The bytes, or where the link leads. */
  content: Buffer | string;
}

/** Parents before what is in them. */
export type Picture = ReadonlyMap<string, Entry>;

export const pictureOf = (roots: readonly string[]): Picture => {
  const found = new Map<string, Entry>();
  const look = (path: string): void => {
    const entry = entryAt(path);
    if (entry === undefined) return;
    found.set(path, entry);
    if (entry.kind === 'directory') for (const name of readdirSync(path)) look(join(path, name));
  };
  for (const root of roots) look(root);
  return found;
};

const entryAt = (path: string): Entry | undefined => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const mode = stats.mode & 0o7777;
  if (stats.isSymbolicLink()) return { kind: 'link', mode, content: readlinkSync(path) };
  if (stats.isDirectory()) return { kind: 'directory', mode, content: '' };
  return stats.isFile() ? { kind: 'file', mode, content: readFileSync(path) } : undefined;
};

/** Puts all back: what came goes, what was changed is written again into the same file. */
export const putBack = (roots: readonly string[], wanted: Picture): void => {
  for (const root of roots) prune(root, wanted);
  for (const [path, entry] of wanted) restore(path, entry);
  for (const [path, { kind, mode }] of wanted) if (kind !== 'link') chmodSync(path, mode);
};

const prune = (path: string, wanted: Picture): void => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSymbolicLink() && stats.isDirectory()) chmodSync(path, 0o700);
  const entry = wanted.get(path);
  if (entry === undefined || entry.kind !== kindOf(stats)) {
    rmSync(path, { recursive: true, force: true });
    return;
  }
  if (entry.kind === 'directory')
    for (const name of readdirSync(path)) prune(join(path, name), wanted);
};

const kindOf = (stats: {
  isSymbolicLink(): boolean;
  isDirectory(): boolean;
  isFile(): boolean;
}) => {
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isDirectory()) return 'directory';
  return stats.isFile() ? 'file' : 'other';
};

const restore = (path: string, { kind, content }: Entry): void => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (kind === 'directory') {
    if (stats === undefined) mkdirSync(path);
  } else if (kind === 'link') {
    if (stats !== undefined && readlinkSync(path) !== content) rmSync(path);
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
      symlinkSync(String(content), path);
  } else restoreFile(path, content as Buffer, stats !== undefined);
};

const restoreFile = (path: string, content: Buffer, isThere: boolean): void => {
  if (isThere) chmodSync(path, 0o600);
  if (!isThere || !readFileSync(path).equals(content)) writeFileSync(path, content);
};
