import { randomUUID } from 'node:crypto';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { forgetState } from './open.ts';

/** Runs `work` in an empty directory below `within`, and the copies under its name; all is gone afterwards. */
export const inStateScratch = async <T>(
  within: string,
  work: (dir: string, name: string) => Promise<T>,
): Promise<T> => {
  const name = randomUUID();
  const dir = join(within, `${name}.empty`);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  try {
    return await work(await realpath(dir), name);
  } finally {
    await rm(dir, { recursive: true, force: true });
    await forgetState(within, name);
  }
};
