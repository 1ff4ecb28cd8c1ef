import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, extname, isAbsolute } from 'node:path';
import { isAtOrBelow } from '../../store/base/at-or-below.ts';
import { messageOf } from '../../store/base/message-of.ts';
import { orElse } from '../../store/base/or-else.ts';
import { ServiceError } from '../errors.ts';
import type { Environment } from '../tools/process/environment.ts';
import { findProgram } from '../tools/process/find-program.ts';
import { settingsMounts } from './git-config.ts';
import { type HomeView, homeView, unseenIn } from './home.ts';
import { bind, hide, isDirectory, isReallyBelow, type Mount, real, socketPaths } from './mounts.ts';
import { kernelFiles, nameFor, OWN_NAME, OWN_USER } from './root-user.ts';
import { seatbeltArguments } from './seatbelt.ts';
import { filterArguments, withFilter } from './seccomp.ts';

export type SandboxSetting = 'auto' | 'off' | 'seatbelt';

/** A network namespace of its own: nothing of the machine's is reached but by the relay. */
export interface OwnNetwork {
  /** A directory of this run alone with its sockets; inside it is `NET_DIR`, and cannot be written. */
  dir: string;
  /** Program and arguments before the program's own: absolute paths of what is there outside. */
  relay: readonly string[];
}

/** Where the directory of an own network is seen inside. */
export const NET_DIR = '/tmp/.dossier-net';

export interface SandboxView {
  /** The worktree, where the program starts: read-only in Plan mode, writable in Work mode. */
  cwd: string;
  phase: 'plan' | 'work';
  /** Writable in Work mode, read-only in Plan mode: the repository's common git directory. */
  writable: readonly string[];
  /** Seen empty (a single file: not to be opened), even inside a writable directory. The worktree may lie in one and is seen all the same. */
  hidden: readonly string[];
  /** Writable in both modes: where the agent keeps its own sessions and settings. A directory not there yet is made. */
  state?: readonly string[];
  /** Read-only even inside a writable directory (hooks, git's configuration), and seen though in /tmp. */
  readable?: readonly string[];
  /** The machine's own, loopback and all, or one with a way out by the relay alone. */
  network: 'host' | OwnNetwork;
  /** Lies over what is at another path, in both modes. */
  binds?: readonly Bind[];
}

/** A file or directory that is seen at another path: over what is there, of the same kind. */
export interface Bind {
  from: string;
  to: string;
  write: boolean;
}

export interface Sandbox {
  readonly kind: 'bubblewrap' | 'none';
  /** Why there is none, and what to do about it. */
  readonly reason?: string;
  /** Programs run under macOS' Seatbelt, which nobody has tried: nothing relies on it, and all that holds without a sandbox does. */
  readonly untried?: true;
  /** The argument vector that runs `argv` inside; `argv` itself where there is no sandbox. */
  wrap(argv: readonly string[], view: SandboxView): string[];
  /** Paths in what a program wrote that are there outside and are not shown to it. */
  unseen(text: string, view: SandboxView): string[];
}

/** What is looked up once, and holds for every run. */
interface Ground {
  bwrap: string;
  env: Environment;
  /** What the operator shows of the home directory besides, absolute or beginning with `~/`. */
  readable: readonly string[];
}

/**
 * Looks once whether bubblewrap works here, with all that a run is given; keep the answer. Every run sees the directories
 * `closed` empty, whatever else it sees. Never throws.
 */
export const createSandbox = (
  setting: SandboxSetting,
  env: Environment,
  readable: readonly string[] = [],
  closed: readonly string[] = [],
): Sandbox => {
  if (setting === 'off') return none('The sandbox is switched off in the settings.');
  if (setting === 'seatbelt') return seatbelt(env, readable);
  const bwrap = findProgram('bwrap', env);
  if (bwrap === undefined)
    return none('bubblewrap is not installed: install the package bubblewrap.');
  const ground = { bwrap, env, readable };
  const failure = tryOut(ground, TRIES);
  if (failure !== undefined) return none(`bubblewrap does not work here: ${failure}.`);
  return {
    kind: 'bubblewrap',
    wrap: (argv, view) => wrapIn(ground, argv, { ...view, hidden: [...view.hidden, ...closed] }),
    unseen: (text, view) => unseenIn(text, homeFor(ground, [], view), seenIn(view)),
  };
};

const none = (reason: string): Sandbox => ({
  kind: 'none',
  reason,
  wrap: (argv) => [...argv],
  unseen: () => [],
});

/** `platform` is the system's; another for tests. */
export const seatbelt = (
  env: Environment,
  readable: readonly string[],
  platform: NodeJS.Platform = process.platform,
): Sandbox =>
  platform === 'darwin'
    ? {
        ...none('Seatbelt is untried: what holds without a sandbox is what is relied upon.'),
        untried: true,
        wrap: (argv, view) => seatbeltArguments(argv, view, { env, readable }),
      }
    : {
        ...none(NOT_HERE),
        // Who asked for a sandbox is not given none.
        wrap: () => {
          throw new ServiceError('provider_failed', NOT_HERE);
        },
      };

const NOT_HERE =
  'sandbox: seatbelt is for macOS alone, so nothing is started. Write sandbox: auto into workspace.md, and install bubblewrap.';

