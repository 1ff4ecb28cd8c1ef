/**
 * The limit of GET /api/export in the same language: `bare-archive.js FOLDER FILE` reads each file of a folder and stores it in
 * a zip file. `zip` is written in C: the ratio to it depends on the processor.
 */
import { once } from 'node:events';
import { createWriteStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipArchive } from 'archiver';

const [, , folder = '', file = ''] = process.argv;

const archive = new ZipArchive({ store: true });
const written = pipeline(archive, createWriteStream(file));

const addBelow = async (path: string): Promise<void> => {
  for (const entry of readdirSync(join(folder, path), { withFileTypes: true })) {
    const name = join(path, entry.name);
    if (name === '.dossier') continue;
    if (entry.isDirectory()) await addBelow(name);
    else await add(name);
  }
};

const add = async (name: string): Promise<void> => {
  const { mtime: date, mode } = statSync(join(folder, name));
  const added = once(archive, 'entry');
  archive.append(readFileSync(join(folder, name)), { name, date, mode });
  await added;
};

await addBelow('');
await archive.finalize();
await written;
