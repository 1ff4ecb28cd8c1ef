import { type GitAt, repositoryOf } from '../../tools/git/run/git.ts';
import { KEPT_ROOMS } from './kept-states.ts';
import { RECOVERED } from './recovered.ts';

/** The refs under which a repository keeps something, whose ever it is. Whoever writes in it can make such a ref. */
export const keptRefs = async (git: GitAt): Promise<string[]> => {
  const rooms = [RECOVERED, ...KEPT_ROOMS.map((room) => `refs/dossier/${room}/`)];
  const args = ['for-each-ref', '--format=%(refname)', ...rooms];
  const lines = await git.at(repositoryOf(git.place)).lines(args);
  // Of refs that were put back there are several, below one.
  return lines.flatMap((line) => /^refs\/dossier\/[^/]+\/[0-9a-f]{8}-[^/]+/.exec(line)?.[0] ?? []);
};
