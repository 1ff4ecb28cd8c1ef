import { type GitAt, repositoryOf } from '../../tools/git/run/git.ts';
import { KEPT_ROOMS } from './kept-states.ts';
import { RECOVERED } from './recovered.ts';

/** How the owners of all begin that a repository keeps something of. Whoever writes in it can make such a ref. */
export const keptOwners = async (git: GitAt): Promise<string[]> => {
  const rooms = [RECOVERED, ...KEPT_ROOMS.map((room) => `refs/dossier/${room}/`)];
  const args = ['for-each-ref', '--format=%(refname)', ...rooms];
  const lines = await git.at(repositoryOf(git.place)).lines(args);
  return lines.flatMap((line) => /^refs\/dossier\/[^/]+\/([0-9a-f]{8}-)/.exec(line)?.[1] ?? []);
};
