import { isAbsolute, join } from 'node:path';
import { runLimits, runVariables } from '../../store/records/applied.ts';
import type { ProviderBoundary } from '../../store/records/boundary.ts';
import { settingsOf } from '../../store/settings/globals.ts';
import type { Store } from '../../store/store.ts';
import type { NetworkAccess } from '../sandbox/egress/networks.ts';
import type { NetworkNews } from '../sandbox/egress/proxy.ts';
import type { OpenNetwork } from '../sandbox/egress/run-network.ts';
import { cachePlace } from '../sandbox/home.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { KeepAside } from '../sandbox/state/state.ts';
import type { SandboxView } from '../sandbox/view.ts';
import { cleanEnvironment, type Environment } from '../tools/process/environment.ts';
import { findProgram, isProgram } from '../tools/process/find-program.ts';
import { type LentProgram, lendProgram } from '../tools/process/lend.ts';
import type { Runs } from '../tools/process/runs.ts';
import { type Program, startProgram } from '../tools/process/spawn.ts';
import { howToInstall } from './presets.ts';
import type { Isolation, RunPlace, RunSpec } from './provider.ts';

/** What providers receive from the daemon. */
export interface ProviderDeps {
  /** The daemon's environment. Programs get its allow-listed part and the variables of their settings. */
  env: Readonly<Record<string, string | undefined>>;
  /** The variables that the settings give to every program. */
  variables: Environment;
  sandbox: Sandbox;
  /** The directory of the copies of agents' state, created when needed. */
  states: string;
  /** Stores a login that a run changed and that is not returned. */
  keepAside: KeepAside;
  /** The network access of its programs. */
  network: NetworkAccess;
  /** The table of running programs. */
  runs: Runs;
  /** Whether a path, relative to `root` or absolute, is inside `root`, links resolved. */
  isInside: (root: string, path: string) => boolean;
}

export interface Launch {
  argv: readonly string[];
  env?: Environment;
  onBytes?: (chunk: Buffer) => void;
  /** Whole lines of standard output alone. */
  onLine?: (line: string) => void;
  /** Called for each connection that it made or was refused. */
  onNetwork?: (told: NetworkNews) => void;
}

/** Where a program runs, and what it may access. */
export type Launchable = RunPlace & Pick<RunSpec, 'limits' | 'signed_as' | 'mcp'>;

export type LaunchDeps = Pick<ProviderDeps, 'env' | 'variables' | 'sandbox' | 'network' | 'runs'>;

/** What a program that the daemon runs itself needs to be launched: a command of a setup, a check. */
export const launchDeps = (service: {
  config: Pick<ProviderDeps, 'env'>;
  store: Store;
  sandbox: () => Sandbox;
  network: () => NetworkAccess;
  runs: Runs;
}): LaunchDeps => ({
  env: service.config.env,
  variables: runVariables(settingsOf(service.store), service.config.env),
  sandbox: service.sandbox(),
  network: service.network(),
  runs: service.runs,
});

/** Default limits of a turn: idle time, total time and output. */
export const LIMITS: Required<RunSpec['limits']> = runLimits({});

/** Limits of an answer that the caller waits for. */
export const ANSWER_LIMITS: RunSpec['limits'] = {
  ...LIMITS,
  idle_ms: 5 * 60_000,
  wall_ms: 15 * 60_000,
};

/**
 * Starts a program of a run in its worktree, in the sandbox for its phase and with the network of its provider, which closes
 * after its last process. Throws if the sandbox or the network cannot be set up.
 */
export const launch = (spec: Launchable, program: Launch, deps: LaunchDeps): Program => {
  const { onBytes, onLine } = program;
  const { limits } = spec;
  return withNetwork(program, spec.mcp?.token, deps, (open) => {
    const reports = deps.sandbox.kind === 'bubblewrap';
    const view = { ...viewOf(spec, deps.env, open.view), reports };
    return startProgram({
      reports,
      ...specOf(spec, { ...program, usual: UNATTENDED }, { ...deps, open }),
      argv: deps.sandbox.wrap(program.argv, view),
      idle_ms: limits.idle_ms,
      wall_ms: limits.wall_ms,
      output_bytes: limits.output_bytes,
      explain: (tail) => deps.sandbox.explain(tail, view),
      ...(onBytes && { onBytes, onErrorBytes: onBytes }),
      ...(onLine && { onLine }),
    });
  });
};

/**
 * Prepares a program that the command line starts at the operator's terminal, in the same sandbox and with the same network
 * as a program that the daemon starts. Throws if they cannot be set up.
 */
export const lend = (
  spec: Omit<Launchable, 'limits' | 'mcp'>,
  program: Pick<Launch, 'argv' | 'env' | 'onNetwork'>,
  deps: LaunchDeps,
): LentProgram =>
  withNetwork(program, undefined, deps, (open) => {
    const view = { ...viewOf(spec, deps.env, open.view), terminal: true };
    const argv = deps.sandbox.wrap(program.argv, view);
    return lendProgram({ ...specOf(spec, program, { ...deps, open }), argv });
  });

