import { createHmac } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import lockfile from 'proper-lockfile';
import { hasCode } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { whyAway } from '../fs/directories.ts';
import { isDirectoryItself, NOT_A_DIRECTORY, statsAt } from '../fs/plain-path.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import type { Layout } from '../layout.ts';
import {
  describeSelf,
  isAtPlace,
  isNear,
  livenessAt,
  livenessOf,
  makeOwner,
  type Owner,
  readOwner,
  writeOwner,
} from './owner.ts';

interface LockEvents {
  /** The lock was lost, with the reason: nothing may be written. Called again if the reason changes. */
  lost: (why: string) => void;
  regained: () => void;
  /** Why the workspace is not at its place any more: then another directory there is not locked. */
  away?: () => string | undefined;
  /** The start waits for the heartbeat of an owner that is not visible from here. */
  waits?: (why: string) => void;
}

export class WorkspaceHeldError extends Error {
  override readonly name = 'WorkspaceHeldError';
}

/** Times of the lock in milliseconds; tests use shorter ones. */
export const LOCK_PACE = {
  stale_ms: 30_000,
  update_ms: 5000,
  /** How long an invisible owner must be silent while we listen: the machine may just have woken up. */
  listen_ms: 7000,
  look_ms: 500,
};
type Pace = typeof LOCK_PACE;

/**
 * Acquires the lock of a workspace. Throws WorkspaceHeldError, naming the process, if another holds it. The lock of a dead
 * process is taken over at once, that of an invisible one once its heartbeat has stopped; of several that try, one wins.
 */
export const lockWorkspace = async (layout: Layout, events: LockEvents, pace = LOCK_PACE) => {
  const { root, state } = layout;
  const owner: Owner = { ...describeSelf(root), ...(state && { state }) };
  let released = false;
  let release = await takeLock(layout, owner, { pace, events, onLost: () => lose() });
  removeSuccessors(layout);

  const compromised = async (): Promise<void> => {
    let told = '';
    const { waits, ...later } = events;
    const again = { pace, events: later, onLost: lose };
    const look = async (): Promise<Release | undefined> => {
      const why = whyLost(layout, owner, events.away?.()) ?? (told === '' ? REMOVED : undefined);
      if (why === undefined) return regain(layout, owner, () => acquire(layout, pace, lose));
      if (why !== told) events.lost(why);
      told = why;
      return retake(layout, owner, again);
    };
    while (!released) {
      const acquired = await look().catch(ignore);
      if (acquired !== undefined) {
        release = acquired;
        removeSuccessors(layout);
        return released ? acquired().catch(ignore) : events.regained();
      }
      await delay(pace.look_ms, undefined, { ref: false });
    }
  };
  const lose = (): void => void (released || compromised());

  return {
    /** Records where the daemon listens. Kept in `owner`, for writing the file again later. */
    tell: (where: Pick<Owner, 'url' | 'socket'>): void =>
      writeOwner(layout, Object.assign(owner, where)),
    /**
     * Throws `read_only` if another process has the workspace, as the next heartbeat would find. `replaced`: other files are
     * where those of this process were. Writes the owner's file again if it was removed, so that no other process starts.
     */
    assertHeld: (replaced: boolean): void => {
      const isOther = replaced && statsAt(layout.owner) === undefined && !isAtPlace(layout, owner);
      const moved = isOther ? `Another workspace is at ${root} now` : events.away?.();
      const why = whyLost(layout, owner, moved);
      if (why === undefined && (statsAt(layout.owner) !== undefined || claim(layout, owner)))
        return;
      throw new StoreError('read_only', `${why ?? REMOVED}. Nothing was written`);
    },
    /** The answer to a challenge, which proves that this process is the recorded owner. */
    prove: (challenge: string): string => proofOf(owner, challenge),
    /** `at` is the layout of a workspace that was moved meanwhile. */
    release: async (at = layout): Promise<void> => {
      released = true;
      await release().catch(ignore);
      const isOurs = readOwner(at.owner)?.token === owner.token;
      if (at.root !== layout.root && isOurs) rmSync(lockDir(at), { recursive: true, force: true });
      // Last, and only without a lock: one without the owner's file cannot be recognized as dead.
      if (statsAt(lockDir(at)) === undefined) removeOwner(at, owner);
    },
  };
};

