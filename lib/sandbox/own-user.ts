import { readFileSync } from 'node:fs';
import { delimiter, isAbsolute } from 'node:path';
import { orElse } from '../../store/base/attempt.ts';
import type { Environment } from '../tools/process/environment.ts';
import { bind, hide, real } from './mounts.ts';
import { rootOnly, shownAgain } from './root-only.ts';

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
 * root. For others they are shut already, and covering them would keep an agent's own sandbox from having a /proc. Without a
 * capability root inside still is who it is outside: it is to see what every user sees, the programs of PATH and what is named.
 */
export const kernelFiles = ({ PATH = '' }: Environment, named: readonly string[]): string[] => {
  if (!isRoot) return [];
  const seen = ['sys', 'irq', 'bus', 'fs', 'acpi', 'scsi'].map((name) => `/proc/${name}`);
  const shut = ['sysrq-trigger', 'kcore', 'keys', 'mtrr'].map((name) => `/proc/${name}`);
  const needed = [process.execPath, ...PATH.split(delimiter), ...named].filter(isAbsolute);
  const everyNeeded = [...needed, ...real(needed)];
  const all = [...real(shut), ...rootOnly(everyNeeded)];
  const again = shownAgain(everyNeeded).flatMap((path) => ['--ro-bind-try', path, path]);
  return [
    ...[...bind('--ro-bind', seen), ...all.map(hide)].flatMap((one) => one.arguments),
    ...again,
  ];
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
