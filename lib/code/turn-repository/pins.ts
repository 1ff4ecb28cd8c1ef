import { join } from 'node:path';
import { DAEMON } from '../../tools/git/run/author.ts';
import { type GitAt, repositoryOf } from '../../tools/git/run/git.ts';
import type { RefList } from './refs.ts';

const ROOM = 'refs/dossier/pins/';

interface Pinned {
  refs: RefList;
  /** The kinds of what they name, by their ids. */
  kinds: ReadonlyMap<string, string>;
}

/** Keeps all commits that a turn begins with from git's clean-up, whoever deletes their branches and tags meanwhile. */
export const pinRefs = async (
  { at, place }: GitAt,
  name: string,
  { refs, kinds }: Pinned,
): Promise<void> => {
  const git = at(repositoryOf(place));
  const oids = new Set(refs.values());
  const [commit, ...others] = [...oids].filter((oid) => kinds.get(oid) === 'commit');
  if (commit === undefined) return;
  const ref = `${ROOM}${name}`;
  if (others.length === 0) await git.run(['update-ref', ref, commit]);
  else await commitAt(git, ref, [commit, ...others]);
};

// The commit, its empty tree and its ref by one process; one that was left there is written over.
const commitAt = async (
  git: GitAt,
  ref: string,
  [first, ...others]: readonly string[],
): Promise<void> => {
  const input = [
    `commit ${ref}\ncommitter ${WHO}\ndata ${PINNED.length}\n${PINNED}`,
    `from ${first}`,
    ...others.map((oid) => `merge ${oid}`),
    'deleteall\n',
  ].join('\n');
  await git.run(['fast-import', '--quiet', '--force'], { input });
};

const PINNED = 'What a turn began with\n';

/** Makes a commit that holds others, and nothing else. */
const commitWithParents = async (
  git: GitAt,
  commits: readonly string[],
  message: string,
): Promise<string> => {
  const own = git.with({ env: DAEMON });
  const tree = await own.text(['mktree'], { input: '' });
  const parents = [...new Set(commits)].map((oid) => `parent ${oid}\n`).join('');
  const text = `tree ${tree}\n${parents}author ${WHO}\ncommitter ${WHO}\n\n${message}\n`;
  return own.text(['hash-object', '-t', 'commit', '-w', '--stdin'], { input: text });
};

const WHO = 'Dossier <dossier@localhost> 0 +0000';

/** Copies the tags themselves, which no commit can keep, into the objects of the turn. */
export const copyTags = async (git: GitAt, dir: string, { refs, kinds }: Pinned): Promise<void> => {
  const tags = [...new Set(refs.values())].flatMap((oid) =>
    kinds.has(oid) && kinds.get(oid) !== 'commit' ? [`${oid}\n`] : [],
  );
  if (tags.length === 0) return;
  const base = join(dir, 'objects', 'pack', 'pack');
  await git.read(['pack-objects', '--quiet', base], { input: tags.join('') });
};

/** Lets go of them. */
export const unpin = async ({ at, place }: GitAt, name: string): Promise<void> => {
  await at(repositoryOf(place)).run(['update-ref', '-d', `${ROOM}${name}`]);
};

/**
 * The commits among these that no ref of the repository leads to: amended, rebased or reset away in a turn. Answers one
 * commit over all of them; undefined where there are none.
 */
export const keepReplacedCommits = async (
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
  return lost.length === 0
    ? undefined
    : commitWithParents(git, lost, 'Commits that a turn replaced');
};
