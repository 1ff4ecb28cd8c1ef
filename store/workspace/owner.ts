import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { orElse } from '../base/attempt.ts';
import { hasCode } from '../fs/durable.ts';

/** Who holds the workspace: enough to tell whether that process is still alive, where it can be seen from here. */
export interface Owner {
  token: string;
  pid: number;
  started: string;
  boot: string;
  /** Its process namespace: a number says who somebody is in there alone. Empty where none can be told. */
  namespace?: string;
  host: string;
  since: string;
  url?: string;
  /** The path of the socket that it listens on besides, if it does. */
  socket?: string;
  /** The state directory that it keeps decisions in. */
  state?: string;
}

export const describeSelf = (): Owner => ({
  token: randomUUID(),
  pid: process.pid,
  started: startTimeOf(process.pid) ?? '',
  boot: bootId(),
  namespace: namespace(),
  host: hostname(),
  since: new Date().toISOString(),
});

/**
 * Whether an owner lives. Of one in another process namespace, on another machine, or before another start of this one,
 * only what is seen alive is known: else the heartbeat of the lock has to tell. The name of a namespace is given again
 * once that one is gone, so within one start of the machine it is either the same one or its owner is dead.
 */
export const livenessOf = (owner: Owner): 'alive' | 'dead' | 'unknown' => {
  const isHere = owner.host === hostname() && owner.boot === bootId();
  const place = namespace();
  if (isHere && place !== '' && owner.namespace === place) return isAlive(owner) ? 'alive' : 'dead';
  return owner.boot === bootId() && isSeenBelow(owner) ? 'alive' : 'unknown';
};

/** By all that it says of itself, it is, or was, on this machine. */
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

// From the outer namespace the processes of an inner one are seen, under other numbers.
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

/** In clock ticks since boot: with it a process id that was given to another process is told apart. A zombie is dead. */
const startTimeOf = (pid: number | string): string | undefined => {
  const stat = textOf(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return fields[0] === 'Z' ? undefined : fields[19];
};

const bootId = (): string => textOf('/proc/sys/kernel/random/boot_id')?.trim() ?? '';

// Where /proc is another namespace's, or there is none on a system that has them, numbers say nothing. Other systems have
// one for all.
const namespace = (): string => {
  if (process.platform !== 'linux') return process.platform;
  return linkAt('/proc/self') === `${process.pid}` ? (linkAt('/proc/self/ns/pid') ?? '') : '';
};

const textOf = (path: string): string | undefined =>
  orElse(() => readFileSync(path, 'utf8'), undefined);
const linkAt = (path: string): string | undefined => orElse(() => readlinkSync(path), undefined);
const namesIn = (path: string): string[] => orElse(() => readdirSync(path), []);
