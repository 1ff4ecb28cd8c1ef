import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { findProgram } from './find-program.ts';

/**
 * Runs a program at the operator's terminal with their whole environment. Returns its exit code, null if a signal ended it,
 * and what it wrote to standard error, which is shown as it comes.
 */
export const runAtTerminalTold = (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; stderr: string }> =>
  interruptedAlone(async () => {
    const child = spawn(program, args, { env, stdio: ['inherit', 'inherit', 'pipe'] });
    const pieces: Buffer[] = [];
    child.stderr.on('data', (piece: Buffer) => {
      process.stderr.write(piece);
      pieces.push(piece);
    });
    const closed = once(child, 'close');
    const [code] = await once(child, 'exit');
    // A program in the background, such as a hook starts, may keep the stream open.
    await Promise.race([closed, delay(LAST_WORDS_MS)]);
    return { code, stderr: Buffer.concat(pieces).toString() };
  });

// Ctrl-C goes to the program only.
const interruptedAlone = async <T>(work: () => Promise<T>): Promise<T> => {
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    return await work();
  } finally {
    process.off('SIGINT', ignore);
  }
};

const LAST_WORDS_MS = 500;

/**
 * Runs a program at the operator's terminal with exactly this environment, and ends it when `over` settles. Returns its exit
 * code; null if a signal ended it.
 */
export const runAttached = (
  [program = '', ...args]: readonly string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
  over: Promise<void>,
): Promise<number | null> =>
  interruptedAlone(async () => {
    const child = spawn(program, args, { cwd, env, stdio: 'inherit' });
    const end = (): void => void child.kill('SIGKILL');
    // An end of this process ends the program first.
    process.on('SIGTERM', end);
    void over.then(end);
    try {
      const [code] = await once(child, 'exit');
      return code;
    } finally {
      process.off('SIGTERM', end);
    }
  });

/** The output of a program without its final newline; undefined if the program fails. */
export const outputOf = (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile(program, args, { env, encoding: 'utf8', maxBuffer: MOST_BYTES }, (error, stdout) =>
      resolve(error === null ? stdout.replace(/\n$/, '') : undefined),
    );
  });

const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Opens a file in the operator's editor ($VISUAL, $EDITOR, else vi), as git does, and waits until it exits. Returns an error
 * message, or undefined.
 */
export const editFile = async (
  path: string,
  source: NodeJS.ProcessEnv,
): Promise<string | undefined> => {
  const editor = source.VISUAL || source.EDITOR || findProgram('vi', { PATH: source.PATH ?? '' });
  if (editor === undefined) return 'No editor found. Set EDITOR.';
  const args = ['-c', `${editor} "$@"`, editor, path];
  const [code] = await interruptedAlone(() =>
    once(spawn('/bin/sh', args, { env: source, stdio: 'inherit' }), 'exit'),
  );
  return code === 0 ? undefined : `The editor (${editor}) ended with ${code ?? 'a signal'}.`;
};

/**
 * Shows a text in the operator's pager ($PAGER, else less), as git does, and waits until it exits. False if there is no
 * pager or it cannot be started.
 */
export const showByPager = async (text: string, source: NodeJS.ProcessEnv): Promise<boolean> => {
  const pager = source.PAGER ?? findProgram('less', { PATH: source.PATH ?? '' });
  if (pager === undefined || pager.trim() === '') return false;
  // Ctrl-C goes to the pager only; this process must not exit before it.
  process.on('SIGINT', () => undefined);
  const child = spawn('/bin/sh', ['-c', pager], {
    env: { LESS: 'FRX', ...source },
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  // The operator may quit before the end of the text.
  child.stdin.on('error', () => undefined).end(text);
  const [code] = await once(child, 'exit');
  return code !== 126 && code !== 127;
};
