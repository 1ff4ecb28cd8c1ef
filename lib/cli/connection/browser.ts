import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Config } from '../../config.ts';
import { findProgram } from '../../tools/process/find-program.ts';

/** The program that opens an address in a browser; undefined without a terminal or a display. */
export const browserOpener = (env: Config['env'], isTerminal: boolean): string | undefined => {
  if (!isTerminal) return undefined;
  const from = { PATH: env.PATH ?? '' };
  if (process.platform === 'darwin')
    return env.SSH_CONNECTION ? undefined : findProgram('open', from);
  return env.DISPLAY || env.WAYLAND_DISPLAY ? findProgram('xdg-open', from) : undefined;
};

/** Opens an address; does not wait for the program to end. */
export const openWith = async (opener: string, url: string): Promise<void> => {
  const child = spawn(opener, [url], { detached: true, stdio: 'ignore' });
  await once(child, 'spawn').catch(() => undefined);
  child.unref();
};
