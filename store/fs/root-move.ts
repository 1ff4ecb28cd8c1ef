import { closeSync, fstatSync, openSync, readlinkSync, statSync } from 'node:fs';
import { orElse } from '../base/attempt.ts';
import { isDirectoryItself, isSameFile } from './plain-path.ts';

const LOOK_MS = 500;
const LOOKS = 3;

/**
 * Watches a directory for being moved: calls `noticed` and resolves `moved` once, with the new path. `close` ends the
 * watch and returns the new path, if any. Only Linux reports the new path. `why` says at once that it is not at its place.
 */
export const watchForMove = (root: string, noticed: (to: string) => void) => {
  const descriptor = openSync(root, 'r');
  const stats = fstatSync(descriptor);
  const isAt = (place: string): boolean =>
    isSameFile(
      orElse(() => statSync(place), undefined),
      stats,
    ) && isDirectoryItself(place);
  // Undefined if it was not moved, or the system cannot tell.
  const movedTo = (): string | undefined => {
    if (isAt(root)) return undefined;
    const now = orElse(() => readlinkSync(`/proc/self/fd/${descriptor}`), undefined);
    return now !== undefined && isAt(now) ? now : undefined;
  };
  let timer: NodeJS.Timeout | undefined;
  // A directory that is put back within three checks counts as not moved.
  let seen: { to: string | undefined; times: number } = { to: undefined, times: 0 };
  const moved = new Promise<string>((resolve) => {
    timer = setInterval(() => {
      const to = movedTo();
      seen = { to, times: to === seen.to ? seen.times + 1 : 1 };
      if (to === undefined || seen.times < LOOKS) return;
      clearInterval(timer);
      noticed(to);
      resolve(to);
    }, LOOK_MS).unref();
  });
  const close = (): string | undefined => {
    clearInterval(timer);
    const to = movedTo();
    closeSync(descriptor);
    return to;
  };
  const why = (): string | undefined => {
    const to = movedTo();
    return to && `The workspace ${root} was moved to ${to}`;
  };
  return { moved, close, why };
};
