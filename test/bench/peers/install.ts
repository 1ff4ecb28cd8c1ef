import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { track } from '../processes.ts';

/** Installs a package of npm into a directory. Throws an error with what npm wrote. */
export const install = async (name: string, into: string): Promise<void> => {
  const args = ['install', '--prefix', into, '--no-save', '--no-audit', '--no-fund'];
  const npm = track(
    spawn('npm', [...args, '--loglevel=error', name], {
      cwd: into,
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  );
  const [code] = await once(npm, 'exit');
  if (code !== 0) throw new Error(`npm install ended with ${code}`);
};
