import { shellQuoted } from '../../../store/base/text.ts';

/** A command of `dossier` to paste into a shell: it reaches this daemon, whatever its workspace is. */
export const dossierCommand = (words: string, workspace: string | undefined): string =>
  `dossier ${words}${workspace === undefined ? '' : ` --workspace ${shellQuoted(workspace)}`}`;
