import type { Environment } from '../../process/environment.ts';
import type { ProcessInput } from '../../process/execute.ts';
import type { Setting } from './settings.ts';

/** A repository or worktree by its parts, as recorded when it was made or found. git looks for nothing by itself. */
export interface Checkout {
  git_dir: string;
  common_dir: string;
  /** The directory of the working files; without it only refs, objects and settings are worked on. */
  path?: string;
  /** The Work item that it is for: refs that keep something of it begin with that. */
  case_id?: string;
}

/** A checkout with working files, as recorded when it was made. An agent can edit what lies in it. */
export interface GitWorktree extends Checkout {
  path: string;
  /** Where its `.git` file leads while a turn goes on in it that has a repository of its own. */
  turn_dir?: string;
}

/** A checkout, or a directory from which git finds the repository itself: only where no agent has been. */
export type GitPlace = string | Checkout;

export interface RunOptions {
  /** Takes no lock and waits for nobody; else the command waits its turn among the writes of the repository. */
  read?: boolean;
  input?: ProcessInput;
  timeout_ms?: number;
  max_bytes?: number;
  /** An open file that takes the output, however long; then `stdout` is empty. */
  into?: number;
  /** Exit codes that are an answer; `[0]` unless given. */
  ok?: readonly number[];
  env?: Environment;
  /** Besides the hardening, and stronger than what the repository says. Never on the command line. */
  settings?: readonly Setting[];
  /** Settings that hold together, where the configuration says nothing of any of them. */
  defaults?: readonly Setting[];
  /** Talks to a remote, with the operator's own login. Locks are waited for; for its turn it does not. */
  remote?: boolean;
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

/** What most functions need of git, inside a turn or outside of one. */
export interface Runner {
  /** Runs one command. Throws a ServiceError whose cause is a GitError. */
  run: RunGit;
}

export interface Git extends Runner {
  /** The program, absolute; undefined when git is not installed. */
  readonly program: string | undefined;
  /** Several commands as one write of the repository: nobody else's write comes in between. */
  turn<T>(common_dir: string, work: (run: RunGit) => Promise<T>): Promise<T>;
}

export interface WithGit {
  readonly git: Git;
}
