import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { dirname, extname, isAbsolute, relative } from 'node:path';
import type { Environment } from './environment.ts';
import { findProgram } from './find-program.ts';

export type SandboxSetting = 'auto' | 'off';

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
  /** The argument vector that runs `argv` inside; `argv` itself where there is no sandbox. */
  wrap(argv: readonly string[], view: SandboxView): string[];
}

/** Looks once whether bubblewrap works here; keep the answer. Never throws. */
export const createSandbox = (setting: SandboxSetting, env: Environment): Sandbox => {
  if (setting === 'off') return none('The sandbox is switched off in the settings.');
  const bwrap = findProgram('bwrap', env);
  if (bwrap === undefined)
    return none('bubblewrap is not installed: install the package bubblewrap.');
  const probe = spawnSync(bwrap, ['--unshare-pid', '--ro-bind', '/', '/', 'true'], {
    env,
    timeout: 10_000,
    encoding: 'utf8',
  });
  if (probe.status !== 0) {
    return none(`bubblewrap does not work here: ${probe.stderr.trim() || 'no answer'}.`);
  }
  return {
    kind: 'bubblewrap',
    wrap: (argv, view) => [bwrap, ...viewArguments(argv, view), ...relayOf(view), ...argv],
  };
};

const none = (reason: string): Sandbox => ({ kind: 'none', reason, wrap: (argv) => [...argv] });

const TEMP = '/tmp';

const relayOf = ({ network }: SandboxView): readonly string[] =>
  network === 'host' ? [] : network.relay;

const networkOf = ({ network }: SandboxView): string[] =>
  network === 'host' ? [] : ['--unshare-net'];

// A fresh pid namespace dies as a whole with bwrap.
const viewArguments = (argv: readonly string[], view: SandboxView): string[] => [
  ...['--die-with-parent', '--unshare-pid', '--new-session', ...networkOf(view)],
  ...['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/dev/shm'],
  ...mounts(argv, view).flatMap((mount) => mount.arguments),
  ...sealed(view).flatMap((path) => ['--remount-ro', path]),
  ...['--setenv', 'TMPDIR', TEMP, '--chdir', realpathSync(view.cwd), '--'],
];

interface Mount {
  path: string;
  arguments: string[];
}

/**
 * Every mount covers what lies below it, so parents come before children: a hidden directory inside a writable one
 * stays hidden, and the worktree inside a hidden one is seen. On one and the same path the later in this list wins.
 * /tmp is private and empty; what the program needs of the real one (its own files named in argv, the worktree, the
 * repository) is bound back, all else there is out of sight.
 */
const mounts = (argv: readonly string[], view: SandboxView): Mount[] => {
  const { cwd, phase, writable, state = [], readable = [], hidden, binds = [] } = view;
  const own = phase === 'work' ? '--bind' : '--ro-bind';
  const outside = phase === 'work' ? state : state.filter((path) => !isInside(path, cwd));
  makeMissing(state.filter((path) => !wouldLieIn(cwd, path)));
  return [
    { path: TEMP, arguments: ['--tmpfs', TEMP] },
    ...bind('--ro-bind', [...relayOf(view), ...argv].filter(isInTemp)),
    ...(view.network === 'host' ? [] : [bindAt(NET_DIR, view.network.dir)]),
    ...bind(own, writable),
    ...bind('--bind', outside),
    ...bind('--ro-bind', readable),
    ...real(hidden).map(hide),
    ...bind(own, [cwd]),
    ...binds.map(lay),
  ].sort((a, b) => a.path.length - b.path.length);
};

/**
 * Inside, the home directory is read-only, so an agent that was never run could not make these itself, and would keep
 * nothing of its session. A name with an extension is a file's: what belongs into that only the agent knows.
 */
const makeMissing = (state: readonly string[]): void => {
  for (const path of state.filter((path) => extname(path) === '' && !existsSync(path))) {
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 });
    } catch {
      // The agent meets the same obstacle, and says so.
    }
  }
};

const wouldLieIn = (cwd: string, path: string): boolean => {
  const place = realpathSync(nearest(path));
  return place === realpathSync(cwd) || isInside(place, cwd);
};

const nearest = (path: string): string => (existsSync(path) ? path : nearest(dirname(path)));

const bind = (how: '--bind' | '--ro-bind', paths: readonly string[]): Mount[] =>
  real(paths).map((path) => ({ path, arguments: [how, path, path] }));

const bindAt = (path: string, source: string): Mount => ({
  path,
  arguments: ['--ro-bind', realpathSync(source), path],
});

const lay = ({ from, to, write }: Bind): Mount => {
  const path = existsSync(to) ? realpathSync(to) : to;
  return { path, arguments: [write ? '--bind' : '--ro-bind', from, path] };
};

const hide = (path: string): Mount =>
  statSync(path).isDirectory()
    ? { path, arguments: ['--tmpfs', path] }
    : { path, arguments: ['--ro-bind', devNull, path] };

// A write into a hidden directory must fail, not vanish with the sandbox.
const sealed = ({ hidden }: SandboxView): string[] =>
  real(hidden).filter((path) => statSync(path).isDirectory());

// A mount needs a place that exists, and links resolved: bubblewrap would mount over the link's target elsewhere.
const real = (paths: readonly string[]): string[] =>
  paths.filter((path) => existsSync(path)).map((path) => realpathSync(path));

const isInTemp = (argument: string): boolean => isAbsolute(argument) && isInside(argument, TEMP);

const isInside = (path: string, parent: string): boolean => {
  if (!existsSync(path) || !existsSync(parent)) return false;
  const way = relative(realpathSync(parent), realpathSync(path));
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
};