// What worked here once works until the machine is another one: it is not tried out again at each change of the settings.
const worked = new Set<string>();

// A file that is to be hidden can be removed before bubblewrap hides it: the next trial lists the files again.
const TRIES = 3;

const tryOut = (ground: Ground, tries: number): string | undefined => {
  try {
    const [file = '', ...args] = wrapIn(ground, ['true'], TRIAL);
    const trial = JSON.stringify([file, args, ground.env]);
    if (worked.has(trial)) return undefined;
    const limits = { timeout: 10_000, encoding: 'utf8' } as const;
    const { status, stderr, error } = spawnSync(file, args, { env: ground.env, ...limits });
    if (status === 0) {
      worked.add(trial);
      return undefined;
    }
    if (error === undefined && tries > 1) return tryOut(ground, tries - 1);
    return stderr?.trim() || error?.message || 'no answer';
  } catch (error) {
    return messageOf(error);
  }
};

const TRIAL: SandboxView = {
  ...{ cwd: '/usr', phase: 'plan', writable: [], hidden: [] },
  network: { dir: '/usr', relay: [] },
};

const wrapIn = (ground: Ground, argv: readonly string[], view: SandboxView): string[] => [
  ...nameFor(ground.env),
  ...withFilter(),
  ...[
    ground.bwrap,
    ...filterArguments(),
    ...viewArguments(ground, argv, view),
    ...relayOf(view),
    ...argv,
  ],
];

const TEMP = '/tmp';

const relayOf = ({ network }: SandboxView): readonly string[] =>
  network === 'host' ? [] : network.relay;

const networkOf = ({ network }: SandboxView): string[] =>
  network === 'host' ? [] : ['--unshare-net'];

// A fresh pid namespace dies as a whole with bwrap. Who is root outside keeps no capability, and is another user inside:
// with capabilities alone taken away, the agents' own sandboxes would not start.
const FLAGS = [
  ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', ...OWN_USER],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
];

const viewArguments = (ground: Ground, argv: readonly string[], view: SandboxView): string[] => {
  const home = homeFor(ground, argv, view);
  const named = [...ground.readable, ...relayOf(view), ...argv];
  const all = inOrder([
    ...mounts(argv, view, home),
    ...settingsMounts(shownIn(ground.env, view, home)),
  ]);
  return [
    ...[...FLAGS, ...networkOf(view)],
    ...['--ro-bind', '/', '/', '--proc', '/proc', ...kernelFiles(ground.env, named)],
    ...['--dev', '/dev', '--tmpfs', '/dev/shm', ...OWN_NAME],
    ...all.flatMap((mount) => mount.arguments),
    ...sealed(all, view, home).flatMap((path) => ['--remount-ro', path]),
    ...['--setenv', 'TMPDIR', TEMP, '--chdir', realpathSync(view.cwd), '--'],
  ];
};

const homeFor = ({ env, readable }: Ground, argv: readonly string[], view: SandboxView): HomeView =>
  homeView(env, readable, {
    programs: [...relayOf(view), ...argv],
    network: view.network === 'host',
    given: view.state ?? [],
  });

// What is seen besides the home directory's own.
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
 * Every mount covers what lies below it, so parents come before children: a hidden directory inside a writable one
 * stays hidden, and the worktree inside a hidden one is seen. On one and the same path the later in this list wins.
 * /tmp is private and empty; what the program needs of the real one (its own files named in argv, the worktree, the
 * repository) is bound back, all else there is out of sight.
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
 * Inside, the home directory is read-only, so an agent that was never run could not make these itself, and would keep
 * nothing of its session. A name with an extension is a file's: what belongs into that only the agent knows.
 */
const makeMissing = (state: readonly string[]): void => {
  // The agent meets the same obstacle, and says so.
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

// A repository that is the home directory itself, or above it, does not open it.
const holds = (path: string, hidden: readonly string[]): boolean =>
  real([path]).some((place) => hidden.some((one) => isAtOrBelow(one, place)));

// Sockets that are seen otherwise; what lies in a hidden directory is out of sight already.
const doors = ({ hidden, shown }: HomeView): string[] =>
  socketPaths().filter(
    (path) => !isCovered(path, { hidden }) || shown.some((place) => isAtOrBelow(path, place)),
  );

// In an empty directory of the sandbox's own, where it can make what is missing.
const isCovered = (path: string, { hidden }: Pick<HomeView, 'hidden'>): boolean =>
  [TEMP, ...hidden].some((place) => isAtOrBelow(path, place));

// A write into a hidden directory must fail, not vanish with the sandbox.
const sealed = (all: readonly Mount[], { hidden }: SandboxView, home: HomeView): string[] => {
  const last = new Map(all.map((mount) => [mount.path, mount.arguments[0]]));
  return [...home.hidden, ...real(hidden)].filter((path) => last.get(path) === '--tmpfs');
};

const isInTemp = (argument: string): boolean =>
  isAbsolute(argument) && isReallyBelow(argument, TEMP);

/** What programs are shut in with, as the settings want it now. */
export interface WithSandbox {
  readonly sandbox: () => Sandbox;
}
