import type { Environment } from '../../process/environment.ts';

/** Whose name is on commits that the daemon makes for itself, or where git has not been told who its user is. */
export const DAEMON: Environment = {
  GIT_AUTHOR_NAME: 'Dossier',
  GIT_AUTHOR_EMAIL: 'dossier@localhost',
  GIT_COMMITTER_NAME: 'Dossier',
  GIT_COMMITTER_EMAIL: 'dossier@localhost',
};
