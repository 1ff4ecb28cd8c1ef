import { spawnSync } from 'node:child_process';
import { messageOf, orElse } from '../../store/base/attempt.ts';
import { bubblewrapCommand, FLAGS, type Host } from './bubblewrap.ts';
import { filterArguments, withFilter } from './seccomp.ts';
import type { SandboxView } from './view.ts';

// Successful trials, so that a change of the settings does not repeat them.
const worked = new Set<string>();

// A file can be removed before bubblewrap covers it: the next trial lists the files again.
const TRIES = 3;

/** Why a run would not start; undefined if it would. */
export const failureOf = (host: Host, tries = TRIES): string | undefined => {
  try {
    const argv = bubblewrapCommand(host, ['true'], TRIAL);
    const trial = JSON.stringify([argv, host.env]);
    if (worked.has(trial)) return undefined;
    const { failure, isAnswer } = outcomeOf(argv, host);
    if (failure === undefined) worked.add(trial);
    return isAnswer && failure !== undefined && tries > 1 ? failureOf(host, tries - 1) : failure;
  } catch (error) {
    return messageOf(error);
  }
};

// What the kernel has to allow for every run, of paths that every system has.
const BARE = [
  ...['--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'],
  ...['--tmpfs', '/dev/shm', '--'],
];

/** Why the machine allows no sandbox, whatever is shown in it; undefined if it does, or did not answer. */
export const refusalOf = (host: Host): string | undefined => {
  const filter = orElse(withFilter, undefined);
  if (filter === undefined) return undefined;
  const argv = [...filter, host.bwrap, ...filterArguments(), ...FLAGS, ...BARE, 'true'];
  const { failure, isAnswer } = outcomeOf(argv, host);
  return isAnswer ? failure : undefined;
};

const outcomeOf = ([file = '', ...args]: readonly string[], { env }: Host) => {
  const limits = { timeout: 10_000, encoding: 'utf8' } as const;
  const { status, stderr, error } = spawnSync(file, args, { env, ...limits });
  const failure = status === 0 ? undefined : stderr?.trim() || error?.message || 'no answer';
  return { failure, isAnswer: status !== null };
};

const TRIAL: SandboxView = {
  cwd: '/usr',
  phase: 'plan',
  writable: [],
  hidden: [],
  network: { dir: '/usr', relay: [] },
};
