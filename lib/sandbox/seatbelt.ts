import { existsSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Environment } from '../tools/process/environment.ts';
import { homeView } from './home.ts';
import { real } from './mounts.ts';

/** What a program may see and do, in absolute paths with links resolved. */
export interface SeatbeltView {
  phase: 'plan' | 'work';
  cwd: string;
  /** Seen empty but for what is shown: homes. */
  closed: readonly string[];
  shown: readonly string[];
  /** Not to be read, whatever lies above. */
  hidden: readonly string[];
  /** Read, and never written. */
  kept: readonly string[];
  /** Written in Work mode, read in Plan mode. */
  writable: readonly string[];
  /** Written in both. */
  state: readonly string[];
  /** The port on loopback by which it reaches the network; undefined: it has the machine's. */
  port?: number;
}

/**
 * The profile for `sandbox-exec` of a view. What it does not allow is denied, and of two rules about one path the later
 * counts, so rules about what lies deeper come later. No path can say more than its own name.
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

// What Node and git need of the system, besides files.
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

// On one and the same path the later in this list wins.
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

// Its name is seen, so that what lies below and is shown can be reached.
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

/** A string of the profile's language that says just this path. Throws where no path can be so. */
export const profileString = (path: string): string => {
  if (path.includes('\0')) throw new Error('A path cannot hold a NUL.');
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
};

/** What of the sandbox's own view counts here. */
type Given = Pick<SeatbeltView, 'phase' | 'cwd' | 'hidden' | 'writable'> & {
  state?: readonly string[];
  readable?: readonly string[];
};

/** The arguments that run `argv` under Seatbelt, in a view of the sandbox's. Only macOS has it, and nobody has tried it there. */
export const seatbeltArguments = (
  argv: readonly string[],
  view: Given,
  { env, readable }: { env: Environment; readable: readonly string[] },
): string[] => {
  const { cwd, phase, writable, state = [], readable: kept = [], hidden } = view;
  const needs = { programs: argv, network: true, given: state };
  const home = homeView(env, readable, needs);
  const profile = seatbeltProfile({
    ...{ phase, cwd: realpathSync(cwd), closed: home.hidden, shown: home.shown },
    ...{ hidden: real(hidden), kept: real(kept), writable: real(writable) },
    state: [...state, tmpdir()].map((path) => (existsSync(path) ? realpathSync(path) : path)),
  });
  return [SANDBOX_EXEC, '-p', profile, '--', ...argv];
};

/** The system's own: never one that PATH leads to. */
const SANDBOX_EXEC = '/usr/bin/sandbox-exec';
