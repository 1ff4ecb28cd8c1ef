import { existsSync, readFileSync } from 'node:fs';
import { orElse } from '../../store/base/attempt.ts';
import { detectCgroups } from '../tools/process/cgroups.ts';

/** Detects what the sandbox depends on: platform, user, /proc, namespaces and cgroups. Never throws. */
export const detectCapabilities = () => ({
  platform: process.platform,
  uid: process.getuid?.(),
  proc: existsSync('/proc/self/fd'),
  container: isContainer(),
  namespaces: mayMakeNamespaces(),
  cgroups: detectCgroups(),
});

const isContainer = (): boolean =>
  ['/.dockerenv', '/run/.containerenv'].some((path) => existsSync(path)) ||
  /(?:^|\0)container=/.test(text('/proc/1/environ'));

const mayMakeNamespaces = (): boolean | undefined => {
  const switches = [
    text('/proc/sys/user/max_user_namespaces').trim() === '0',
    text('/proc/sys/kernel/unprivileged_userns_clone').trim() === '0',
    text('/proc/sys/kernel/apparmor_restrict_unprivileged_userns').trim() === '1',
  ];
  if (!existsSync('/proc/sys/user/max_user_namespaces')) return undefined;
  return !switches.includes(true);
};

const text = (path: string): string => orElse(() => readFileSync(path, 'latin1'), '');
