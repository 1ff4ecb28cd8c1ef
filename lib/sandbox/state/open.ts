import { randomUUID } from 'node:crypto';
import { mkdir, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../../store/fs/remove.ts';
import type { RunScope, StatePlace } from './rules.ts';
import { type KeepAside, type OpenState, openState } from './state.ts';

interface Place {
  /** The directory of all copies. */
  within: string;
  /** The name of the copy: one per session, shared by its turns. */
  name: string;
  /** Stores a login that is not returned. */
  keepAside: KeepAside;
}

/** Opens the copy of a session. Rejects if it cannot be created: an agent never gets the real state instead. */
export const openRunState = async (
  places: readonly StatePlace[],
  { within, name, keepAside }: Place,
  scope: RunScope,
): Promise<OpenState> => {
  const into = join(within, name);
  await mkdir(into, { recursive: true, mode: 0o700 });
  return openState(places, into, scope, keepAside);
};

/** Removes the copy of a session that has ended. Never rejects. */
export const forgetState = (within: string, name: string): Promise<void> =>
  removeTree(join(within, name)).catch(() => undefined);

/** Removes the copies that a previous daemon left, except those of sessions that may continue. */
export const sweepStates = async (within: string, keep: ReadonlySet<string>): Promise<void> => {
  const names = await readdir(within).catch(() => []);
  await Promise.all(
    names.filter((name) => !keep.has(name)).map((name) => forgetState(within, name)),
  );
};

/** Runs `work` with an empty directory below `within`. Removes the directory and the copies of its name afterwards. */
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
    await removeTree(dir);
    await forgetState(within, name);
  }
};
