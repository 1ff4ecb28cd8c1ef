import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isDone, messageOf, orElse } from '../../store/base/attempt.ts';
import { ServiceError } from '../errors.ts';
import type { Environment } from '../tools/process/environment.ts';
import { findProgram } from '../tools/process/find-program.ts';
import { bubblewrapCommand, FLAGS, type Host, unseenPaths } from './bubblewrap.ts';
import { limitsIn } from './explain.ts';
import { seatbeltArguments } from './seatbelt.ts';
import { filterArguments, withFilter } from './seccomp.ts';
import type { SandboxView } from './view.ts';

export type SandboxSetting = 'auto' | 'off' | 'seatbelt';

export interface Sandbox {
  readonly kind: 'bubblewrap' | 'none';
  /** Why there is no sandbox, or why it starts nothing at present, and what to do. */
  readonly reason?: string | undefined;
  /** Programs run under macOS' Seatbelt, which is untested: all rules for runs without a sandbox apply. */
  readonly untried?: true;
  /** The argument vector that runs `argv` inside; `argv` itself without a sandbox. */
  wrap(argv: readonly string[], view: SandboxView): string[];
  /** What a failed program met in the sandbox, by its output, and the setting that changes it: clauses without a full stop. */
  explain(text: string, view: SandboxView): string[];
  /** Finds existing paths in texts that are hidden inside. */
  hides(view: SandboxView): (text: string) => string[];
}

/**
 * Creates the sandbox after trying bubblewrap with all arguments of a run. The directories `closed` are empty for every run.
 * Never throws. There is none only where the machine allows none: where the trial failed otherwise, `wrap` tries again and
 * throws `provider_failed` until it succeeds, so that nothing runs outside.
 */
export const createSandbox = (
  setting: SandboxSetting,
  env: Environment,
  readable: readonly string[] = [],
  closed: readonly string[] = [],
): Sandbox => {
  if (setting === 'off') return none('The sandbox is turned off in the settings.');
  if (setting === 'seatbelt') return seatbelt(env, readable);
  const bwrap = findProgram('bwrap', env);
  if (bwrap === undefined)
    return none('bubblewrap is not installed. Install the package bubblewrap.');
  const host = { bwrap, env, readable };
  let failure = failureOf(host);
  if (failure !== undefined && refusalOf(host) !== undefined)
    return none(`bubblewrap does not work here: ${failure}.`);
  return {
    kind: 'bubblewrap',
    get reason() {
      return failure === undefined ? undefined : unprepared(failure);
    },
    wrap: (argv, view) => {
      if (failure !== undefined) failure = failureOf(host);
      if (failure !== undefined) throw new ServiceError('provider_failed', unprepared(failure));
      return bubblewrapCommand(host, argv, { ...view, hidden: [...view.hidden, ...closed] });
    },
    hides: (view) => unseenPaths(host, view),
    explain: (text, view) => [...hiddenIn(unseenPaths(host, view)(text)), ...limitsIn(text, view)],
  };
};

const hiddenIn = (paths: readonly string[]): string[] =>
  paths.length === 0
    ? []
    : [`hidden by the sandbox: ${paths.join(', ')}; add it to sandbox_readable in workspace.md`];

const none = (reason: string): Sandbox => ({
  kind: 'none',
  reason,
  wrap: (argv) => [...argv],
  explain: () => [],
  hides: () => () => [],
});

/** The macOS sandbox. `platform` is replaced in tests. */
export const seatbelt = (
  env: Environment,
  readable: readonly string[],
  platform: NodeJS.Platform = process.platform,
): Sandbox =>
  platform === 'darwin'
    ? {
        ...none('Seatbelt is untested, so the rules for runs without a sandbox apply.'),
        untried: true,
        wrap: (argv, view) => seatbeltArguments(argv, view, { env, readable }),
      }
    : {
        ...none(NOT_HERE),
        // Never fall back to no sandbox.
        wrap: () => {
          throw new ServiceError('provider_failed', NOT_HERE);
        },
      };

const NOT_HERE =
  'sandbox: seatbelt needs macOS, so nothing is started. Set sandbox: auto in workspace.md and install bubblewrap.';

const unprepared = (failure: string): string =>
  `The sandbox could not be prepared: ${failure}. Nothing starts until it can: each start tries again. To run without one, set sandbox: off in workspace.md.`;

/** A service with the sandbox of the current settings. */
export interface WithSandbox {
  readonly sandbox: () => Sandbox;
}

// Successful trials, so that a change of the settings does not repeat them.
const worked = new Set<string>();

// A file can be removed before bubblewrap covers it: the next trial lists the files again.
const TRIES = 3;

/** Why a run would not start; undefined if it would. */
const failureOf = (host: Host, tries = TRIES): string | undefined => {
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

/** Why the machine allows no sandbox, whatever is shown in it; undefined if it does, did not answer, or lacks resources now. */
const refusalOf = (host: Host): string | undefined => {
  const filter = orElse(withFilter, undefined);
  if (filter === undefined) return undefined;
  const argv = [...filter, host.bwrap, ...filterArguments(), ...FLAGS, ...BARE, 'true'];
  const { failure = '', isAnswer } = outcomeOf(argv, host);
  if (failure === '' || !isAnswer || PASSING.test(failure)) return undefined;
  // bubblewrap did not begin where the shell could not open its filter.
  const [, , , file] = filter;
  return file === undefined || isDone(() => readFileSync(file)) ? failure : undefined;
};

// EAGAIN, ENOMEM, EMFILE, ENFILE and EIO. A limit of 0 namespaces is ENOSPC.
const PASSING =
  /Resource temporarily unavailable|Cannot allocate memory|Too many open files|Input\/output error/;

const outcomeOf = ([file = '', ...args]: readonly string[], { env }: Host) => {
  const limits = { timeout: 10_000, encoding: 'utf8' } as const;
  // bubblewrap translates the errors of the system.
  const plain = { ...env, LC_ALL: 'C' };
  const { status, stderr, error } = spawnSync(file, args, { env: plain, ...limits });
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
