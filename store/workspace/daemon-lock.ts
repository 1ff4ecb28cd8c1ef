import { createHmac, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import lockfile from 'proper-lockfile';
import { orElse } from '../base/attempt.ts';
import { awayFrom } from '../fs/directories.ts';
import { hasCode } from '../fs/durable.ts';
import { putNew } from '../fs/place.ts';
import { isDirectoryItself, statsAt } from '../fs/plain-path.ts';
import type { Layout } from '../layout.ts';
import { describeSelf, isNear, livenessOf, type Owner } from './owner.ts';

export interface DaemonLock {
  /** Adds where the daemon listens, for whoever meets the lock. */
  tell(where: Pick<Owner, 'url' | 'socket'>): void;
  /** What only the owner that owner.json names, and who may read that, can answer to this. */
  prove(challenge: string): string;
  /** `at`: where the workspace was moved to. */
  release(at?: Layout): Promise<void>;
}

export interface LockEvents {
  /** The lock is not ours for now, and why: write nothing. Called again when there is another reason. */
  lost: (why: string) => void;
  regained: () => void;
  /** The start waits for a sign of life of an owner that cannot be seen from here. */
  waits?: (why: string) => void;
}

export class WorkspaceHeldError extends Error {
  override readonly name = 'WorkspaceHeldError';
}

/** Times of the lock in milliseconds; others for tests. */
export const LOCK_PACE = {
  stale_ms: 30_000,
  update_ms: 5000,
  /** How long an owner that cannot be seen has to be silent, besides: the machine may just have woken up. */
  listen_ms: 7000,
  look_ms: 500,
};
type Pace = typeof LOCK_PACE;

/**
 * One daemon per workspace. Throws WorkspaceHeldError, naming the process, when another holds it. A lock whose process
 * is dead is taken over at once, and one whose process cannot be seen from here when its heartbeat has stopped; of
 * several that try, one wins.
 */
export const lockWorkspace = async (
  layout: Layout,
  events: LockEvents,
  pace = LOCK_PACE,
): Promise<DaemonLock> => {
  const owner: Owner = { ...describeSelf(), ...(layout.state && { state: layout.state }) };
  let released = false;
  let release = await take(layout, owner, { pace, events, onLost: () => lose() });
  clearLine(layout);

  const compromised = async (): Promise<void> => {
    let told = '';
    const { lost, regained } = events;
    const again = { pace, events: { lost, regained }, onLost: lose };
    const look = async (): Promise<Release | undefined> => {
      const why = whyLost(layout, owner) ?? (told === '' ? REMOVED : undefined);
      if (why === undefined) return regain(layout, owner, () => acquire(layout, pace, lose));
      if (why !== told) events.lost(why);
      told = why;
      return takeBack(layout, owner, again);
    };
    while (!released) {
      const held = await look().catch(ignore);
      if (held !== undefined) {
        release = held;
        clearLine(layout);
        return released ? held().catch(ignore) : events.regained();
      }
      await delay(pace.look_ms, undefined, { ref: false });
    }
  };
  const lose = (): void => void (released || compromised());

  return {
    // Kept for when the file is to be written again.
    tell: (where) => writeOwner(layout, Object.assign(owner, where)),
    prove: (challenge) => proofOf(owner, challenge),
    // The owner goes last: a lock without one says of nobody that he is dead.
    release: async (at = layout) => {
      released = true;
      await release().catch(ignore);
      const isOurs = readOwner(at.owner)?.token === owner.token;
      if (at.root !== layout.root && isOurs) rmSync(lockDir(at), { recursive: true, force: true });
      disown(at, owner);
    },
  };
};

type Release = () => Promise<void>;

interface Taking {
  pace: Pace;
  events: LockEvents;
  onLost: () => void;
}

// Who dies on the way leaves an owner without a lock, which the next one takes over; not a lock without an owner.
const take = async (layout: Layout, self: Owner, taking: Taking): Promise<Release> => {
  const { pace, onLost } = taking;
  if (await succeed(layout, self, taking)) {
    const release = await acquire(layout, pace, onLost);
    writeOwner(layout, self);
    return release;
  }
  const stale = pace.stale_ms;
  const isLocked = await lockfile.check(layout.lock, { realpath: false, stale });
  if (isLocked || !claim(layout, self)) throw held(layout, readOwner(layout.owner));
  try {
    return await acquire(layout, pace, onLost);
  } catch (error) {
    disown(layout, self);
    throw error;
  }
};

const disown = (layout: Layout, { token }: Owner): void => {
  if (readOwner(layout.owner)?.token === token) rmSync(layout.owner, { force: true });
};

const ignore = (): void => undefined;

const REMOVED = 'The lock on the workspace was removed';

// A lock beside the own token is the own one. Throws where somebody took the workspace over between two looks.
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
  throw held(layout, readOwner(layout.owner));
};

