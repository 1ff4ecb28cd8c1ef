import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import lockfile from 'proper-lockfile';
import { hasCode } from './durable.ts';
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
  const judged = readOwner(layout);
  if (judged !== undefined && judge(judged.owner) === 'alive') throw held(layout, judged.owner);
  if (judged !== undefined && judge(judged.owner) === 'dead') bury(layout, judged.text);
  const owner = describeSelf();
  let release = await acquire(layout, () => compromised());
  writeOwner(layout, owner);

  const compromised = (): void => {
    events.lost();
    const retry = setInterval(() => {
      if (readOwner(layout)?.owner.token !== owner.token) return;
      acquire(layout, compromised).then((again) => {
        clearInterval(retry);
        release = again;
        events.regained();
      }, ignore);
    }, UPDATE_MS);
    retry.unref();
  };

  return {
    tell: (url) => writeOwner(layout, { ...owner, url }),
    release: async () => {
      if (readOwner(layout)?.owner.token === owner.token) rmSync(layout.owner, { force: true });
      await release().catch(ignore);
    },
  };
};

const ignore = (): void => undefined;

const acquire = async (layout: Layout, onCompromised: () => void): Promise<() => Promise<void>> => {
  try {
    return await lockfile.lock(layout.lock, {
      realpath: false,
      stale: STALE_MS,
      update: UPDATE_MS,
      onCompromised,
    });
  } catch (error) {
    if (hasCode(error, 'ELOCKED')) throw held(layout, readOwner(layout)?.owner);
    throw error;
  }
};

/** The daemon that holds the workspace now, as far as can be told; undefined when none does. */
export const holderOf = (layout: Layout): Owner | undefined => {
  const owner = readOwner(layout)?.owner;
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

const readOwner = ({ owner }: Layout): { owner: Owner; text: string } | undefined => {
  try {
    const text = readFileSync(owner, 'utf8');
    return { owner: JSON.parse(text) as Owner, text };
  } catch (error) {
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return undefined;
    throw error;
  }
};

// By rename: nobody reads half of it, and nothing is written through a link.
const writeOwner = ({ owner }: Layout, value: Owner): void => {
  const temporary = `${owner}.${randomUUID()}`;
  writeFileSync(temporary, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(temporary, owner);
};

// Whoever moves the dead owner's own bytes away may remove its lock; a newer owner's file is put back.
const bury = (layout: Layout, judged: string): void => {
  const grave = `${layout.owner}.${randomUUID()}`;
  try {
    renameSync(layout.owner, grave);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  if (readFileSync(grave, 'utf8') === judged) {
    rmSync(`${layout.lock}.lock`, { recursive: true, force: true });
    rmSync(grave);
  } else {
    renameSync(grave, layout.owner);
  }
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
