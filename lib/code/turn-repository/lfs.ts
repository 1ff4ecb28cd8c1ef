import { createHash, randomUUID } from 'node:crypto';
import {
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Checkout } from '../../tools/git/run/git.ts';
import { plainFilesBelow } from '../../tools/git/run/plain-file.ts';

const MOST = 100_000;

/** Takes in what git-lfs stored in a turn: each file whose name is the SHA-256 of what it holds, and no other. */
export const takeInLfs = async (
  { common_dir }: Checkout,
  { dir, room }: { dir: string; room: string },
): Promise<void> => {
  const from = join(dir, 'lfs', 'objects');
  const to = join(common_dir, 'lfs', 'objects');
  for (const path of plainFilesBelow(from, MOST)) {
    const [, oid] = /^[0-9a-f]{2}\/[0-9a-f]{2}\/([0-9a-f]{64})$/.exec(path) ?? [];
    if (oid !== undefined && !existsSync(join(to, path)))
      await takeInFile(join(from, path), { to: join(to, path), room, oid });
  }
};

// Copied first: what is hashed is what is taken.
const takeInFile = async (
  from: string,
  { to, room, oid }: { to: string; room: string; oid: string },
): Promise<void> => {
  mkdirSync(room, { recursive: true });
  mkdirSync(dirname(to), { recursive: true });
  const copy = join(room, randomUUID());
  copyFileSync(from, copy);
  const hash = createHash('sha256');
  await pipeline(createReadStream(copy), hash);
  if (hash.digest('hex') === oid) {
    const beside = `${to}.dossier`;
    // Made anew: what may be done with it is not the agent's to say.
    await pipeline(createReadStream(copy), createWriteStream(beside));
    renameSync(beside, to);
  }
  rmSync(copy, { force: true });
};
