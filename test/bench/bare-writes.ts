/**
 * The limit of POST /cases: what a durable Work item needs at the least. A file in a directory, both synced, renamed into
 * place, its parent synced, and a synced line in a log. Sent a count, it writes so many, and answers when they are on disk.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repeat } from './load.ts';

const TEXT = 'x'.repeat(800);

process.on('message', ([count, atOnce]: [number, number]) => {
  writeMany(count, atOnce).then(
    () => process.send?.('done'),
    () => process.exit(1),
  );
});

const writeMany = async (count: number, atOnce: number): Promise<void> => {
  const root = mkdtempSync(join(tmpdir(), 'dossier-floor-'));
  mkdirSync(join(root, 'tmp'));
  mkdirSync(join(root, 'cases'));
  const log = await open(join(root, 'log'), 'a');
  await repeat(count, atOnce, () => writeOne(root, log));
  await log.close();
  rmSync(root, { recursive: true });
};

const writeOne = async (root: string, log: FileHandle): Promise<void> => {
  const name = randomUUID();
  const temporary = join(root, 'tmp', name);
  mkdirSync(temporary);
  const file = await open(join(temporary, 'case.md'), 'wx');
  await file.writeFile(TEXT);
  await file.sync();
  await file.close();
  await sync(temporary);
  await rename(temporary, join(root, 'cases', name));
  await sync(join(root, 'cases'));
  await log.appendFile(TEXT);
  await log.datasync();
};

const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  await handle.sync();
  await handle.close();
};