/** Opens the network of a program and starts the program; closes it again if that throws. */
const withNetwork = <T>(
  { env: given = {}, onNetwork: tell = () => undefined }: Pick<Launch, 'env' | 'onNetwork'>,
  token: string | undefined,
  { network }: LaunchDeps,
  start: (open: OpenNetwork) => T,
): T => {
  const open = network.open({ given, token, tell });
  try {
    return start(open);
  } catch (error) {
    void open.close();
    throw error;
  }
};

export type Placed = Omit<Launchable, 'run_marker' | 'limits' | 'signed_as' | 'mcp'>;

/** What a program of a run sees in the sandbox, before its network is open. */
export const viewBefore = (
  spec: Placed,
  { env, network }: Pick<LaunchDeps, 'env' | 'network'>,
): SandboxView => viewOf(spec, env, network.kind === 'host' ? 'host' : { dir: '', relay: [] });

const viewOf = (
  { cwd, phase, writable, kept: readable, binds = [], cache, hidden, covered = [] }: Placed,
  env: LaunchDeps['env'],
  network: SandboxView['network'],
): SandboxView => {
  const to = cachePlace(env);
  const ofCache = cache === undefined || to === undefined ? [] : [{ from: cache, to, write: true }];
  const all = [...binds, ...ofCache];
  return { cwd, phase, writable, readable, hidden, covered, network, binds: all };
};

const specOf = (
  { cwd, run_marker, signed_as }: Pick<Launchable, 'cwd' | 'run_marker' | 'signed_as'>,
  { env, usual }: Pick<Launch, 'env'> & { usual?: Environment },
  { open, ...deps }: LaunchDeps & { open: OpenNetwork },
) => ({
  cwd,
  env: open.environment(
    cleanEnvironment(deps.env, {
      ...(deps.sandbox.kind === 'bubblewrap' && inside(deps.env)),
      ...usual,
      ...deps.variables,
      ...env,
      ...(signed_as !== undefined && signing(signed_as, { ...deps.variables, ...env })),
    }),
  ),
  marker: run_marker,
  own_dir: cwd,
  runs: deps.runs,
  loopback: open.view === 'host',
  sandboxed: deps.sandbox.kind === 'bubblewrap',
  close: open.close,
});

// Inside, ~/.cache can be written, and ~/.npm cannot.
const inside = (env: LaunchDeps['env']): Environment => ({
  npm_config_cache: join(cachePlace(env) ?? '/tmp', 'npm'),
});

/** How Plan mode is enforced. With the host network a program can get around the sandbox, so it is only `checked`. */
export const isolationOf = ({
  sandbox,
  network,
}: Pick<ProviderDeps, 'sandbox' | 'network'>): Isolation => {
  if (sandbox.untried === true) return 'untried';
  return sandbox.kind === 'none' || network.kind === 'host' ? 'checked' : 'enforced';
};

/** The boundary of a provider's programs in Work mode; `given` are their variables. */
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

// Makes git record this name in the reflog of every ref that the run writes, tags included. GIT_CONFIG_PARAMETERS, because
// agents remove variables with KEY in their names, such as GIT_CONFIG_KEY_0, from their shells.
const signing = (address: string, { GIT_CONFIG_PARAMETERS: given }: Environment = {}) => ({
  GIT_COMMITTER_NAME: 'Dossier agent',
  GIT_COMMITTER_EMAIL: address,
  GIT_CONFIG_PARAMETERS: [...(given ? [given] : []), "'core.logAllRefUpdates=always'"].join(' '),
});

// There is no terminal: no colours, pagers or prompts.
const UNATTENDED: Environment = {
  CI: '1',
  NO_COLOR: '1',
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
};

/** The limit for the output of one tool call, in characters. */
export const TOLD_OUTPUT = 65_536;

/** A program to look for. */
interface Wanted {
  argv: readonly string[];
  env: Environment;
}

/** Why a program cannot be started, and what to do; undefined if it can. Runs nothing. */
export const whyUnavailable = (
  { argv: [command = ''], env }: Wanted,
  deps: Pick<ProviderDeps, 'env'>,
): string | undefined => {
  if (isAbsolute(command))
    return isProgram(command)
      ? undefined
      : `${command} does not exist, or is not executable. Correct providers in workspace.md.`;
  // A relative path could lead to a file of the worktree.
  if (command.includes('/'))
    return `The command ${command} is a relative path. Use a name on the PATH or an absolute path.`;
  if (findProgram(command, cleanEnvironment(deps.env, env)) !== undefined) return undefined;
  return `${command} is not installed. ${howToInstall(command)}`;
};
