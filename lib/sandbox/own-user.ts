import { lstatSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../../base/or-else.ts';
import { entriesOf } from '../tools/git/run/plain-file.ts';
import type { Environment } from '../tools/process/environment.ts';
import { bind, hide, real } from './mounts.ts';

const ID = '1000';
const isRoot = process.getuid?.() === 0;

/** For bubblewrap: who is root outside is somebody else inside, and what root owns is theirs. Others stay who they are. */
export const OWN_USER: readonly string[] = isRoot
  ? ['--unshare-user', '--uid', ID, '--gid', ID]
  : [];

/** What `nameFor` handed over, laid over the system's own. */
export const OWN_NAME: readonly string[] = isRoot ? ['--ro-bind-data', '9', '/etc/passwd'] : [];

/**
 * Who is root outside owns the kernel's files in any namespace: a program named in core_pattern would run outside, as
 * root. For others they are shut already, and covering them would keep an agent's own sandbox from having a /proc.
 */
export const kernelFiles = (): string[] => {
  if (!isRoot) return [];
  const seen = ['sys', 'irq', 'bus', 'fs', 'acpi', 'scsi'].map((name) => `/proc/${name}`);
  const shut = ['sysrq-trigger', 'kcore', 'keys', 'mtrr'].map((name) => `/proc/${name}`);
  const all = [...real(shut), ...SYSTEM.flatMap(([dir, depth]) => rootsOwn(dir, depth))];
  return [...bind('--ro-bind', seen), ...all.map(hide)].flatMap((one) => one.arguments);
};

/** Where the system keeps what root alone may read, and how deep: shadow, host keys, logs. */
const SYSTEM: readonly [dir: string, depth: number][] = [
  ['/etc', 4],
  ['/var', 0],
  ['/var/lib', 0],
  ['/var/log', 1],
  ['/var/spool', 1],
  ['/var/cache', 0],
];

// Without a capability root inside still is who it is outside. It is to see what every user sees.
const rootsOwn = (dir: string, depth: number): string[] =>
  entriesOf(dir).flatMap(({ name, kind }) => {
    const path = join(dir, name);
    const found = kind === 'else' ? undefined : lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return [];
    if (isShut(found)) return [path];
    return kind === 'directory' && depth > 0 ? rootsOwn(path, depth - 1) : [];
  });

const isShut = (found: Stats): boolean => {
  const needed = found.isDirectory() ? 0o005 : 0o004;
  return (found.mode & needed) !== needed && (found.uid === 0 || found.gid === 0);
};

/** Goes before bubblewrap and hands it the names of users: programs stop whose user has none. */
export const nameFor = ({ HOME = '/' }: Environment): string[] =>
  isRoot ? ['/bin/sh', '-c', SCRIPT, 'sh', `${others()}agent:x:${ID}:${ID}::${HOME}:/bin/sh`] : [];

const SCRIPT = 'names=$1; shift; exec "$@" 9<<EOF\n$names\nEOF\n';

const others = (): string => {
  const lines = orElse(() => readFileSync('/etc/passwd', 'utf8'), '').split('\n');
  const kept = lines.filter((line) => line !== '' && line.split(':')[2] !== ID);
  return kept.map((line) => `${line}\n`).join('');
};
