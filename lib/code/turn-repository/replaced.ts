import { type GitAt, repositoryOf } from '../../tools/git/run/git.ts';
import { commitOver } from './pins.ts';

/**
 * The commits among these that no ref of the repository leads to: amended, rebased or reset away in a turn. Answers one
 * commit over all of them; undefined where there are none.
 */
export const replacedCommits = async (
  { at, place }: GitAt,
  former: readonly string[],
): Promise<string | undefined> => {
  if (former.length === 0) return undefined;
  const git = at(repositoryOf(place));
  const input = former.map((oid) => `${oid}\n`).join('');
  const { code, stdout } = await git.run(['rev-list', '--stdin', '--not', '--all'], {
    read: true,
    input,
    ok: [0, 128],
  });
  const loose = new Set(stdout.toString('latin1').split('\n'));
  // A ref that git cannot read is no reason to let go of any.
  const lost = code === 0 ? former.filter((oid) => loose.has(oid)) : former;
  return lost.length === 0 ? undefined : commitOver(git, lost, 'Commits that a turn replaced');
};
