import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '../environment.ts';
import { type Execution, execute, type Input } from '../execute.ts';
import { findProgram } from '../find-program.ts';
import { GitError, type GitFailure, gitProblem } from './error.ts';
import { gitEnvironment, neutralDrivers, ownHelpers, type Setting } from './settings.ts';

const READ_TIMEOUT_MS = 60_000;
const WRITE_TIMEOUT_MS = 300_000;
const MAX_BYTES = 64 * 1024 * 1024;
const FIRST_RETRY_MS = 50;
const RETRY_FOR_MS = 5000;

/** A repository or worktree by its parts, as recorded when it was made or found. git looks for nothing by itself. */
export interface Checkout {
  git_dir: string;
  common_dir: string;
  /** The directory of the working files; without it only refs, objects and settings are worked on. */
  path?: string;
}

/** A checkout with working files, as recorded when it was made. An agent can edit what lies in it. */
export interface Worktree extends Checkout {
  path: string;
}

/** A checkout, or a directory from which git finds the repository itself: only where no agent has been. */
export type Place = string | Checkout;

export interface RunOptions {
  /** Takes no lock and waits for nobody; else the command waits its turn among the writes of the repository. */
  read?: boolean;
  input?: Input;
  timeout_ms?: number;
  max_bytes?: number;
  /** Exit codes that are an answer; `[0]` unless given. */
  ok?: readonly number[];
  env?: Environment;
}

export interface GitResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

export type Run = (
  place: Place,
  args: readonly string[],
  options?: RunOptions,
) => Promise<GitResult>;

/** What most functions need of git, inside a turn or outside of one. */
export interface Runner {
  /** Runs one command. Throws a ServiceError whose cause is a GitError. */
  run: Run;
}

export interface Git extends Runner {
  /** The program, absolute; undefined when git is not installed. */
  readonly program: string | undefined;
  /** Several commands as one write of the repository: nobody else's write comes in between. */
  turn<T>(common_dir: string, work: (run: Run) => Promise<T>): Promise<T>;
}

/** The one door to git. The program is looked up once, so that no PATH can change later what runs. */
export const createGit = ({ env }: { env: Environment }): Git => {
  const program = findProgram('git', env);
  const turns = createTurns();
  const now: Run = (place, args, options = {}) => attempt({ program, env, place, args, options });
  return {
    program,
    turn: (common_dir, work) => turns(common_dir, () => work(now)),
    run: async (place, args, options = {}) => {
      if (options.read === true) return now(place, args, options);
      return turns(await turnOf(now, place), () => now(place, args, options));
    },
  };
};

const turnOf = async (run: Run, place: Place): Promise<string> => {
  if (typeof place !== 'string') return place.common_dir;
  const args = ['rev-parse', '--path-format=absolute', '--git-common-dir'];
  const { code, stdout } = await run(place, args, { read: true, ok: [0, 128] });
  return code === 0 ? stdout.toString('utf8').trimEnd() : place;
};

const createTurns = () => {
  const last = new Map<string, Promise<unknown>>();
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work);
    const settled = turn
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === settled) last.delete(key);
      });
    last.set(key, settled);
    return turn;
  };
};

interface Command {
  program: string | undefined;
  env: Environment;
  place: Place;
  args: readonly string[];
  options: RunOptions;
}

// A lock of somebody else's git goes away by itself or not at all: it is waited for and never deleted.
const attempt = async (command: Command): Promise<GitResult> => {
  const started = performance.now();
  let wait = FIRST_RETRY_MS;
  for (;;) {
    try {
      return await once(command);
    } catch (error) {
      const again =
        error instanceof GitError && error.failure === 'busy' && command.options.read !== true;
      if (!again || performance.now() - started + wait > RETRY_FOR_MS) throw gitProblem(error);
    }
    await delay(wait);
    wait *= 2;
  }
};

