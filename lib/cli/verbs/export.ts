import { createWriteStream, existsSync, openSync, renameSync } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { hasCode, messageOf } from '../../../store/base/attempt.ts';
import { unlinkIfThere } from '../../../store/fs/remove.ts';
import type { Binary } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { Refusal, requireDirectoryOf } from '../args/refusal.ts';
import { findItem } from '../connection/find.ts';
import { warn } from '../output/terminal.ts';
import { handleFileSizeSignal } from '../process.ts';
import { verb } from './verb.ts';

/** `dossier export [ITEM]`: saves the workspace or a Work item as a zip file, which is renamed once it is complete on disk. */
export const exportTo = verb(async ({ dossier, typed, words: [word], values, report }) => {
  const { file } = values;
  if (file === '-')
    throw new UsageError('--file - is not supported. Give a path (./- for a file of that name)');
  if (file !== undefined) refuseExisting(resolve(file));
  const id = word === undefined ? undefined : await findItem({ dossier, typed }, word);
  const download = await (id === undefined
    ? dossier.call('GET /api/export')
    : dossier.call('GET /cases/{id}/export', { id }));
  const path = resolve(file ?? nameOf(download));
  const size = await save(download, path);
  report({ file: path, size }, `Exported to ${path} (${size} bytes)`);
  const why = await importRefusal(path);
  if (why !== undefined) warn(`dossier import will refuse this archive: ${why}`);
});

// A name can be fine in the workspace and not on another file system. Where the workspace is lost later, it is too late.
const importRefusal = async (path: string): Promise<string | undefined> => {
  const { openZip } = await import('../../../store/archive/zip-file.ts');
  try {
    (await openZip(path)).close();
    return undefined;
  } catch (error) {
    return messageOf(error).replace(' Nothing was imported.', '');
  }
};

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
  const fd = openPartial(partial);
  const keep = removeAtSignal(partial);
  try {
    const size = await write(download, fd);
    refuseExisting(path);
    renameSync(partial, path);
    return size;
  } catch (error) {
    throw new Refusal(`${whyOf(error, path)}. ${removed(partial)}`);
  } finally {
    keep();
  }
};

const whyOf = (error: unknown, path: string): string => {
  if (error instanceof Refusal) return error.message;
  return hasCode(error, 'ENOSPC', 'EDQUOT')
    ? `The disk of ${path} is full. Free some space, or name a file on another disk with --file`
    : `The export failed: ${messageOf(error)}`;
};

// The process then ends by the signal, as it would without this. Returns what takes it back.
const removeAtSignal = (partial: string): (() => void) => {
  const end = (signal: NodeJS.Signals): void => {
    keep();
    process.stderr.write(`dossier: The export was interrupted. ${removed(partial)}.\n`);
    process.kill(process.pid, signal);
  };
  const keep = (): void => void process.off('SIGINT', end).off('SIGTERM', end).off('SIGHUP', end);
  process.on('SIGINT', end).on('SIGTERM', end).on('SIGHUP', end);
  return keep;
};

const openPartial = (path: string): number => {
  requireDirectoryOf(path);
  try {
    return openSync(path, 'wx', PRIVATE);
  } catch (error) {
    throw new Refusal(
      `The export failed: ${messageOf(error)}. Name a file in another directory with --file`,
    );
  }
};

// An archive without its end is of no use, but it may be large.
const removed = (partial: string): string => {
  try {
    unlinkIfThere(partial);
    return `The incomplete file ${partial} was removed`;
  } catch (error) {
    return `The incomplete file ${partial} is left, because ${messageOf(error)}. You can remove it`;
  }
};

const write = async ({ body }: Binary, fd: number): Promise<number> => {
  handleFileSizeSignal();
  const to = createWriteStream('', { fd, flush: true });
  await pipeline(body as AsyncIterable<Uint8Array>, to);
  return to.bytesWritten;
};
