import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, extname, isAbsolute } from 'node:path';
import { messageOf, orElse } from '../../store/base/attempt.ts';
import { isAtOrBelow } from '../../store/base/paths.ts';
import { ServiceError } from '../errors.ts';
import type { Environment } from '../tools/process/environment.ts';
import { findProgram } from '../tools/process/find-program.ts';
import { gitConfigMounts } from './git-config.ts';
import { type HomeView, homeView, unseenIn } from './home.ts';
import { bind, hide, isDirectory, isReallyBelow, type Mount, real, socketPaths } from './mounts.ts';
import { nameFor, PASSWD_ARGUMENTS, rootOnlyMounts, USER_ARGUMENTS } from './root-user.ts';
import { seatbeltArguments } from './seatbelt.ts';
import { filterArguments, sessionArguments, withFilter } from './seccomp.ts';

export type SandboxSetting = 'auto' | 'off' | 'seatbelt';

/** A network namespace of its own, whose only connection to the machine is the relay. */
export interface OwnNetwork {
  /** The directory with the sockets of this run; inside it is `NET_DIR`, read-only. */
  dir: string;
  /** The relay's command, which precedes the program's own: absolute paths outside. */
  relay: readonly string[];
}

/** Where `OwnNetwork.dir` is mounted inside. */
export const NET_DIR = '/tmp/.dossier-net';

export interface SandboxView {
  /** The worktree, where the program starts: read-only in Plan mode, writable in Work mode. */
  cwd: string;
  phase: 'plan' | 'work';
  /** Writable in Work mode, read-only in Plan mode: the repository's common git directory. */
  writable: readonly string[];
  /** Empty directories, or files that cannot be opened, even inside a writable directory. A worktree inside one stays visible. */
  hidden: readonly string[];
  /** Writable in both modes: the agent's sessions and settings. Missing directories are created. */
  state?: readonly string[];
  /** Read-only even inside a writable directory (hooks, git configuration), and visible in /tmp. */
  readable?: readonly string[];
  /** `host`: the machine's network with its loopback. Else a network namespace with the relay. */
  network: 'host' | OwnNetwork;
  /** Mounts over other paths, in both modes. */
  binds?: readonly Bind[];
  /** The program shares the operator's terminal, and so stays in its session; see seccomp.ts. */
  terminal?: boolean;
}

/** Mounts a file or directory over another path of the same kind. */
export interface Bind {
  from: string;
  to: string;
  write: boolean;
}

export interface Sandbox {
  readonly kind: 'bubblewrap' | 'none';
  /** Why there is no sandbox, and what to do. */
  readonly reason?: string;
  /** Programs run under macOS' Seatbelt, which is untested: all rules for runs without a sandbox apply. */
  readonly untried?: true;
  /** The argument vector that runs `argv` inside; `argv` itself without a sandbox. */
  wrap(argv: readonly string[], view: SandboxView): string[];
  /** Existing paths in a program's output that the sandbox hides from it. */
  unseen(text: string, view: SandboxView): string[];
}

/** Looked up once, and the same for every run. */
interface Host {
  bwrap: string;
  env: Environment;
  /** Further visible paths from the settings, absolute or beginning with `~/`. */
  readable: readonly string[];
}

