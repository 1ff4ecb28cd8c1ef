import { copyFileSync, linkSync, mkdirSync, renameSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checkout } from '../../tools/git/run/git.ts';
import { entriesOf } from '../../tools/git/run/plain-file.ts';
import type { Environment } from '../../tools/process/environment.ts';

/** Copies what of a directory of objects git itself could have put there; nothing else of it is looked at. */
export const gatherObjects = (from: string, to: string): void => {
  mkdirSync(join(to, 'pack'), { recursive: true });
  const rooms = entriesOf(from).filter(
    ({ name, kind }) => kind === 'directory' && /^(?:[0-9a-f]{2}|pack)$/.test(name),
  );
  for (const { name: dir } of rooms) {
    mkdirSync(join(to, dir), { recursive: true });
    const wanted = dir === 'pack' ? PACK : LOOSE;
    const files = entriesOf(join(from, dir)).filter(
      ({ name, kind }) => kind === 'file' && wanted.test(name),
    );
    for (const { name } of files) linkOrCopy(join(from, dir, name), join(to, dir, name));
  }
};

const LOOSE = /^(?:[0-9a-f]{38}|[0-9a-f]{62})$/;
const PACK = /^pack-[0-9a-f]{40,64}\.(?:pack|idx)$/;

const linkOrCopy = (from: string, to: string): void => {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
};

/** Has git read and write objects in `dir`, and take what is not there from the repository's own. */
export const withObjects = ({ common_dir }: Checkout, dir: string): Environment => ({
  GIT_OBJECT_DIRECTORY: dir,
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(common_dir, 'objects')),
});

// A list by colons, in which a path with one is written as C writes strings.
const quoted = (path: string): string =>
  /[:"\n\\]/.test(path) ? `"${path.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"` : path;

/** Puts a pack that was verified among the objects of the repository: the index last, for it is what git looks for. */
export const migrate = async (
  { common_dir }: Checkout,
  from: string,
  name: string,
): Promise<void> => {
  const to = join(common_dir, 'objects', 'pack');
  mkdirSync(to, { recursive: true });
  for (const ending of ['pack', 'idx']) {
    const temporary = join(to, `tmp_dossier_${name}.${ending}`);
    try {
      copyFileSync(join(from, `${name}.${ending}`), temporary);
      await sync(temporary);
      await rename(temporary, join(to, `${name}.${ending}`));
    } finally {
      await rm(temporary, { force: true });
    }
  }
  await sync(to);
};

const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Moves a pack to where it is verified. */
export const movePack = (from: string, to: string): void => {
  mkdirSync(join(to, '..'), { recursive: true });
  renameSync(from, to);
};
