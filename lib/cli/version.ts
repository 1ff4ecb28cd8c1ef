import { versionInfo } from '../daemon/version.ts';
import type { Call } from './args/command.ts';
import { toStandardOutput as say, sayJson } from './output/terminal.ts';

/** `dossier version`: the version of this program, not of a running daemon. */
export const version = async ({ values }: Call): Promise<number> => {
  const info = versionInfo();
  const { version: number, commit } = info;
  if (values.json === true) sayJson(say, info);
  else say(`dossier ${number}${commit === null ? '' : ` (${commit.slice(0, 12)})`}`);
  return 0;
};
