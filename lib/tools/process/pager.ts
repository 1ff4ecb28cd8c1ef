import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findProgram } from './find-program.ts';

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
