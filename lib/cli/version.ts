import { versionInfo } from '../daemon/version.ts';
import { toStandardOutput } from './show/terminal.ts';

/** `dossier version`: of the program, not of a daemon that runs. */
export const version = async (): Promise<number> => {
  const { version: number, commit } = versionInfo();
  toStandardOutput(`dossier ${number}${commit === null ? '' : ` (${commit.slice(0, 12)})`}`);
  return 0;
};