const once = async (command: Command): Promise<GitResult> => {
  const settings = touchesFiles(command.args) ? await driversOff(command) : [];
  const result = await start(command, settings);
  const { ok = [0] } = command.options;
  const whole = result.stopped === undefined;
  if (whole && result.code !== null && ok.includes(result.code))
    return { ...result, code: result.code };
  throw failure(command.args, result);
};

// Commands that never look into a file, and so start no filter, diff or merge driver.
// Not write-tree: writing an index back, git looks again into files that changed in the same tick.
const BLIND = new Set([
  ...['cat-file', 'check-ref-format', 'commit-tree', 'config', 'fast-import', 'for-each-ref'],
  ...['ls-files', 'mktree', 'rev-list', 'rev-parse', 'symbolic-ref', 'update-ref'],
]);

const touchesFiles = (args: readonly string[]): boolean => !BLIND.has(args[0] ?? '');

const driversOff = async (command: Command): Promise<Setting[]> => {
  const args = ['config', '--list', '-z', '--show-scope', '--includes'];
  const listing = await start({ ...command, args, options: { read: true } }, []);
  if (listing.code !== 0) throw failure(args, listing);
  const told = listing.stdout.toString('utf8');
  return [...neutralDrivers(told), ...ownHelpers(told)];
};

const start = async (command: Command, settings: readonly Setting[]): Promise<Execution> => {
  const { program, place, args, options } = command;
  const read = options.read === true;
  const directory = typeof place === 'string' ? place : (place.path ?? place.git_dir);
  if (program === undefined) throw new GitError({ args, failure: 'not_installed' });
  if (!existsSync(directory)) throw new GitError({ args, failure: 'no_directory' });
  if (typeof place !== 'string' && !sharesRefs(place))
    throw new GitError({ args, failure: 'tampered' });
  return execute([program, '--no-pager', ...args], {
    cwd: directory,
    env: { ...gitEnvironment(command.env, settings, read), ...partsOf(place), ...options.env },
    timeout_ms: options.timeout_ms ?? (read ? READ_TIMEOUT_MS : WRITE_TIMEOUT_MS),
    max_bytes: options.max_bytes ?? MAX_BYTES,
    ...(options.input === undefined ? {} : { input: options.input }),
  });
};

// git takes refs from where `commondir` points, whatever it is told, and an agent can edit that file.
const sharesRefs = ({ git_dir, common_dir }: Checkout): boolean => {
  if (git_dir === common_dir) return true;
  try {
    const target = resolve(git_dir, readFileSync(join(git_dir, 'commondir'), 'utf8').trimEnd());
    return realpathSync(target) === realpathSync(common_dir);
  } catch {
    return false;
  }
};

// The `.git` file of a worktree is an agent's to edit: told outright where all is, git does not read it.
const partsOf = (place: Place): Environment => {
  if (typeof place === 'string') return {};
  const common = place.common_dir === place.git_dir ? {} : { GIT_COMMON_DIR: place.common_dir };
  const parts = { GIT_DIR: place.git_dir, ...common };
  return place.path === undefined ? parts : { ...parts, GIT_WORK_TREE: place.path };
};

const failure = (args: readonly string[], result: Execution): GitError => {
  const { code: exit_code, stderr, stopped } = result;
  if (stopped !== undefined) {
    return new GitError({
      args,
      failure: stopped === 'timeout' ? 'timeout' : 'output_limit',
      stderr,
    });
  }
  const path = /Unable to create '(.*\.lock)': File exists/.exec(stderr)?.[1];
  const kind: GitFailure = path === undefined ? 'failed' : 'busy';
  const details = { args, failure: kind, exit_code, stderr };
  return new GitError(
    path === undefined ? details : { ...details, lock: { path, age_s: ageOf(path) } },
  );
};

const ageOf = (path: string): number => {
  const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return changed === undefined ? 0 : Math.max(0, Math.round((Date.now() - changed) / 1000));
};
