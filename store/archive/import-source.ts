import { statSync } from 'node:fs';
import { join } from 'node:path';
import { MANIFEST_NAME } from '../records/manifest.ts';

/** What a path could be imported as. */
export type SourceKind = 'absent' | 'file' | 'export' | 'workspace' | 'directory' | 'other';

export const sourceKindOf = (path: string): SourceKind => {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 'absent';
  if (stats.isFile()) return 'file';
  if (!stats.isDirectory()) return 'other';
  if (has(path, MANIFEST_NAME)) return 'export';
  return ['workspace.md', 'cases', '.dossier'].some((name) => has(path, name))
    ? 'workspace'
    : 'directory';
};

const has = (dir: string, name: string): boolean =>
  statSync(join(dir, name), { throwIfNoEntry: false }) !== undefined;
