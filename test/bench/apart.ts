import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { track } from './processes.ts';

const APART = 'DOSSIER_BENCH_APART';
const NAMESPACES = ['unshare', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
// The shell is the first process of its table: it takes over orphans, which Node does not.
const INSIDE = [...NAMESPACES, 'sh', '-c', 'ip link set lo up && "$@"; exit $?', 'sh'];

/**
 * Runs this program again with a network and a table of processes of its own, where the system gives it one: the daemon reads
 * both, and other programs on the machine make them long. Returns its exit code; undefined where it has to run here.
 */
export const runApart = async (): Promise<number | undefined> => {
  if (process.env[APART] !== undefined) return undefined;
  const [unshare = '', ...args] = INSIDE;
  if (spawnSync(unshare, [...args, 'true']).status !== 0) {
    process.stderr.write('Measuring beside all other programs: unshare has no namespaces here\n');
    return undefined;
  }
  const argv = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const env = { ...process.env, [APART]: '1' };
  const child = track(spawn(unshare, [...args, ...argv], { stdio: 'inherit', env }));
  const [code] = await once(child, 'exit');
  return code ?? 1;
};
