import { randomUUID } from 'node:crypto';
import {
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { hasCode, orElse } from '../base/attempt.ts';
import { placeNew } from '../fs/place.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import type { Layout } from '../layout.ts';

/** The process that holds the workspace, with enough to tell whether it is alive, if it is visible from here. */
export interface Owner {
  token: string;
  pid: number;
  started: string;
  boot: string;
  /** Its process namespace, in which `pid` is valid. Empty if unknown. */
  namespace?: string;
  host: string;
  since: string;
  url?: string;
  /** The path of the Unix socket that it listens on, if any. */
  socket?: string;
  /** The workspace, and the device and inode of that directory, by which a copy of it is recognized. */
  root?: string;
  directory?: string;
  /** Its state directory, which has the operator's decisions. */
  state?: string;
}

/** The owner that a file names; undefined if there is no file, or it is torn or names none. */
export const readOwner = (path: string): Owner | undefined => {
  const text = orElse(() => readFileSync(path, 'utf8'), '', 'ENOENT', 'ENOTDIR');
  const found = orElse(() => JSON.parse(text) as Partial<Owner> | null, undefined);
  const { token, pid, started, boot, host } = found ?? {};
  const isOwner =
    Number.isInteger(pid) && [token, started, boot, host].every((each) => typeof each === 'string');
  return isOwner ? (found as Owner) : undefined;
};

export const describeSelf = (root: string): Owner => ({
  ...placeOf(root),
  token: randomUUID(),
  pid: process.pid,
  started: startTimeOf(process.pid) ?? '',
  boot: bootId(),
  namespace: namespace(),
  host: hostname(),
  since: new Date().toISOString(),
});

/**
 * Whether an owner is alive. In another process namespace, on another machine or before a reboot, a process that is not
 * visible is 'unknown', and the heartbeat of the lock decides. The kernel reuses the name of a namespace only after its end,
 * so within one boot the same name means the same namespace, or a dead owner.
 */
export const livenessOf = (owner: Owner): 'alive' | 'dead' | 'unknown' => {
  const isHere = owner.host === hostname() && owner.boot === bootId();
  const place = namespace();
  if (isHere && place !== '' && owner.namespace === place) return isAlive(owner) ? 'alive' : 'dead';
  return owner.boot === bootId() && isSeenBelow(owner) ? 'alive' : 'unknown';
};

const placeOf = (root: string): Pick<Owner, 'root' | 'directory'> => {
  const directory = identityOf(root);
  return directory === undefined ? {} : { root: realpathSync(root), directory };
};

/**
 * The same for the owner of the workspace at `root`. One whose file came here with a copy of its workspace counts as dead: its
 * directory is still at its place, and is another one. A directory that was moved is the same.
 */
export const livenessAt = (root: string, owner: Owner): ReturnType<typeof livenessOf> =>
  isOfOriginal(root, owner) ? 'dead' : livenessOf(owner);

/** Whether the directory of the workspace is the one that its owner started on, as far as known. */
export const isAtPlace = ({ root }: { root: string }, { directory }: Owner): boolean =>
  directory === undefined || identityOf(root) === directory;

const isOfOriginal = (root: string, owner: Owner): boolean =>
  owner.root !== undefined &&
  owner.directory !== undefined &&
  identityOf(owner.root) === owner.directory &&
  identityOf(root) !== owner.directory;

const identityOf = (path: string): string | undefined =>
  orElse(() => {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  }, undefined);

/** Whether the owner is, or was, on this machine, by host name or boot id. */
export const isNear = ({ host, boot }: Owner): boolean => host === hostname() || boot === bootId();

const isAlive = ({ pid, started }: Owner): boolean =>
  started === '' ? answersSignal(pid) : startTimeOf(pid) === started;

const answersSignal = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
};

// An outer namespace sees the processes of an inner one under other pids.
const isSeenBelow = ({ pid, started, namespace: theirs = '' }: Owner): boolean =>
  theirs !== '' &&
  namesIn('/proc').some(
    (name) =>
      /^\d+$/.test(name) &&
      linkAt(`/proc/${name}/ns/pid`) === theirs &&
      startTimeOf(name) === started &&
      innermostId(name) === `${pid}`,
  );

const innermostId = (pid: string): string | undefined =>
  /^NSpid:.*\s(\d+)$/m.exec(textOf(`/proc/${pid}/status`) ?? '')?.[1];

/** Start time in clock ticks since boot, which detects a reused pid. Undefined for a zombie, which counts as dead. */
const startTimeOf = (pid: number | string): string | undefined => {
  const stat = textOf(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return fields[0] === 'Z' ? undefined : fields[19];
};

const bootId = (): string => textOf('/proc/sys/kernel/random/boot_id')?.trim() ?? '';

// Empty on Linux if /proc is missing or belongs to another namespace, where pids are meaningless. Other systems have one
// namespace.
const namespace = (): string => {
  if (process.platform !== 'linux') return process.platform;
  return linkAt('/proc/self') === `${process.pid}` ? (linkAt('/proc/self/ns/pid') ?? '') : '';
};

const textOf = (path: string): string | undefined =>
  orElse(() => readFileSync(path, 'utf8'), undefined);
const linkAt = (path: string): string | undefined => orElse(() => readlinkSync(path), undefined);
const namesIn = (path: string): string[] => orElse(() => readdirSync(path), []);

/** Writes the file that names the owner of a workspace. Replaces an existing one. */
export const writeOwner = (layout: Layout, value: Owner): void =>
  renameSync(writeBeside(layout, value), layout.owner);

/** Creates an owner's file atomically; returns false if another process created it first. */
export const makeOwner = (layout: Layout, path: string, value: Owner): boolean => {
  const written = writeBeside(layout, value);
  try {
    return placeNew(written, path);
  } finally {
    unlinkIfThere(written);
  }
};

const writeBeside = ({ dossier }: Layout, value: Owner): string => {
  const path = join(dossier, `daemon.${randomUUID()}`);
  writeFileSync(path, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: 'wx' });
  return path;
};
