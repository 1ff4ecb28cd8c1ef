import type { Environment } from '../../process/environment.ts';
import type { ProcessInput } from '../../process/execute.ts';

/** A setting of git's configuration. */
export type Setting = readonly [key: string, value: string];

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

/** From where git can be had in any place: the door, or git in another place. */
export interface GitSource {
  at<P extends GitPlace>(place: P): GitAt<P>;
}

/** git in one place, inside a turn or outside of one. */
export interface GitAt<P extends GitPlace = Checkout> extends GitSource {
  readonly place: P;
  /** Runs one command. Throws a ServiceError whose cause is a GitError. */
  run(args: readonly string[], options?: RunOptions): Promise<GitResult>;
  /** What a command answers that only reads. */
  read(args: readonly string[], options?: RunOptions): Promise<Buffer>;
  /** The same as text, without the line's end. */
  text(args: readonly string[], options?: RunOptions): Promise<string>;
  /** The same of what may not be there: undefined where git says so, by the exit codes 1 and 128 unless others are `ok`. */
  find(args: readonly string[], options?: RunOptions): Promise<string | undefined>;
  /** The same line by line, read as latin1, byte for byte. */
  lines(args: readonly string[], options?: RunOptions): Promise<string[]>;
  /** The same of a listing whose entries NUL bytes end (`-z`). */
  names(args: readonly string[], options?: RunOptions): Promise<string[]>;
  /** The same git, with options that hold for each command. */
  with(options: RunOptions): GitAt<P>;
}

export interface Git extends GitSource {
  /** The program, absolute; undefined when git is not installed. */
  readonly program: string | undefined;
  /** Several commands as one write of the repository: nobody else's write comes in between. */
  turn<P extends Checkout, T>(place: P, work: (git: GitAt<P>) => Promise<T>): Promise<T>;
}

export interface WithGit {
  readonly git: Git;
}

/** Its repository alone: refs and objects, without working files. */
export const repositoryOf = ({ common_dir }: Checkout): Checkout => ({
  git_dir: common_dir,
  common_dir,
});
