import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { findProgram } from './find-program.ts';

/**
 * Runs a program as the operator would who types it: with all of their environment, at their terminal. Answers its exit
 * code; null where a signal ended it.
 */
export const runAtTerminal = async (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number | null> => {
  // Ctrl-C is for the program.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    const [code] = await once(spawn(program, args, { env, stdio: 'inherit' }), 'exit');
    return code;
  } finally {
    process.off('SIGINT', ignore);
  }
};

/** What such a program writes, without the line's end; undefined where it fails. */
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
 * Opens a file in the operator's editor ($VISUAL, $EDITOR, else vi), as git does, until it is left. Answers why nothing
 * was edited.
 */
export const editFile = async (
  path: string,
  source: NodeJS.ProcessEnv,
): Promise<string | undefined> => {
  const editor = source.VISUAL || source.EDITOR || findProgram('vi', { PATH: source.PATH ?? '' });
  if (editor === undefined) return 'There is no editor: name one in EDITOR.';
  const code = await runAtTerminal('/bin/sh', ['-c', `${editor} "$@"`, editor, path], source);
  return code === 0 ? undefined : `The editor (${editor}) ended with ${code ?? 'a signal'}.`;
};

/**
 * Shows a text by the operator's pager ($PAGER, else less), as git does, until it is left. False: there is none, or it
 * cannot be started, and nothing was shown.
 */
export const showByPager = async (text: string, source: NodeJS.ProcessEnv): Promise<boolean> => {
  const pager = source.PAGER ?? findProgram('less', { PATH: source.PATH ?? '' });
  if (pager === undefined || pager.trim() === '') return false;
  // Ctrl-C is for the pager: it would be left alone with the terminal.
  process.on('SIGINT', () => undefined);
  const child = spawn('/bin/sh', ['-c', pager], {
    env: { LESS: 'FRX', ...source },
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  // Who leaves before the end has read enough.
  child.stdin.on('error', () => undefined).end(text);
  const [code] = await once(child, 'exit');
  return code !== 126 && code !== 127;
};
