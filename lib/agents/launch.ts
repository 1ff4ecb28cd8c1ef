import { isAbsolute } from 'node:path';
import { runLimits } from '../../store/records/applied.ts';
import type { ProviderBoundary } from '../../store/records/boundary.ts';
import type { NetworkDoor } from '../sandbox/egress/networks.ts';
import type { NetworkNews } from '../sandbox/egress/proxy.ts';
import type { OpenNetwork } from '../sandbox/egress/run-network.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { KeepAside } from '../sandbox/state/state.ts';
import { cleanEnvironment, type Environment } from '../tools/process/environment.ts';
import { findProgram, isProgram } from '../tools/process/find-program.ts';
import type { Runs } from '../tools/process/runs.ts';
import { type Program, startProgram } from '../tools/process/spawn.ts';
import type { Isolation, RunSpec } from './provider.ts';

/** What the providers are given by the daemon. */
export interface ProviderDeps {
  /** The daemon's own environment; programs get the allow-listed part of it and what their settings add. */
  env: Readonly<Record<string, string | undefined>>;
  sandbox: Sandbox;
  /** Where runs have their copies of what agents keep at home: a directory that is made when it is needed. */
  states: string;
  /** Keeps a login that a run made and that does not go home, for the operator alone. */
  keepAside: KeepAside;
  /** How its programs reach the network. */
  network: NetworkDoor;
  /** Where every program is entered from before its start until nothing of it is alive. */
  runs: Runs;
  /** Whether a path, relative ones taken from `root`, lies in the directory `root` once links are resolved. */
  isInside: (root: string, path: string) => boolean;
}

export interface Launch {
  argv: readonly string[];
  env?: Environment;
  onBytes?: (chunk: Buffer) => void;
  /** Whole lines of standard output alone. */
  onLine?: (line: string) => void;
  /** What it reached of the network, and what it was refused; each as often as it asks. */
  onNetwork?: (told: NetworkNews) => void;
}

/** Where a program runs, and what it may do there. */
export type Launchable = Pick<
  RunSpec,
  | 'cwd'
  | 'phase'
  | 'writable'
  | 'kept'
  | 'binds'
  | 'hidden'
  | 'run_marker'
  | 'limits'
  | 'signed_as'
  | 'mcp'
>;

export type LaunchDeps = Pick<ProviderDeps, 'env' | 'sandbox' | 'network' | 'runs'>;

/** How long a program may be silent or run, and how much it may write in all, before it has failed. */
export const LIMITS: Required<RunSpec['limits']> = runLimits({});

/** The same for one answer that somebody waits for. */
export const ANSWER_LIMITS: RunSpec['limits'] = {
  ...LIMITS,
  idle_ms: 5 * 60_000,
  wall_ms: 15 * 60_000,
};

/**
 * Starts a program of a run in its worktree, under the sandbox's view for its phase, with the network of its provider, which
 * is open until nothing of it is alive. Throws when it cannot be wrapped, or cannot have its network.
 */
export const launch = (spec: Launchable, program: Launch, deps: LaunchDeps): Program => {
  const { env: given = {}, onNetwork: tell = () => undefined } = program;
  const network = deps.network.open({ given, token: spec.mcp?.token, tell });
  try {
    return start(spec, program, { ...deps, open: network });
  } catch (error) {
    void network.close();
    throw error;
  }
};

const start = (
  spec: Launchable,
  program: Launch,
  { open, ...deps }: LaunchDeps & { open: OpenNetwork },
): Program => {
  const { cwd, phase, writable, kept, binds, hidden, run_marker, limits, signed_as } = spec;
  const { onBytes, onLine } = program;
  const view = {
    ...{ cwd, phase, writable, readable: kept, hidden },
    network: open.view,
    ...(binds && { binds }),
  };
  return startProgram({
    argv: deps.sandbox.wrap(program.argv, view),
    cwd,
    env: cleanEnvironment(deps.env, {
      ...UNATTENDED,
      ...(deps.sandbox.kind === 'bubblewrap' && INSIDE),
      ...program.env,
      ...(signed_as !== undefined && signing(signed_as, program.env)),
      ...open.env,
    }),
    marker: run_marker,
    own_dir: cwd,
    runs: deps.runs,
    loopback: open.view === 'host',
    sandboxed: deps.sandbox.kind === 'bubblewrap',
    idle_ms: limits.idle_ms,
    wall_ms: limits.wall_ms,
    output_bytes: limits.output_bytes,
    unseen: (tail) => deps.sandbox.unseen(tail, view),
    close: open.close,
    ...(onBytes && { onBytes, onErrorBytes: onBytes }),
    ...(onLine && { onLine }),
  });
};

// The home directory is read-only inside, and npm stops where it cannot write. An agent's own cache is in its state.
const INSIDE: Environment = { npm_config_cache: '/tmp/npm' };

/** How a provider that starts programs holds Plan mode: a sandbox with the machine's network has a way around it. */
export const isolationOf = ({
  sandbox,
  network,
}: Pick<ProviderDeps, 'sandbox' | 'network'>): Isolation => {
  if (sandbox.untried === true) return 'untried';
  return sandbox.kind === 'none' || network.kind === 'host' ? 'checked' : 'enforced';
};

/** What shuts in what a provider starts in Work mode, whose programs are given these variables. */
export const boundaryOf = (
  kind: ProviderBoundary['kind'],
  { sandbox, network }: Pick<ProviderDeps, 'sandbox' | 'network'>,
  given: Environment = {},
): ProviderBoundary => ({
  kind,
  sandbox: sandbox.untried === true ? 'seatbelt' : sandbox.kind,
  ...(sandbox.reason !== undefined && { reason: sandbox.reason }),
  ...network.reaches(given),
});

// Every ref that a git of the run writes, tags too, is noted with this name. One variable, as `git -c` hands its
// settings on: agents keep variables from their shells that have KEY in their names, as GIT_CONFIG_KEY_0 has.
const signing = (address: string, { GIT_CONFIG_PARAMETERS: given }: Environment = {}) => ({
  GIT_COMMITTER_NAME: 'Dossier agent',
  GIT_COMMITTER_EMAIL: address,
  GIT_CONFIG_PARAMETERS: [...(given ? [given] : []), "'core.logAllRefUpdates=always'"].join(' '),
});

// Nobody sits at a terminal: no colours, no pagers, no questions.
const UNATTENDED: Environment = {
  CI: '1',
  NO_COLOR: '1',
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
};

/** How much of one tool call's output is told, in characters: head and tail of it. */
export const TOLD_OUTPUT = 65_536;

/** A program as far as it can be looked for: where, and what to do when it is not found. */
interface Wanted {
  argv: readonly string[];
  env: Environment;
  hint: string;
}

/** Why a program cannot be started, and what to do about it; undefined when it can. Nothing is run to tell. */
export const whyNotThere = (
  { argv: [command = ''], env, hint }: Wanted,
  deps: Pick<ProviderDeps, 'env'>,
): string | undefined => {
  if (isAbsolute(command))
    return isProgram(command)
      ? undefined
      : `${command} is not there, or is no program. Correct providers in workspace.md.`;
  // A path from here would be a file of the worktree, which is nobody's choice of program.
  if (command.includes('/'))
    return `The command ${command} must be a name on the PATH or an absolute path.`;
  if (findProgram(command, cleanEnvironment(deps.env, env)) !== undefined) return undefined;
  return `${command} is not installed. ${hint}`;
};
