import { orElse } from '../../../store/base/attempt.ts';
import { ServiceError } from '../../errors.ts';
import { readBlobs } from '../../tools/git/read/blobs.ts';
import { commitOf } from '../../tools/git/read/repository.ts';
import { type Checkout, type Git, type GitAt, repositoryOf } from '../../tools/git/run/git.ts';
import { commitAt } from '../../tools/git/write/commit.ts';
import { RECOVERED } from './kept-refs.ts';
import type { WorktreeSnapshot } from './snapshot.ts';

const NOTE = 'dossier.json';

interface WorkToSave {
  /** The last part of the ref's name, `<owner>-<time>`; a number is appended if it exists. */
  name: string;
  /** The state to save together with the commits; without it only the commits are saved. */
  state?: WorktreeSnapshot;
  head: string | null;
  /** Stored as JSON in the commit. */
  note: object;
}

/** Saves the work of a worktree under a new ref and returns the ref. The daemon never deletes it unasked. */
export const saveRecoveredWork = async (
  git: Git,
  place: Checkout,
  { name, state, head, note }: WorkToSave,
): Promise<string> =>
  git.turn(repositoryOf(place), async (now) => {
    const text = `${JSON.stringify(note)}\n`;
    const tree = state && (await now.text(['rev-parse', `${state.commit}^{tree}`]));
    const ref = await freeRef(now, name);
    await commitAt(now, {
      ref,
      parents: head === null ? [] : [head],
      message: 'The work of a removed worktree\n',
      entries: [
        ...(tree === undefined ? [] : [`M 040000 ${tree} ""`]),
        `M 100644 inline ${NOTE}\ndata ${Buffer.byteLength(text)}\n${text}`,
      ],
    });
    return ref;
  });

// Two recoveries may have the same second in their name.
const freeRef = async (git: GitAt, name: string): Promise<string> => {
  for (let number = 1; ; number += 1) {
    const ref = number === 1 ? `${RECOVERED}${name}` : `${RECOVERED}${name}-${number}`;
    if ((await commitOf(git, ref)) === undefined) return ref;
  }
};

export interface RecoveredWork {
  /** The last part of the ref's name. */
  name: string;
  ref: string;
  head: string | null;
  /** The saved note, if it is valid JSON. Untrusted: programs that can write the repository can forge it. */
  note: unknown;
}

/** Lists recoveries whose names have this prefix, oldest first. */
export const listRecoveredWork = async (
  { at, place }: GitAt,
  begin: string,
): Promise<RecoveredWork[]> => {
  const git = at(repositoryOf(place));
  const format = '--format=%(refname) %(objectname) %(objecttype) %(parent)';
  const lines = await git.lines(['for-each-ref', format, `${RECOVERED}${begin}*`]);
  const works = lines.flatMap((line) => {
    const [ref = '', oid = '', kind, head = null] = line.split(' ').filter(Boolean);
    return kind === 'commit' ? [{ ref, oid, head }] : [];
  });
  const notes = await readBlobs(
    git,
    works.map(({ oid }) => `${oid}:${NOTE}`),
  );
  return works
    .map(({ ref, head }, at) => ({
      name: ref.slice(RECOVERED.length),
      ref,
      head,
      note: orElse(() => JSON.parse(notes[at]?.toString('utf8') ?? ''), undefined),
    }))
    .toSorted((one, other) => (one.ref < other.ref ? -1 : 1));
};

/** Throws if a tree contains paths that point outside a worktree, as in a forged recovery. */
export const refuseUnsafeTree = async ({ at, place }: GitAt, tree: string): Promise<void> => {
  const git = at(repositoryOf(place));
  const names = await git.names(['ls-tree', '-r', '-z', '--name-only', tree]);
  const unsafe = names.find((name) => name.split('/').some(isUnsafe));
  if (unsafe === undefined) return;
  throw new ServiceError(
    'git_failed',
    `The recovery contains the unsafe path ${JSON.stringify(unsafe)} and was not written by the daemon. Nothing was restored.`,
  );
};

const isUnsafe = (name: string): boolean => name === '.' || name === '..' || /^\.git$/i.test(name);
