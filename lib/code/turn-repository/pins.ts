import { join } from 'node:path';
import { type GitAt, repositoryOf } from '../../tools/git/run/git.ts';
import { commitAt } from '../../tools/git/write/commit.ts';
import { newUndoneRoot } from '../snapshots/undo-refs.ts';
import type { KnownRefs } from './refs.ts';

const ROOM = 'refs/dossier/pins/';

/** Protects the commits that a turn starts with from `git gc`, even if their branches and tags are deleted. */
export const pinRefs = async (
  { at, place }: GitAt,
  name: string,
  { refs, kinds }: KnownRefs,
): Promise<void> => {
  const git = at(repositoryOf(place));
  const oids = new Set(refs.values());
  const [commit, ...others] = [...oids].filter((oid) => kinds.get(oid) === 'commit');
  if (commit === undefined) return;
  const ref = `${ROOM}${name}`;
  if (others.length === 0) await git.run(['update-ref', ref, commit]);
  else await commitAt(git, { ref, parents: [commit, ...others], message: PINNED, isForced: true });
};

const PINNED = 'What a turn began with\n';

/** Copies tag objects into the turn's repository, because a commit cannot keep them reachable. */
export const copyTags = async (
  git: GitAt,
  dir: string,
  { refs, kinds }: KnownRefs,
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
 * Makes one commit over those of `former` that no ref reaches any more, because a turn amended, rebased or reset them away.
 * Returns it, the ref that keeps it, and the commits themselves; undefined if there are none.
 */
export const keepReplacedCommits = async (
  { at, place }: GitAt,
  former: readonly string[],
): Promise<{ after: string; kept_ref: string; lost: readonly string[] } | undefined> => {
  if (former.length === 0) return undefined;
  const git = at(repositoryOf(place));
  const input = former.map((oid) => `${oid}\n`).join('');
  const { code, stdout } = await git.run(['rev-list', '--stdin', '--not', ...LASTING], {
    read: true,
    input,
    ok: [0, 128],
  });
  const loose = new Set(stdout.toString('latin1').split('\n'));
  // If git cannot read a ref, keep all of them.
  const lost = code === 0 ? former.filter((oid) => loose.has(oid)) : former;
  if (lost.length === 0) return undefined;
  const kept_ref = `${newUndoneRoot(place)}/replaced-commits`;
  const message = 'Commits that a turn replaced\n';
  return { after: await commitAt(git, { ref: kept_ref, parents: lost, message }), kept_ref, lost };
};

// The operator's refs, and those of turns that are kept and reported by name. Pins and snapshots are deleted later.
const LASTING = [
  '--exclude=refs/dossier/*',
  '--all',
  '--exclude=refs/dossier/undone/*/replaced-commits',
  '--glob=refs/dossier/undone/*/*',
];