export type DaemonLock = Awaited<ReturnType<typeof lockWorkspace>>;

type Release = () => Promise<void>;

interface Taking {
  pace: Pace;
  events: LockEvents;
  onLost: () => void;
}

// A crash on the way leaves an owner without a lock, which can be taken over, never a lock without an owner.
const takeLock = async (layout: Layout, self: Owner, taking: Taking): Promise<Release> => {
  const { pace, onLost } = taking;
  if (await replaceOwner(layout, self, taking)) {
    const release = await acquire(layout, pace, onLost);
    writeOwner(layout, self);
    return release;
  }
  const stale = pace.stale_ms;
  const isLocked = await lockfile.check(layout.lock, { realpath: false, stale });
  if (isLocked || !claim(layout, self)) throw heldError(layout, readOwner(layout.owner));
  try {
    return await acquire(layout, pace, onLost);
  } catch (error) {
    removeOwner(layout, self);
    throw error;
  }
};

const removeOwner = (layout: Layout, { token }: Owner): void => {
  if (readOwner(layout.owner)?.token === token) unlinkIfThere(layout.owner);
};

const ignore = (): void => undefined;

const REMOVED = 'The lock on the workspace was removed';

// A lock beside our own token is ours. Throws if another process took over the workspace in between.
const regain = async (
  layout: Layout,
  owner: Owner,
  again: () => Promise<Release>,
): Promise<Release> => {
  const isKnown = readOwner(layout.owner) !== undefined;
  if (isKnown) rmSync(lockDir(layout), { recursive: true, force: true });
  const release = await again();
  if (!isKnown) claim(layout, owner);
  if (readOwner(layout.owner)?.token === owner.token) return release;
  throw heldError(layout, readOwner(layout.owner));
};

const lockDir = ({ lock }: Layout): string => `${lock}.lock`;

// Undefined if the lock can be acquired again: the owner's file has our token, or is gone with all of `.dossier/`.
const whyLost = (layout: Layout, { token }: Owner, moved?: string): string | undefined => {
  const { root, dossier, owner } = layout;
  if (moved !== undefined) return moved;
  const away = whyAway(root);
  if (away !== undefined) return away;
  if (statsAt(dossier) === undefined) mkdirSync(dossier, { mode: 0o700 });
  if (!isDirectoryItself(dossier)) return `${dossier} ${NOT_A_DIRECTORY}`;
  const now = readOwner(owner) ?? readOwner(`${owner}.${token}`);
  if (statsAt(owner) === undefined || now?.token === token) return undefined;
  return `${now === undefined ? 'Another process' : nameOf(now)} holds the workspace ${root} now. Stop that process, and this one continues; or stop this one`;
};

// Takes the lock over from another daemon that died since. Throws while that daemon is alive.
const retake = async (
  layout: Layout,
  self: Owner,
  taking: Taking,
): Promise<Release | undefined> => {
  if (!isDirectoryItself(layout.dossier) || taking.events.away?.() !== undefined) return undefined;
  const other = readOwner(layout.owner);
  if (other === undefined || other.token === self.token) return undefined;
  return takeLock(layout, self, taking);
};

const acquire = async (
  layout: Layout,
  { stale_ms, update_ms }: Pace,
  onCompromised: () => void,
): Promise<Release> => {
  try {
    return await lockfile.lock(layout.lock, {
      realpath: false,
      stale: stale_ms,
      update: update_ms,
      onCompromised,
    });
  } catch (error) {
    if (hasCode(error, 'ELOCKED')) throw heldError(layout, readOwner(layout.owner));
    throw error;
  }
};

/** The answer of an owner to a challenge. */
export const proofOf = ({ token }: Owner, challenge: string): string =>
  createHmac('sha256', token).update(challenge).digest('hex');

/** The daemon that holds the workspace now, as far as can be told; undefined if there is none. */
export const holderOf = (layout: Layout): Owner | undefined => {
  const owner = readOwner(layout.owner);
  if (owner === undefined) return undefined;
  const state = livenessAt(layout.root, owner);
  const lives = state === 'alive' || (state === 'unknown' && isFresh(beatOf(layout), LOCK_PACE));
  return lives ? owner : undefined;
};

