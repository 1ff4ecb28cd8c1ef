import type { Environment } from './environment.ts';
import { type Execution, execute } from './execute.ts';
import { RUN_VARIABLE } from './processes.ts';

/** How the programs that handle whole directories run: outside the main thread, which a large directory would block. */
export interface TreeRun {
  env: Environment;
  /** Set in their environment, so that the next daemon ends those that outlive this one. */
  marker?: string;
  signal?: AbortSignal;
}

/**
 * Copies a directory to a path where nothing is, with modes and times. Shares blocks where the file system can copy on write,
 * and never makes a hard link: a write into the copy leaves the source as it is. Returns what went wrong.
 */
export const copyTree = async (
  from: string,
  to: string,
  run: TreeRun,
): Promise<string | undefined> => {
  // -P instead of -d, which preserves hard links: files that are one file in the source are separate in the copy.
  const copying = process.platform === 'linux' ? ['-PpR', '--reflink=auto'] : ['-pR'];
  return failureOf(await program(['cp', ...copying, '--', from, to], run));
};

/** Deletes a directory with everything in it. Returns what went wrong. */
export const removeTree = async (path: string, run: TreeRun): Promise<string | undefined> =>
  failureOf(await program(['rm', '-rf', '--', path], run));

interface TreeFacts {
  /** The space of a copy on disk. */
  bytes: number;
  /** Links by path relative to the directory, as latin1. */
  links: string[];
  /** Files with a set-uid or set-gid bit, and everything that is no file, directory or link; relative, as latin1. */
  odd: string[];
}

/** Reads what a directory consists of. Throws if a part of it cannot be read. */
export const inspectTree = async (path: string, run: TreeRun): Promise<TreeFacts> => {
  const [links, odd, size] = await Promise.all([
    found(path, ['-type', 'l'], run),
    found(path, ODD, run),
    program(['du', '-skl', '--', '.'], run, path),
  ]);
  const bytes = Number.parseInt(size.stdout.toString('latin1'), 10) * 1024;
  const failure = failureOf(size);
  if (failure !== undefined || Number.isNaN(bytes))
    throw new Error(failure ?? 'du printed no size');
  return { bytes, links, odd };
};

const ODD = [
  ...['(', '-type', 'f', '(', '-perm', '-4000', '-o', '-perm', '-2000', ')', ')'],
  ...['-o', '(', '!', '-type', 'f', '!', '-type', 'd', '!', '-type', 'l', ')'],
];

const found = async (path: string, test: readonly string[], run: TreeRun): Promise<string[]> => {
  const execution = await program(['find', '.', '(', ...test, ')', '-print0'], run, path);
  const failure = failureOf(execution);
  if (failure !== undefined) throw new Error(failure);
  const names = execution.stdout.toString('latin1').split('\0');
  return names.filter((name) => name !== '').map((name) => name.replace(/^\.\//, ''));
};

const TIMEOUT_MS = 900_000;
const MOST_BYTES = 32 * 1024 * 1024;

const program = (argv: readonly string[], run: TreeRun, cwd = '/'): Promise<Execution> => {
  const { env, marker, signal } = run;
  return execute(argv, {
    cwd,
    env: marker === undefined ? env : { ...env, [RUN_VARIABLE]: marker },
    timeout_ms: TIMEOUT_MS,
    max_bytes: MOST_BYTES,
    ...(signal && { signal }),
  });
};

const failureOf = ({ code, stderr, stopped }: Execution): string | undefined => {
  if (stopped !== undefined) return `it was ended (${stopped})`;
  if (code === 0) return undefined;
  return stderr.trim().split('\n')[0] || `exit code ${code}`;
};
