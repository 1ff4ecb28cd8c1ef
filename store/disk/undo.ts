import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Layout } from '../layout.ts';
import { listDirectory } from './folder.ts';

const KEEP_DAYS = 7;
const KEEP_BYTES = 268_435_456;
const DAY_MS = 86_400_000;

/** Drops what `.dossier/undo` keeps beyond 7 days or 256 MB, oldest day first. */
export const pruneUndo = ({ undo }: Layout, now = Date.now()): void => {
  const oldest = new Date(now - KEEP_DAYS * DAY_MS).toISOString().slice(0, 10);
  let bytes = 0;
  for (const day of readdirSync(undo).toSorted().reverse()) {
    const path = join(undo, day);
    bytes += sizeOf(path);
    if (day < oldest || bytes > KEEP_BYTES) rmSync(path, { recursive: true, force: true });
  }
};

const sizeOf = (dir: string): number =>
  listDirectory(dir).reduce(
    (sum, name) => sum + (lstatSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
