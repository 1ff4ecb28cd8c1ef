import type { Environment } from '../../process/environment.ts';
import type { ProcessInput } from '../../process/execute.ts';

/** A setting of git's configuration. */
export type Setting = readonly [key: string, value: string];

/** The directories of a repository or worktree, as recorded when it was created or found. git does not search for them. */
export interface Checkout {
  git_dir: string;
  common_dir: string;
  /** The working tree; without it only refs, objects and configuration can be used. */
  path?: string;
  /** The Work item of the worktree; the names of its refs under `refs/dossier/` contain it. */
  case_id?: string;
}

/** A checkout with a working tree, as recorded when it was created. An agent can edit files in it. */
export interface GitWorktree extends Checkout {
  path: string;
  /** Where its `.git` file leads during a turn with a repository of its own. */
  turn_dir?: string;
}

/** A checkout, or a directory in which git searches for the repository: only where no agent has worked. */
export type GitPlace = string | Checkout;

export interface RunOptions {
  /** The command only reads: it takes no lock. Other commands wait for the lock of the repository. */
  read?: boolean;
  input?: ProcessInput;
  timeout_ms?: number;
  max_bytes?: number;
  /** An open file descriptor that receives output of any length; `stdout` is then empty. */
  into?: number;
  /** Exit codes that do not throw; default `[0]`. */
  ok?: readonly number[];
  env?: Environment;
  /** Settings that override the repository's configuration. Passed by environment, never as arguments. */
  settings?: readonly Setting[];
  /** Talks to a remote with the operator's login. Waits for git's lock files, but not for the lock of the repository. */
  remote?: boolean;
  /** With `remote`: also passes the variables with tokens of a code host, which credential helpers may need. */
  tokens?: boolean;
}

export interface GitResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

export type RunGit = (
  place: GitPlace,
  args: readonly string[],
  options?: RunOptions,
) => Promise<GitResult>;

/** Gives git bound to any place. */
export interface GitSource {
  at<P extends GitPlace>(place: P): GitAt<P>;
}

/** git bound to one place. */
export interface GitAt<P extends GitPlace = Checkout> extends GitSource {
  readonly place: P;
  /** Runs one command. Throws a ServiceError whose cause is a GitError. */
  run(args: readonly string[], options?: RunOptions): Promise<GitResult>;
  /** The output of a command that only reads. */
  read(args: readonly string[], options?: RunOptions): Promise<Buffer>;
  /** The same as text, without the final newline. */
  text(args: readonly string[], options?: RunOptions): Promise<string>;
  /** The same, or undefined if git exits with 1 or 128 (other codes with `ok`). */
  find(args: readonly string[], options?: RunOptions): Promise<string | undefined>;
  /** The same as lines, read as latin1. */
  lines(args: readonly string[], options?: RunOptions): Promise<string[]>;
  /** The same as NUL-terminated entries (`-z`), read as latin1. */
  names(args: readonly string[], options?: RunOptions): Promise<string[]>;
  /** The same git, with options that apply to each command. */
  with(options: RunOptions): GitAt<P>;
}

export interface Git extends GitSource {
  /** The absolute path of git; undefined if git is not installed. */
  readonly program: string | undefined;
  /** Runs several commands under the lock of the repository, so that no other write of the daemon comes between them. */
  turn<P extends Checkout, T>(place: P, work: (git: GitAt<P>) => Promise<T>): Promise<T>;
}

export interface WithGit {
  readonly git: Git;
}

/** The repository of a checkout: refs and objects, without a working tree. */
export const repositoryOf = ({ common_dir }: Pick<Checkout, 'common_dir'>): Checkout => ({
  git_dir: common_dir,
  common_dir,
});
