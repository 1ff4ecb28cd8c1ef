import { existsSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Environment } from '../tools/process/environment.ts';
import { homeView } from './home.ts';
import { real, realHidden } from './mounts.ts';
import type { SandboxView } from './view.ts';

/** The view of a program, in absolute paths with links resolved. */
export interface SeatbeltView {
  phase: 'plan' | 'work';
  cwd: string;
  /** Homes: hidden except for `shown`. */
  closed: readonly string[];
  shown: readonly string[];
  /** Never readable, even inside a visible directory. */
  hidden: readonly string[];
  /** Read-only. */
  kept: readonly string[];
  /** Writable in Work mode, read-only in Plan mode. */
  writable: readonly string[];
  /** Writable in both modes. */
  state: readonly string[];
  /** The loopback port of the proxy; undefined: the host network. */
  port?: number;
}

/**
 * The `sandbox-exec` profile of a view. Denies by default. Of two rules for a path the later one counts, so rules for deeper
 * paths come later. Paths are escaped, so they cannot add rules.
 */
export const seatbeltProfile = (view: SeatbeltView): string =>
  [
    '(version 1)',
    '(deny default)',
    ...ALWAYS,
    '(allow file-read*)',
    ...places(view).map(({ rule }) => rule),
    ...network(view.port),
    '',
  ].join('\n');

// What Node and git need of the system, apart from files.
const ALWAYS = [
  '(allow process-fork)',
  '(allow process-exec*)',
  '(allow process-info* (target same-sandbox))',
  '(allow signal (target same-sandbox))',
  '(allow sysctl-read)',
  '(allow ipc-posix-sem)',
  '(allow pseudo-tty)',
  '(allow file-ioctl (subpath "/dev"))',
  ...['null', 'zero', 'tty', 'dtracehelper', 'ptmx'].map(
    (name) => `(allow file-write* (literal "/dev/${name}"))`,
  ),
  '(allow file-write* (regex #"^/dev/(ttys[0-9]+|fd/[0-9]+)$"))',
  ...[
    'com.apple.system.opendirectoryd.libinfo',
    'com.apple.system.opendirectoryd.membership',
    'com.apple.system.logger',
    'com.apple.system.notification_center',
    'com.apple.bsd.dirhelper',
    'com.apple.SystemConfiguration.configd',
    'com.apple.trustd.agent',
    'com.apple.SecurityServer',
  ].map((name) => `(allow mach-lookup (global-name "${name}"))`),
];

interface Place {
  path: string;
  rule: string;
}

// On the same path the later entry wins.
const places = (view: SeatbeltView): Place[] => {
  const { phase, cwd, closed, shown, hidden, kept, writable, state } = view;
  const own = phase === 'work' ? written : read;
  return [
    ...closed.map(shut),
    ...shown.map(read),
    ...writable.map(own),
    ...state.map(written),
    ...kept.map(read),
    ...hidden.map(shut),
    own(cwd),
  ]
    .map((place, order) => ({ ...place, order }))
    .sort((a, b) => a.path.length - b.path.length || a.order - b.order);
};

const at = (path: string): string => `(subpath ${profileString(path)})`;

// Metadata stays readable, so that visible paths below can be reached.
const shut = (path: string): Place => ({
  path,
  rule: `(deny file-read-data ${at(path)}) (deny file-read-xattr ${at(path)}) (deny file-write* ${at(path)}) (deny network-outbound ${at(path)})`,
});

const read = (path: string): Place => ({
  path,
  rule: `(allow file-read* ${at(path)}) (deny file-write* ${at(path)})`,
});

const written = (path: string): Place => ({
  path,
  rule: `(allow file-read* ${at(path)}) (allow file-write* ${at(path)})`,
});

const network = (port: number | undefined): string[] =>
  port === undefined
    ? ['(allow network*)', '(allow system-socket)']
    : [`(allow network-outbound (remote ip "localhost:${Math.trunc(port)}"))`];

/** A path as a string of the profile language. Throws for a path with NUL. */
export const profileString = (path: string): string => {
  if (path.includes('\0')) throw new Error('A path cannot contain NUL.');
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
};

/** The part of a sandbox view that Seatbelt supports. */
type Given = Omit<SandboxView, 'network' | 'binds' | 'reports' | 'terminal'>;

/** The arguments that run `argv` under Seatbelt. macOS only, and untested. */
export const seatbeltArguments = (
  argv: readonly string[],
  view: Given,
  { env, readable }: { env: Environment; readable: readonly string[] },
): string[] => {
  const { cwd, phase, writable, state = [], readable: kept = [], covered = [], hidden } = view;
  const needs = { programs: argv, network: true, given: state, covered };
  const home = homeView(env, readable, needs);
  const profile = seatbeltProfile({
    phase,
    cwd: realpathSync(cwd),
    closed: home.hidden,
    shown: home.shown,
    hidden: realHidden(hidden),
    kept: real(kept),
    writable: real(writable),
    state: [...state, tmpdir()].map((path) => (existsSync(path) ? realpathSync(path) : path)),
  });
  return [SANDBOX_EXEC, '-p', profile, '--', ...argv];
};

/** The system's program, never one from PATH. */
const SANDBOX_EXEC = '/usr/bin/sandbox-exec';
