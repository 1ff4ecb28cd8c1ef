import { dossierCommand } from '../../../store/base/text.ts';
import type { Config } from '../../config.ts';

/** A command to paste, with --workspace unless it is the default one. */
export const shellCommand = ({ workspace, env }: Config, words: string): string => {
  const found = env.DOSSIER_WORKSPACE || `${env.HOME}/dossier`;
  return dossierCommand(words, workspace === found ? undefined : workspace);
};