/**
 * Creates the sandbox after trying bubblewrap with all arguments of a run. The directories `closed` are empty for every run.
 * Never throws.
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
  const failure = tryOut(host, TRIES);
  if (failure !== undefined) return none(`bubblewrap does not work here: ${failure}.`);
  return {
    kind: 'bubblewrap',
    wrap: (argv, view) => wrapIn(host, argv, { ...view, hidden: [...view.hidden, ...closed] }),
    unseen: (text, view) => unseenIn(text, homeFor(host, [], view), seenIn(view)),
  };
};

const none = (reason: string): Sandbox => ({
  kind: 'none',
  reason,
  wrap: (argv) => [...argv],
  unseen: () => [],
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

// Successful trials, so that a change of the settings does not repeat them.
const worked = new Set<string>();

// A file can be removed before bubblewrap covers it: the next trial lists the files again.
const TRIES = 3;

const tryOut = (host: Host, tries: number): string | undefined => {
  try {
    const [file = '', ...args] = wrapIn(host, ['true'], TRIAL);
    const trial = JSON.stringify([file, args, host.env]);
    if (worked.has(trial)) return undefined;
    const limits = { timeout: 10_000, encoding: 'utf8' } as const;
    const { status, stderr, error } = spawnSync(file, args, { env: host.env, ...limits });
    if (status === 0) {
      worked.add(trial);
      return undefined;
    }
    if (error === undefined && tries > 1) return tryOut(host, tries - 1);
    return stderr?.trim() || error?.message || 'no answer';
  } catch (error) {
    return messageOf(error);
  }
};

const TRIAL: SandboxView = {
  cwd: '/usr',
  phase: 'plan',
  writable: [],
  hidden: [],
  network: { dir: '/usr', relay: [] },
};

const wrapIn = (host: Host, argv: readonly string[], view: SandboxView): string[] => [
  ...nameFor(host.env),
  ...withFilter(),
  ...[
    host.bwrap,
    ...filterArguments(),
    ...viewArguments(host, argv, view),
    ...relayOf(view),
    ...argv,
  ],
];

const TEMP = '/tmp';

const relayOf = ({ network }: SandboxView): readonly string[] =>
  network === 'host' ? [] : network.relay;

const networkOf = ({ network }: SandboxView): string[] =>
  network === 'host' ? [] : ['--unshare-net'];

// The pid namespace ends as a whole with bwrap. Root loses its capabilities and is mapped to another user: without the mapping,
// the agents' own sandboxes would not start.
const FLAGS = [
  ...['--die-with-parent', '--cap-drop', 'ALL', ...USER_ARGUMENTS],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
];

const viewArguments = (host: Host, argv: readonly string[], view: SandboxView): string[] => {
  const home = homeFor(host, argv, view);
  const named = [...host.readable, ...relayOf(view), ...argv];
  const all = inOrder([
    ...mounts(argv, view, home),
    ...gitConfigMounts(shownIn(host.env, view, home)),
  ]);
  return [
    ...[...FLAGS, ...sessionArguments(view.terminal === true), ...networkOf(view)],
    ...['--ro-bind', '/', '/', '--proc', '/proc', ...rootOnlyMounts(host.env, named)],
    ...['--dev', '/dev', '--tmpfs', '/dev/shm', ...PASSWD_ARGUMENTS],
    ...all.flatMap((mount) => mount.arguments),
    ...sealed(all, view, home).flatMap((path) => ['--remount-ro', path]),
    ...['--setenv', 'TMPDIR', TEMP, '--chdir', realpathSync(view.cwd), '--'],
  ];
};

const homeFor = ({ env, readable }: Host, argv: readonly string[], view: SandboxView): HomeView =>
  homeView(env, readable, {
    programs: [...relayOf(view), ...argv],
    network: view.network === 'host',
    given: view.state ?? [],
  });

// Visible paths outside the home view.
const seenIn = ({
  cwd,
  writable,
  readable = [],
  state = [],
  binds = [],
}: SandboxView): string[] => [
  ...[cwd, ...writable, ...readable, ...state],
  ...binds.map(({ to }) => to),
];

/**
 * A mount covers everything below it, so parents come before children: a hidden directory inside a writable one stays hidden,
 * and a worktree inside a hidden one is visible. On the same path the later mount in this list wins. /tmp is private and
 * empty except for files that the program needs: those named in argv, the worktree and the repository.
 */
