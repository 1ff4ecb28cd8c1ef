import { join } from 'node:path';
import { type GitAt, repositoryOf } from '../../tools/git/run/git.ts';
import { DAEMON } from '../../tools/git/write/commit.ts';
import type { RefList } from './refs.ts';

const ROOM = 'refs/dossier/pins/';

interface PinnedRefs {
  refs: RefList;
  /** Object types, by object id. */
  kinds: ReadonlyMap<string, string>;
}

/** Protects the commits that a turn starts with from `git gc`, even if their branches and tags are deleted. */
export const pinRefs = async (
  { at, place }: GitAt,
  name: string,
  { refs, kinds }: PinnedRefs,
): Promise<void> => {
  const git = at(repositoryOf(place));
  const oids = new Set(refs.values());
  const [commit, ...others] = [...oids].filter((oid) => kinds.get(oid) === 'commit');
  if (commit === undefined) return;
  const ref = `${ROOM}${name}`;
  if (others.length === 0) await git.run(['update-ref', ref, commit]);
  else await commitAt(git, ref, [commit, ...others]);
};

// One process writes the commit, its empty tree and its ref. A leftover ref is overwritten.
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

/** Creates a commit with an empty tree whose parents are these commits. */
const commitWithParents = async (
  git: GitAt,
  commits: readonly string[],
  message: string,
): Promise<string> => {
  const own = git.with({ env: DAEMON });
  const tree = await own.text(['mktree'], { input: '' });
  const parents = [...new Set(commits)].map((oid) => `parent ${oid}\n`).join('');
  // A list of recoveries shows this time.
  const who = WHO.replace(' 0 ', ` ${Math.floor(Date.now() / 1000)} `);
  const text = `tree ${tree}\n${parents}author ${who}\ncommitter ${who}\n\n${message}\n`;
  return own.text(['hash-object', '-t', 'commit', '-w', '--stdin'], { input: text });
};

const WHO = 'Dossier <dossier@localhost> 0 +0000';

/** Copies tag objects into the turn's repository, because a commit cannot keep them reachable. */
export const copyTags = async (
  git: GitAt,
  dir: string,
  { refs, kinds }: PinnedRefs,
): Promise<void> => {
  const tags = [...new Set(refs.values())].flatMap((oid) =>
    kinds.has(oid) && kinds.get(oid) !== 'commit' ? [`${oid}\n`] : [],
  );
  if (tags.length === 0) return;
  const base = join(dir, 'objects', 'pack', 'pack');
  await git.read(['pack-objects', '--quiet', base], { input: tags.join('') });
};

/** Deletes the pin of `pinRefs`. */
export const unpin = async ({ at, place }: GitAt, name: string): Promise<void> => {
  await at(repositoryOf(place)).run(['update-ref', '-d', `${ROOM}${name}`]);
};

/**
 * Creates one commit over those of `former` that no ref reaches any more, because a turn amended, rebased or reset them
 * away. Undefined if there are none.
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
  // If git cannot read a ref, keep all of them.
  const lost = code === 0 ? former.filter((oid) => loose.has(oid)) : former;
  return lost.length === 0
    ? undefined
    : commitWithParents(git, lost, 'Commits that a turn replaced');
};
