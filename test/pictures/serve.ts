import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { DOSSIER, firstUrl } from '../helpers/daemon.ts';

/** The bundled daemon, outside of a test. */
export const serveAlone = async (workspace: string, repo: string) => {
  const args = [
    DOSSIER,
    'serve',
    '--port',
    '0',
    '--workspace',
    workspace,
    '--repo',
    repo,
    '--trust',
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await firstUrl(child);
  const end = async (): Promise<void> => {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  };
  return { url, end };
};