const lockDir = ({ lock }: Layout): string => `${lock}.lock`;

// While nobody took it over it is ours to have again, by its token: wherever the workspace was meanwhile, whoever
// removed the lock with all of `.dossier/`.
const whyLost = (layout: Layout, { token }: Owner): string | undefined => {
  const { root, dossier, owner } = layout;
  if (!isDirectoryItself(root)) return awayFrom(root);
  if (statsAt(dossier) === undefined) mkdirSync(dossier, { mode: 0o700 });
  const now = readOwner(owner) ?? readOwner(`${owner}.${token}`);
  if (statsAt(owner) === undefined || now?.token === token) return undefined;
  return `${now === undefined ? 'Another process' : nameOf(now)} has the workspace ${root} now. Stop that one, and this one goes on; or stop this one`;
};

// Of another daemon that has died since. Throws, as for one that starts, while that one lives.
const takeBack = async (
  layout: Layout,
  self: Owner,
  taking: Taking,
): Promise<Release | undefined> => {
  const other = readOwner(layout.owner);
  if (other === undefined || other.token === self.token) return undefined;
  return take(layout, self, taking);
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
    if (hasCode(error, 'ELOCKED')) throw held(layout, readOwner(layout.owner));
    throw error;
  }
};

/** The answer of an owner to a challenge. */
export const proofOf = ({ token }: Owner, challenge: string): string =>
  createHmac('sha256', token).update(challenge).digest('hex');

/** The daemon that holds the workspace now, as far as can be told; undefined when none does. */
export const holderOf = (layout: Layout): Owner | undefined => {
  const owner = readOwner(layout.owner);
  if (owner === undefined) return undefined;
  const state = livenessOf(owner);
  const lives = state === 'alive' || (state === 'unknown' && isFresh(beatOf(layout), LOCK_PACE));
  return lives ? owner : undefined;
};

const held = ({ root }: Layout, owner: Owner | undefined, hint = ''): WorkspaceHeldError => {
  const who = owner === undefined ? 'another process' : nameOf(owner);
  const where = owner?.url === undefined ? '' : `, listening on ${owner.url}`;
  return new WorkspaceHeldError(
    `The workspace ${root} is held by ${who}${where}. Stop that one first, or use it.${hint}`,
  );
};

const nameOf = ({ pid, host, since }: Owner): string => `process ${pid} on ${host}, since ${since}`;

/**
 * Takes the place of an owner that is dead, or that nobody can judge from here and that gives no sign of life: its lock
 * is gone then. It has one successor ever, the one that makes the file named after its token; should that one die before
 * it is the owner, its own token names the next. False where nobody was. Throws when somebody lives.
 */
const succeed = async (layout: Layout, self: Owner, taking: Taking): Promise<boolean> => {
  const first = readOwner(layout.owner);
  if (first === undefined) return false;
  let path = layout.owner;
  for (let last: Owner | undefined = first; last !== undefined; last = readOwner(path)) {
    const state = livenessOf(last);
    if (state === 'alive') throw held(layout, last);
    if (state === 'unknown') await untilSilent(layout, { ...taking, last, path });
    path = `${layout.owner}.${last.token}`;
    if (makeOwner(layout, path, self)) return takeOver(layout, first, path);
  }
  // The line was cleared meanwhile: that is done by a new owner only.
  throw held(layout, readOwner(layout.owner));
};

