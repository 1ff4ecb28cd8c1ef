import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import lockfile from 'proper-lockfile';
import { hasCode } from './disk/durable.ts';
import { putNew } from './disk/placing.ts';
import { statsAt } from './disk/plain-path.ts';
import type { Layout } from './layout.ts';

/** Who holds the workspace: enough to tell whether that process is still alive, on this boot of this machine. */
export interface Owner {
  token: string;
  pid: number;
  started: string;
  boot: string;
  host: string;
  since: string;
  url?: string;
}

export interface DaemonLock {
  /** Adds where the daemon listens, for whoever meets the lock. */
  tell(url: string): void;
  release(): Promise<void>;
}

interface LockEvents {
  /** Another process took the lock (the machine slept, somebody removed it): write nothing. */
  lost: () => void;
  regained: () => void;
}

export class WorkspaceHeldError extends Error {
  override readonly name = 'WorkspaceHeldError';
}

const STALE_MS = 30_000;
const UPDATE_MS = 5_000;

/**
 * One daemon per workspace. Throws WorkspaceHeldError, naming the process, when another holds it. A lock whose process
 * is dead is taken over at once; of several that try, one wins.
 */
export const lockWorkspace = async (layout: Layout, events: LockEvents): Promise<DaemonLock> => {
  const owner = describeSelf();
  let retry: NodeJS.Timeout | undefined;
  let released = false;
  let release = await take(layout, owner, () => compromised());
  clearLine(layout);

  const compromised = (): void => {
    if (released) return;
    events.lost();
    const regain = async (): Promise<void> => {
      if (released || !mayRegain(layout, owner)) return;
      release = await acquire(layout, compromised);
      if (readOwner(layout.owner) === undefined) claim(layout, owner);
      clearInterval(retry);
      events.regained();
    };
    retry = setInterval(() => void regain().catch(ignore), UPDATE_MS);
    retry.unref();
    regain().catch(ignore);
  };

  return {
    tell: (url) => writeOwner(layout, { ...owner, url }),
    // The owner goes last: a lock without one says of nobody that he is dead.
    release: async () => {
      released = true;
      clearInterval(retry);
      await release().catch(ignore);
      disown(layout, owner);
    },
  };
};

type Release = () => Promise<void>;

// Who dies on the way leaves an owner without a lock, which the next one takes over; not a lock without an owner.
const take = async (layout: Layout, self: Owner, onLost: () => void): Promise<Release> => {
  if (succeed(layout, self) !== undefined) {
    const release = await acquire(layout, onLost);
    writeOwner(layout, self);
    return release;
  }
  const { lock } = layout;
  const isLocked = await lockfile.check(lock, { realpath: false, stale: STALE_MS });
  if (isLocked || !claim(layout, self)) throw held(layout, readOwner(layout.owner));
  try {
    return await acquire(layout, onLost);
  } catch (error) {
    disown(layout, self);
    throw error;
  }
};

const disown = (layout: Layout, { token }: Owner): void => {
  if (readOwner(layout.owner)?.token === token) rmSync(layout.owner, { force: true });
};

const ignore = (): void => undefined;

// Nobody took it over: the lock is stale, or somebody removed it with all of `.dossier/`. The workspace stands.
const mayRegain = ({ dossier, owner }: Layout, { token }: Owner): boolean => {
  if (statsAt(dossier) === undefined) mkdirSync(dossier, { mode: 0o700 });
  return statsAt(owner) === undefined || readOwner(owner)?.token === token;
};

const acquire = async (layout: Layout, onCompromised: () => void): Promise<Release> => {
  try {
    return await lockfile.lock(layout.lock, {
      realpath: false,
      stale: STALE_MS,
      update: UPDATE_MS,
      onCompromised,
    });
  } catch (error) {
    if (hasCode(error, 'ELOCKED')) throw held(layout, readOwner(layout.owner));
    throw error;
  }
};

/** The daemon that holds the workspace now, as far as can be told; undefined when none does. */
export const holderOf = (layout: Layout): Owner | undefined => {
  const owner = readOwner(layout.owner);
  return owner === undefined || judge(owner) === 'dead' ? undefined : owner;
};

const held = ({ root }: Layout, owner: Owner | undefined): WorkspaceHeldError => {
  const who =
    owner === undefined
      ? 'another process'
      : `process ${owner.pid} on ${owner.host}, since ${owner.since}`;
  const where = owner?.url === undefined ? '' : `, listening on ${owner.url}`;
  return new WorkspaceHeldError(
    `The workspace ${root} is held by ${who}${where}. Stop that one first, or use it.`,
  );
};

/**
 * Whose place this process takes: an owner that nobody can judge from here, or a dead one, whose lock is then gone. A
 * dead owner has one successor ever, the one that makes the file named after its token; should that one die before it
 * is the owner, its own token names the next. Undefined where nobody was. Throws when somebody lives.
 */
const succeed = (layout: Layout, self: Owner): Owner | undefined => {
  const first = readOwner(layout.owner);
  for (let last = first; last !== undefined; ) {
    const state = judge(last);
    if (state === 'unknown') return first;
    if (state === 'alive') throw held(layout, last);
    const place = `${layout.owner}.${last.token}`;
    if (makeOwner(layout, place, self)) return takeOver(layout, first, place);
    last = readOwner(place);
  }
  // The line was cleared meanwhile: that is done by a new owner only.
  if (first !== undefined) throw held(layout, readOwner(layout.owner));
  return undefined;
};

const takeOver = (layout: Layout, dead: Owner | undefined, place: string): Owner | undefined => {
  const now = readOwner(layout.owner);
  if (now?.token === dead?.token) {
    rmSync(`${layout.lock}.lock`, { recursive: true, force: true });
    return dead;
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
  if (writer !== undefined) return judge(writer) === 'dead';
  return Date.now() - (statsAt(path)?.mtimeMs ?? Date.now()) > OLD_MS;
};

const readOwner = (path: string): Owner | undefined => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner;
  } catch (error) {
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return undefined;
    throw error;
  }
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

const describeSelf = (): Owner => ({
  token: randomUUID(),
  pid: process.pid,
  started: startTimeOf(process.pid) ?? '',
  boot: bootId(),
  host: hostname(),
  since: new Date().toISOString(),
});

// Of a process on another machine nobody here can tell: there the heartbeat of the lock itself decides.
const judge = (owner: Owner): 'alive' | 'dead' | 'unknown' => {
  if (owner.host !== hostname()) return 'unknown';
  if (owner.boot !== bootId()) return 'dead';
  const alive =
    owner.started === '' ? answersSignal(owner.pid) : startTimeOf(owner.pid) === owner.started;
  return alive ? 'alive' : 'dead';
};

const answersSignal = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
};

/** In clock ticks since boot: with it a process id that was given to another process is told apart. A zombie is dead. */
const startTimeOf = (pid: number): string | undefined => {
  const stat = readOptional(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return fields[0] === 'Z' ? undefined : fields[19];
};

const bootId = (): string => readOptional('/proc/sys/kernel/random/boot_id')?.trim() ?? '';

const readOptional = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};