const heldError = ({ root }: Layout, owner: Owner | undefined, hint = ''): WorkspaceHeldError => {
  const who = owner === undefined ? 'another process' : nameOf(owner);
  const where = owner?.url === undefined ? '' : `, listening on ${owner.url}`;
  return new WorkspaceHeldError(
    `The workspace ${root} is held by ${who}${where}. Stop that process first, or use it.${hint}`,
  );
};

const nameOf = ({ pid, host, since }: Owner): string => `process ${pid} on ${host}, since ${since}`;

/**
 * Replaces an owner that is dead, or invisible and without heartbeat, and removes its lock. An owner has exactly one successor:
 * the process that creates the file named after its token; should it die too, its token names the next. Returns false if
 * there was no owner; throws if an owner is alive.
 */
const replaceOwner = async (layout: Layout, self: Owner, taking: Taking): Promise<boolean> => {
  const first = readOwner(layout.owner);
  if (first === undefined) return false;
  let path = layout.owner;
  for (let last: Owner | undefined = first; last !== undefined; last = readOwner(path)) {
    const state = livenessAt(layout.root, last);
    if (state === 'alive') throw heldError(layout, last);
    if (state === 'unknown') await untilSilent(layout, { ...taking, last, path });
    path = `${layout.owner}.${last.token}`;
    if (makeOwner(layout, path, self)) return takeOver(layout, first, path);
  }
  // The successor files were removed meanwhile, which only a new owner does.
  throw heldError(layout, readOwner(layout.owner));
};

interface Unseen extends Taking {
  last: Owner;
  path: string;
}

// Waits for an owner on this machine that may just have died, as in a restarted container.
const untilSilent = async (layout: Layout, { last, path, pace, events }: Unseen): Promise<void> => {
  const first = beatOf(layout, path);
  const since = performance.now();
  if (isNear(last)) events.waits?.(`${nameOf(last)} cannot be seen from here. ${WAITING}`);
  for (;;) {
    const beat = beatOf(layout, path);
    const fresh = isFresh(beat, pace);
    if (beat !== first || (fresh && !isNear(last))) throw heldError(layout, last, UNSEEN);
    if (!fresh && performance.now() - since >= pace.listen_ms) return;
    await delay(pace.look_ms);
  }
};

const WAITING = 'Waiting for its heartbeat, at most 30 s';
const UNSEEN =
  ' It cannot be seen from here: if it has ended, the workspace is free 30 s after its last heartbeat.';

// The lock is created after its owner's file, and removed before it.
const beatOf = (layout: Layout, path = layout.owner): number => {
  const [lock, file] = [lockDir(layout), path].map((each) => statsAt(each)?.mtimeMs);
  return path === layout.owner ? (lock ?? file ?? 0) : Math.max(lock ?? 0, file ?? 0);
};

// One of the future tells as little as an old one: the clock was set back since, or is another machine's.
const isFresh = (beat: number, { stale_ms }: Pace): boolean =>
  Math.abs(Date.now() - beat) < stale_ms;

const takeOver = (layout: Layout, former: Owner, place: string): boolean => {
  const now = readOwner(layout.owner);
  if (now?.token === former.token) {
    rmSync(lockDir(layout), { recursive: true, force: true });
    return true;
  }
  unlinkIfThere(place);
  throw heldError(layout, now);
};

// An unreadable owner's file is replaced; if another process creates the file first, that process wins.
const claim = (layout: Layout, self: Owner): boolean => {
  if (readOwner(layout.owner) === undefined) unlinkIfThere(layout.owner);
  return makeOwner(layout, layout.owner, self);
};

const removeSuccessors = ({ dossier, owner }: Layout): void => {
  const start = `${basename(owner)}.`;
  for (const name of readdirSync(dossier))
    if (name.startsWith(start) || (TEMPORARY_NAME.test(name) && isLeftover(join(dossier, name))))
      unlinkIfThere(join(dossier, name));
};

const TEMPORARY_NAME = /^daemon\.[0-9a-f]{8}-[0-9a-f-]{27}$/;
const OLD_MS = 60_000;

// Whether a temporary owner's file can be removed: its writer is dead, or the file is torn and older than 60 s.
const isLeftover = (path: string): boolean => {
  const writer = readOwner(path);
  if (writer !== undefined) return livenessOf(writer) === 'dead';
  return Date.now() - (statsAt(path)?.mtimeMs ?? Date.now()) > OLD_MS;
};
