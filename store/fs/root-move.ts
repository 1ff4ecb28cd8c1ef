import { closeSync, fstatSync, openSync, readlinkSync, statSync } from 'node:fs';
import { orElse } from '../base/attempt.ts';
import { isDirectoryItself } from './plain-path.ts';

interface WatchedDirectory {
  /** The new path of a moved directory; undefined if it was not moved, or the system cannot tell. */
  movedTo(): string | undefined;
  close(): void;
}

/** Detects that a directory is renamed. Only Linux reports the new path. */
const watchDirectory = (path: string): WatchedDirectory => {
  const descriptor = openSync(path, 'r');
  const { ino, dev } = fstatSync(descriptor);
  const isAt = (place: string): boolean => {
    const found = orElse(() => statSync(place), undefined);
    return found?.ino === ino && found.dev === dev && isDirectoryItself(place);
  };
  return {
    movedTo: () => {
      if (isAt(path)) return undefined;
      const now = orElse(() => readlinkSync(`/proc/self/fd/${descriptor}`), undefined);
      return now !== undefined && isAt(now) ? now : undefined;
    },
    close: () => closeSync(descriptor),
  };
};

const LOOK_MS = 500;
const LOOKS = 3;

/**
 * Watches a directory for being moved: calls `noticed` and resolves `moved` once, with the new path. `close` ends the
 * watch and returns the new path, if any.
 */
export const watchForMove = (root: string, noticed: (to: string) => void) => {
  const place = watchDirectory(root);
  let timer: NodeJS.Timeout | undefined;
  // A directory that is put back within three checks counts as not moved.
  let seen: { to: string | undefined; times: number } = { to: undefined, times: 0 };
  const moved = new Promise<string>((resolve) => {
    timer = setInterval(() => {
      const to = place.movedTo();
      seen = { to, times: to === seen.to ? seen.times + 1 : 1 };
      if (to === undefined || seen.times < LOOKS) return;
      clearInterval(timer);
      noticed(to);
      resolve(to);
    }, LOOK_MS).unref();
  });
  const close = (): string | undefined => {
    clearInterval(timer);
    const to = place.movedTo();
    place.close();
    return to;
  };
  return { moved, close };
};