interface Heard extends Taking {
  last: Owner;
  path: string;
}

// One of this machine that may have died a moment ago is waited for, such as a container's that was started again.
const untilSilent = async (layout: Layout, { last, path, pace, events }: Heard): Promise<void> => {
  const first = beatOf(layout, path);
  const since = performance.now();
  if (isNear(last)) events.waits?.(`${nameOf(last)} cannot be seen from here. ${WAITING}`);
  for (;;) {
    const beat = beatOf(layout, path);
    const fresh = isFresh(beat, pace);
    if (beat !== first || (fresh && !isNear(last))) throw held(layout, last, UNSEEN);
    if (!fresh && performance.now() - since >= pace.listen_ms) return;
    await delay(pace.look_ms);
  }
};

const WAITING = 'Waiting for a sign of life of it, 30 s at most';
const UNSEEN =
  ' It cannot be seen from here: should it have ended, the workspace is free 30 s after its last sign of life.';

// A lock is made after its owner's file, and goes before it.
const beatOf = (layout: Layout, path = layout.owner): number => {
  const [lock, file] = [lockDir(layout), path].map((each) => statsAt(each)?.mtimeMs);
  return path === layout.owner ? (lock ?? file ?? 0) : Math.max(lock ?? 0, file ?? 0);
};

const isFresh = (beat: number, { stale_ms }: Pace): boolean => Date.now() - beat < stale_ms;

const takeOver = (layout: Layout, former: Owner, place: string): boolean => {
  const now = readOwner(layout.owner);
  if (now?.token === former.token) {
    rmSync(lockDir(layout), { recursive: true, force: true });
    return true;
  }
  rmSync(place, { force: true });
  throw held(layout, now);
};

// A file that cannot be read is of nobody; one that was made meanwhile is of whoever was first.
const claim = (layout: Layout, self: Owner): boolean => {
  if (readOwner(layout.owner) === undefined) rmSync(layout.owner, { force: true });
  return makeOwner(layout, layout.owner, self);
};

const clearLine = ({ dossier, owner }: Layout): void => {
  const start = `${basename(owner)}.`;
  for (const name of readdirSync(dossier))
    if (name.startsWith(start) || (WRITTEN.test(name) && isLeft(join(dossier, name))))
      rmSync(join(dossier, name), { force: true });
};

const WRITTEN = /^daemon\.[0-9a-f]{8}-[0-9a-f-]{27}$/;
const OLD_MS = 60_000;

// What somebody wrote who died before it was in its place. Whose a torn one is nobody can tell: it goes once it is old.
const isLeft = (path: string): boolean => {
  const writer = readOwner(path);
  if (writer !== undefined) return livenessOf(writer) === 'dead';
  return Date.now() - (statsAt(path)?.mtimeMs ?? Date.now()) > OLD_MS;
};

// One that is torn says nothing.
const readOwner = (path: string): Owner | undefined => {
  const text = orElse(() => readFileSync(path, 'utf8'), '', 'ENOENT');
  return orElse(() => JSON.parse(text) as Owner, undefined);
};

const writeOwner = (layout: Layout, value: Owner): void =>
  renameSync(writeBeside(layout, value), layout.owner);

/** One of several that make the same file wins; it is there with all that it says. */
const makeOwner = (layout: Layout, path: string, value: Owner): boolean => {
  const written = writeBeside(layout, value);
  try {
    return putNew(written, path);
  } finally {
    rmSync(written, { force: true });
  }
};

const writeBeside = ({ dossier }: Layout, value: Owner): string => {
  const path = join(dossier, `daemon.${randomUUID()}`);
  writeFileSync(path, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: 'wx' });
  return path;
};
