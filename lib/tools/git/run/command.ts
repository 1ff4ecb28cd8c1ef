import { existsSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { orElseUnlessDiskFault } from '../../../../store/base/attempt.ts';
import { recordChange } from '../../../../store/base/write-stage.ts';
import type { Environment } from '../../process/environment.ts';
import { type Execution, execute } from '../../process/execute.ts';
import { LIST_SETTINGS, SETTINGS_BYTES, settingsText } from './config.ts';
import { GitError, type GitFailure, gitProblem } from './error.ts';
import type { Checkout, GitPlace, GitResult, RunOptions } from './git.ts';
import { gitEnvironment, NONE, type Overrides, overrides, plainOverrides } from './hardening.ts';
import { caseSettings } from './letter-case.ts';
import { isThere, plainText } from './plain-file.ts';
import { removeDeadLock } from './stale-lock.ts';

const READ_TIMEOUT_MS = 60_000;
const WRITE_TIMEOUT_MS = 300_000;
const MAX_BYTES = 64 * 1024 * 1024;
const FIRST_RETRY_MS = 50;
const RETRY_FOR_MS = 5000;

interface Command {
  program: string | undefined;
  env: Environment;
  place: GitPlace;
  args: readonly string[];
  options: RunOptions;
}

/**
 * Runs one git command. If another git process holds a lock, retries for up to 5 s and never deletes the lock, except a
 * stale lock of a ref (`removeDeadLock`).
 */
export const runGitCommand = async (command: Command): Promise<GitResult> => {
  const started = performance.now();
  let wait = FIRST_RETRY_MS;
  for (;;) {
    try {
      return await once(command);
    } catch (error) {
      const isLate = performance.now() - started + wait > RETRY_FOR_MS;
      if (!isHeld(error, command) || isLate) throw gitProblem(error, directoryOf(command.place));
      if (removeDeadLock(command.place, error.lock?.path)) continue;
    }
    await delay(wait);
    wait *= 2;
  }
};

const isHeld = (error: unknown, { options }: Command): error is GitError =>
  error instanceof GitError && error.failure === 'busy' && options.read !== true;

const once = async (command: Command): Promise<GitResult> => {
  const changes = touchesFiles(command.args) ? await disarmedConfig(command) : NONE;
  const result = await start(command, changes);
  const { ok = [0], read } = command.options;
  if (read !== true) recordChange(`git ${command.args[0]}`);
  const { code, stopped, stderr } = result;
  // A lock error is never an accepted exit code.
  const isAnswer = stopped === undefined && (code === 0 || lockIn(stderr) === undefined);
  if (isAnswer && code !== null && ok.includes(code)) return { ...result, code };
  throw failure(command.args, result);
};

// Commands that read no working file, and so start no filter, diff or merge driver.
// Not write-tree: when git writes the index it reads files that changed in the same tick again.
const BLIND = new Set([
  ...['cat-file', 'check-ref-format', 'commit-tree', 'config', 'fast-import', 'for-each-ref'],
  ...['ls-files', 'mktree', 'rev-list', 'rev-parse', 'symbolic-ref', 'update-ref'],
]);

const touchesFiles = ([name = '', what]: readonly string[]): boolean =>
  !BLIND.has(name) && !(name === 'worktree' && what === 'list');

// Overrides programs that the repository's configuration names. Usually there are none, which its text shows without git.
const disarmedConfig = async (command: Command): Promise<Overrides> => {
  const { place, options } = command;
  const isLocal = typeof place !== 'string' && options.remote !== true;
  const text = isLocal ? settingsText(place) : undefined;
  const plain = text === undefined ? undefined : plainOverrides(text);
  if (plain !== undefined) return plain;
  const args = LIST_SETTINGS;
  const { code, ...listing } = await start({ ...command, args, options: { read: true } }, NONE);
  if (code !== 0) throw failure(args, { code, ...listing });
  return overrides(listing.stdout.toString('utf8'), command.options);
};

const start = async (command: Command, { settings, env }: Overrides): Promise<Execution> => {
  const { place, args, options } = command;
  const read = options.read === true;
  const { program, directory } = ready(command);
  const all = [...caseSettings(place), ...settings, ...(options.settings ?? [])];
  return execute([program, '--no-pager', ...args], {
    cwd: directory,
    env: {
      ...gitEnvironment(command.env, all, read),
      ...env,
      ...partsOf(place),
      ...options.env,
    },
    timeout_ms: options.timeout_ms ?? (read ? READ_TIMEOUT_MS : WRITE_TIMEOUT_MS),
    max_bytes: options.max_bytes ?? MAX_BYTES,
    input: options.input,
    into: options.into,
  });
};

const ready = ({ program, place, args }: Command): { program: string; directory: string } => {
  const directory = directoryOf(place);
  if (program === undefined) throw new GitError({ args, failure: 'not_installed' });
  if (!existsSync(directory)) throw new GitError({ args, failure: 'no_directory' });
  if (typeof place !== 'string' && !sharesRefs(place))
    throw new GitError({ args, failure: 'tampered' });
  return { program, directory };
};

const directoryOf = (place: GitPlace): string =>
  typeof place === 'string' ? place : (place.path ?? place.git_dir);

// git reads refs, and in a main checkout also configuration, from where `commondir` points, even with GIT_COMMON_DIR set. An
// agent can edit that file.
const sharesRefs = ({ git_dir, common_dir }: Checkout): boolean => {
  const pointer = join(git_dir, 'commondir');
  if (git_dir === common_dir) return !isThere(pointer);
  const text = plainText(pointer, SETTINGS_BYTES);
  if (text === undefined) return false;
  const target = Buffer.from(text, 'latin1').toString('utf8').trimEnd();
  return orElseUnlessDiskFault(
    () => realpathSync(resolve(git_dir, target)) === realpathSync(common_dir),
    false,
  );
};

// An agent can edit the `.git` file of a worktree. With these variables git does not read it.
const partsOf = (place: GitPlace): Environment => {
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
  const path = lockIn(stderr);
  const kind: GitFailure = path === undefined ? 'failed' : 'busy';
  const details = { args, failure: kind, exit_code, stderr };
  return new GitError(
    path === undefined ? details : { ...details, lock: { path, age_s: ageOf(path) } },
  );
};

const lockIn = (stderr: string): string | undefined => {
  const config = /could not lock config file (.*): File exists/.exec(stderr)?.[1];
  if (config !== undefined) return `${config}.lock`;
  return /Unable to create '(.*\.lock)': File exists/.exec(stderr)?.[1];
};

/** The age of a lock file, in seconds; 0 if it is gone. */
export const ageOf = (path: string): number => {
  const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return changed === undefined ? 0 : Math.max(0, Math.round((Date.now() - changed) / 1000));
};
