import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, extname, isAbsolute } from 'node:path';
import { orElse } from '../../store/base/attempt.ts';
import { isAtOrBelow, isAtOrBelowAny } from '../../store/base/paths.ts';
import { cleanEnvironment, type Environment } from '../tools/process/environment.ts';
import { processLimit } from '../tools/process/run-limit.ts';
import { ownRefMounts } from './checkout.ts';
import { gitConfigMounts } from './git-config.ts';
import { type HomeView, homeView, namedPaths, unseenIn } from './home.ts';
import {
  bind,
  hide,
  isDirectory,
  isReallyBelow,
  type Mount,
  real,
  realHidden,
  socketPaths,
} from './mounts.ts';
import {
  isBeyondRoot,
  nameFor,
  PASSWD_ARGUMENTS,
  rootOnlyMounts,
  USER_ARGUMENTS,
} from './root-user.ts';
import { filterArguments, sessionArguments, withFilter } from './seccomp.ts';
import { type ToolConfig, toolConfig } from './tool-config.ts';
import { type Bind, NET_DIR, type SandboxView } from './view.ts';

/** Looked up once, and the same for every run. */
export interface Host {
  bwrap: string;
  env: Environment;
  /** Further visible paths from the settings, absolute or beginning with `~/`. */
  readable: readonly string[];
}

/** The argument vector that runs `argv` in bubblewrap. Throws if what it needs cannot be written. */
export const bubblewrapCommand = (
  host: Host,
  argv: readonly string[],
  view: SandboxView,
): string[] => {
  const limited = [...limitOf(host, view), ...argv];
  return [
    ...nameFor(host.env),
    ...withFilter(),
    ...[host.bwrap, ...filterArguments(), ...viewArguments(host, limited, view)],
    ...[...relayOf(view), ...limited],
  ];
};

// A terminal may have a lower limit than the daemon. With setuid, bubblewrap makes no user namespace.
const limitOf = ({ bwrap, env }: Host, { terminal }: SandboxView): readonly string[] => {
  const isSetuid = (orElse(() => statSync(bwrap).mode, 0) & 0o4000) !== 0;
  return terminal === true || isSetuid ? [] : processLimit(env);
};

const TEMP = '/tmp';

const relayOf = ({ network }: SandboxView): readonly string[] =>
  network === 'host' ? [] : network.relay;

const networkOf = ({ network }: SandboxView): string[] =>
  network === 'host' ? [] : ['--unshare-net'];

/**
 * The pid namespace ends as a whole with bwrap. Root loses its capabilities and is mapped to another user: without the mapping,
 * the agents' own sandboxes would not start.
 */
export const FLAGS = [
  ...['--die-with-parent', '--cap-drop', 'ALL', ...USER_ARGUMENTS],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
];

const viewArguments = (host: Host, argv: readonly string[], view: SandboxView): string[] => {
  const tools = toolsOf(host);
  const home = homeFor(host, tools, argv, view);
  const named = [...host.readable, ...relayOf(view), ...argv];
  const all = inOrder([
    ...mounts(argv, view, home),
    ...tools.mounts,
    ...gitConfigMounts(shownIn(host.env, view, home)),
    ...ownRefMounts(repositoriesIn(view)),
  ]);
  return [
    ...[...FLAGS, ...sessionArguments(view.terminal === true), ...networkOf(view)],
    ...['--ro-bind', '/', '/', '--proc', '/proc', ...rootOnlyMounts(host.env, named)],
    ...['--dev', '/dev', '--tmpfs', '/dev/shm', ...PASSWD_ARGUMENTS],
    ...all.flatMap((mount) => mount.arguments),
    ...sealed(all, view, home).flatMap((path) => ['--remount-ro', path]),
    ...lostVariables(host.env),
    ...(view.reports === true ? ['--json-status-fd', '3'] : []),
    ...['--setenv', 'TMPDIR', TEMP, '--chdir', realpathSync(view.cwd), '--'],
  ];
};

// Such as `npm_config_@scope:registry`: dash, which starts bubblewrap, drops variables with names that are not its own.
const lostVariables = (env: Environment): string[] =>
  Object.entries(cleanEnvironment(env))
    .filter(([name]) => !/^[A-Za-z_]\w*$/.test(name))
    .flatMap((variable) => ['--setenv', ...variable]);

/** Finds existing paths in texts that the sandbox hides from a program. */
export const unseenPaths = (host: Host, view: SandboxView): ((text: string) => string[]) => {
  const tools = toolsOf(host);
  const seen = [...seenIn(view), ...tools.mounts.map(({ path }) => path)];
  const home = homeFor(host, tools, [], view);
  return (text) => unseenIn(text, home, seen);
};

const toolsOf = ({ env, readable }: Host): ToolConfig => toolConfig(env, namedPaths(env, readable));

const homeFor = (
  { env, readable }: Host,
  { certificates }: ToolConfig,
  argv: readonly string[],
  view: SandboxView,
): HomeView =>
  homeView(env, [...readable, ...certificates], {
    programs: [...relayOf(view), ...argv],
    network: view.network === 'host',
    given: view.state ?? [],
    covered: view.covered ?? [],
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
    .filter(({ from, to }) => isDirectory(from) && isVisible(to, home))
    .map(({ to }) => to);
  const unseen = realHidden(hidden);
  const isSeen = (path: string): boolean => isAtOrBelow(path, cwd) || !isAtOrBelowAny(path, unseen);
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

// Not the repository of the turn, which has stashes of its own.
const repositoriesIn = ({ readable = [], binds = [] }: SandboxView) => [
  ...readable.map((path) => ({ from: path, to: path })),
  ...binds.filter(({ write }) => !write),
];

const inOrder = (all: readonly Mount[]): Mount[] =>
  all.toSorted((a, b) => a.path.length - b.path.length);

const shownIn = (env: Environment, view: SandboxView, home: HomeView) => {
  const seen = seenIn({ ...view, binds: [] });
  return {
    env,
    places: [...seen.map((path) => ({ from: path, to: path })), ...(view.binds ?? [])],
    isSeen: (path: string) =>
      !isCovered(path, home) || isAtOrBelowAny(path, [...home.shown, ...real(seen)]),
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
const doors = (home: HomeView): string[] =>
  socketPaths().filter((path) => isVisible(path, home) && !isBeyondRoot(path));

const isVisible = (path: string, home: HomeView): boolean =>
  !isCovered(path, home) || isAtOrBelowAny(path, home.shown);

// In an empty directory of the sandbox, where bubblewrap can create mount points.
const isCovered = (path: string, { hidden }: HomeView): boolean =>
  isAtOrBelowAny(path, [TEMP, ...hidden]);

// Remounted read-only: a write into a hidden directory must fail, not get lost with the sandbox.
const sealed = (all: readonly Mount[], { hidden }: SandboxView, home: HomeView): string[] => {
  const last = new Map(all.map((mount) => [mount.path, mount.arguments[0]]));
  return [...home.hidden, ...realHidden(hidden)].filter((path) => last.get(path) === '--tmpfs');
};

const isInTemp = (argument: string): boolean =>
  isAbsolute(argument) && isReallyBelow(argument, TEMP);
