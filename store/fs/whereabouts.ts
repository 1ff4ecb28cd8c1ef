import { closeSync, fstatSync, openSync, readlinkSync, statSync } from 'node:fs';
import { orElse } from '../base/attempt.ts';
import { isDirectoryItself } from './plain-path.ts';

interface Whereabouts {
  /** Where the directory was moved to; undefined while it is where it was, and where nobody can tell. */
  movedTo(): string | undefined;
  close(): void;
}

/** Keeps a directory in sight that somebody may rename. Where it is then only Linux tells. */
const watchPlace = (path: string): Whereabouts => {
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

/** Calls and resolves, once, with where a directory is that was moved. `close` answers the same for the last time. */
export const followPlace = (root: string, noticed: (to: string) => void) => {
  const place = watchPlace(root);
  let timer: NodeJS.Timeout | undefined;
  // What is elsewhere for a moment, and put back, was not moved.
  let seen: { to?: string; times: number } = { times: 0 };
  const moved = new Promise<string>((resolve) => {
    timer = setInterval(() => {
      const to = place.movedTo();
      seen = { ...(to !== undefined && { to }), times: to === seen.to ? seen.times + 1 : 1 };
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
