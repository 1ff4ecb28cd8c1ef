import { randomUUID } from 'node:crypto';
import { mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mine, StatePlace } from './rules.ts';
import { type KeepAside, type OpenState, openState } from './state.ts';

interface Place {
  /** The directory of all copies. */
  within: string;
  /** Of the session, whose turns share one. */
  name: string;
  /** Takes a login that does not come back. */
  keepAside: KeepAside;
}

/** Opens the copy of a session. Rejects when it cannot be made: an agent never gets the real one in its place. */
export const openRunState = async (
  places: readonly StatePlace[],
  { within, name, keepAside }: Place,
  mine: Mine,
): Promise<OpenState> => {
  const into = join(within, name);
  await mkdir(into, { recursive: true, mode: 0o700 });
  return openState(places, into, mine, keepAside);
};

/** Takes the copy of a session away that goes on no more. Never rejects. */
export const forgetState = (within: string, name: string): Promise<void> =>
  rm(join(within, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);

/** Takes away what a former life of the daemon left, but for the sessions that may go on. */
export const sweepStates = async (within: string, keep: ReadonlySet<string>): Promise<void> => {
  const names = await readdir(within).catch(() => []);
  await Promise.all(
    names.filter((name) => !keep.has(name)).map((name) => forgetState(within, name)),
  );
};

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