const mounts = (argv: readonly string[], view: SandboxView, home: HomeView): Mount[] => {
  const { cwd, phase, writable, state = [], readable = [], hidden, binds = [] } = view;
  const own = phase === 'work' ? '--bind' : '--ro-bind';
  const outside = phase === 'work' ? state : state.filter((path) => !isReallyBelow(path, cwd));
  const laid = binds
    .filter(({ from, to }) => isDirectory(from) && !isCovered(to, home))
    .map(({ to }) => to);
  const unseen = real(hidden);
  const isSeen = (path: string): boolean =>
    isAtOrBelow(path, cwd) || !unseen.some((place) => isAtOrBelow(path, place));
  makeMissing([...state.filter((path) => !wouldLieIn(cwd, path)), ...laid]);
  return [
    { path: TEMP, arguments: ['--tmpfs', TEMP] },
    ...home.mounts,
    ...doors(home).filter(isSeen).map(hide),
    ...bind('--ro-bind', [...relayOf(view), ...argv].filter(isInTemp)),
    ...(view.network === 'host' ? [] : [bindAt(NET_DIR, view.network.dir)]),
    ...bind(own, writable),
    ...bind('--bind', outside),
    ...bind(
      '--ro-bind',
      readable.filter((path) => !holds(path, home.hidden)),
    ),
    ...unseen.map(hide),
    ...bind(own, [cwd]),
    ...binds.map(lay),
  ];
};

const inOrder = (all: readonly Mount[]): Mount[] =>
  all.toSorted((a, b) => a.path.length - b.path.length);

const shownIn = (env: Environment, view: SandboxView, home: HomeView) => {
  const seen = seenIn({ ...view, binds: [] });
  return {
    env,
    places: [...seen.map((path) => ({ from: path, to: path })), ...(view.binds ?? [])],
    isSeen: (path: string) =>
      !isCovered(path, home) ||
      [...home.shown, ...real(seen)].some((one) => isAtOrBelow(path, one)),
  };
};

/**
 * Creates missing state directories: the home directory is read-only inside, so an agent could not, and would lose its
 * session. A name with an extension is a file, which is not created, because only the agent knows its content.
 */
const makeMissing = (state: readonly string[]): void => {
  // On an error the agent fails too, and reports it.
  for (const path of state.filter((path) => extname(path) === '' && !existsSync(path)))
    orElse(() => mkdirSync(path, { recursive: true, mode: 0o700 }), undefined);
};

const wouldLieIn = (cwd: string, path: string): boolean => {
  const place = realpathSync(nearest(path));
  return place === realpathSync(cwd) || isReallyBelow(place, cwd);
};

const nearest = (path: string): string => (existsSync(path) ? path : nearest(dirname(path)));

const bindAt = (path: string, source: string): Mount => ({
  path,
  arguments: ['--ro-bind', realpathSync(source), path],
});

const lay = ({ from, to, write }: Bind): Mount => {
  const path = existsSync(to) ? realpathSync(to) : to;
  return { path, arguments: [write ? '--bind' : '--ro-bind', from, path] };
};

// A repository that is or contains the home directory does not make it visible.
const holds = (path: string, hidden: readonly string[]): boolean =>
  real([path]).some((place) => hidden.some((one) => isAtOrBelow(one, place)));

// Visible sockets, which are hidden one by one; those in a hidden directory already are.
const doors = ({ hidden, shown }: HomeView): string[] =>
  socketPaths().filter(
    (path) => !isCovered(path, { hidden }) || shown.some((place) => isAtOrBelow(path, place)),
  );

// In an empty directory of the sandbox, where bubblewrap can create mount points.
const isCovered = (path: string, { hidden }: Pick<HomeView, 'hidden'>): boolean =>
  [TEMP, ...hidden].some((place) => isAtOrBelow(path, place));

// Remounted read-only: a write into a hidden directory must fail, not get lost with the sandbox.
const sealed = (all: readonly Mount[], { hidden }: SandboxView, home: HomeView): string[] => {
  const last = new Map(all.map((mount) => [mount.path, mount.arguments[0]]));
  return [...home.hidden, ...real(hidden)].filter((path) => last.get(path) === '--tmpfs');
};

const isInTemp = (argument: string): boolean =>
  isAbsolute(argument) && isReallyBelow(argument, TEMP);

/** A service with the sandbox of the current settings. */
export interface WithSandbox {
  readonly sandbox: () => Sandbox;
}
