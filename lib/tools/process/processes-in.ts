import { readdir, readFile, readlink } from 'node:fs/promises';
import { isAtOrBelow } from '../../../store/base/paths.ts';
import { RUN_VARIABLE } from './processes.ts';

interface ProcessIn {
  pid: number;
  /** The name of its program. */
  name: string;
}

/**
 * The processes of any run, of a former daemon too, that have `directory`, or one below it, as their working directory.
 * None where there is no /proc to ask.
 */
export const processesIn = async (directory: string): Promise<ProcessIn[]> => {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => processIn(pid, directory)));
  return found.filter((one) => one !== undefined);
};

const processIn = async (pid: string, directory: string): Promise<ProcessIn | undefined> => {
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '');
  if (!isAtOrBelow(cwd, directory)) return undefined;
  const environ = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  if (!environ.split('\0').some((each) => each.startsWith(`${RUN_VARIABLE}=`))) return undefined;
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  return { pid: Number(pid), name: name.trimEnd() };
};
