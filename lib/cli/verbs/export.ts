import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Binary } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { Refusal } from '../args/refusal.ts';
import { findItem } from '../connection/item.ts';
import { verb } from './verb.ts';

/** `dossier export [ITEM]`: saves the workspace or a Work item as a zip file, which is renamed once it is complete on disk. */
export const exportTo = verb(async ({ dossier, words: [word], values, out }) => {
  const { file } = values;
  if (file === '-')
    throw new UsageError('--file - is not supported. Give a path (./- for a file of that name)');
  if (file !== undefined) refuseExisting(resolve(file));
  const id = word === undefined ? undefined : await findItem(dossier, word);
  const download = await (id === undefined
    ? dossier.call('GET /api/export')
    : dossier.call('GET /cases/{id}/export', { id }));
  const path = resolve(file ?? nameOf(download));
  const size = await save(download, path);
  if (values.json === true) out.json({ file: path, size });
  else out.say(`Exported to ${path} (${size} bytes)`);
  return undefined;
});

const nameOf = ({ headers }: Binary): string => {
  const [, name] = /filename="([\w. -]+)"/.exec(headers.get('content-disposition') ?? '') ?? [];
  return name ?? 'dossier.zip';
};

const refuseExisting = (path: string): void => {
  if (existsSync(path)) throw new Refusal(`${path} exists. Name another file with --file`);
};

const PRIVATE = 0o600;

const save = async (download: Binary, path: string): Promise<number> => {
  refuseExisting(path);
  const partial = `${path}.${process.pid}.part`;
  try {
    const size = await write(download, partial);
    refuseExisting(path);
    renameSync(partial, path);
    return size;
  } catch (error) {
    rmSync(partial, { force: true });
    throw error instanceof Refusal
      ? error
      : new Refusal(`The export failed: ${(error as Error).message}`);
  }
};

const write = async ({ body }: Binary, path: string): Promise<number> => {
  let size = 0;
  const fd = openSync(path, 'wx', PRIVATE);
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) size += writeAll(fd, chunk);
    fsyncSync(fd);
    return size;
  } finally {
    closeSync(fd);
  }
};

const writeAll = (fd: number, chunk: Uint8Array): number => {
  for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at);
  return chunk.length;
};
