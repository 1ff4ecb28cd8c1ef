import { orElse } from '../../../store/base/or-else.ts';
import { ServiceError } from '../../errors.ts';
import { commitOf } from '../../tools/git/read/repository.ts';
import { DAEMON } from '../../tools/git/run/author.ts';
import { type Checkout, type Git, type GitAt, repositoryOf } from '../../tools/git/run/git.ts';
import { RECOVERED } from './kept-refs.ts';
import type { WorktreeSnapshot } from './snapshot.ts';

const NOTE = 'dossier.json';

interface Keeping {
  /** The end of the ref's name, `<whose>-<when>`; with a number where one is there already. */
  name: string;
  /** What is kept, with the commits below it; without one the commits alone. */
  state?: WorktreeSnapshot;
  head: string | null;
  /** Goes with it, as JSON. */
  note: object;
}

/** Keeps the work of a worktree under a ref of the repository, and answers it. Only a hand removes it. */
export const saveRecoveredWork = async (
  git: Git,
  place: Checkout,
  { name, state, head, note }: Keeping,
): Promise<string> =>
  git.turn(repositoryOf(place), async (now) => {
    const say = saying(now);
    const input = `${JSON.stringify(note)}\n`;
    const blob = await say(['hash-object', '-w', '--stdin'], input);
    const entries =
      state === undefined ? '' : await say(['ls-tree', '-z', `${state.commit}^{tree}`]);
    const tree = await say(['mktree', '-z'], `${entries}100644 blob ${blob}\t${NOTE}\0`);
    const parent = head === null ? [] : ['-p', head];
    const message = 'The work of a removed worktree';
    const commit = await say(['commit-tree', ...parent, '-m', message, tree]);
    const ref = await freeRef(now, name);
    // The empty old value: a ref that is there already is not overwritten.
    await now.run(['update-ref', ref, commit, '']);
    return ref;
  });

// Two within one second.
const freeRef = async (git: GitAt, name: string): Promise<string> => {
  for (let number = 1; ; number += 1) {
    const ref = number === 1 ? `${RECOVERED}${name}` : `${RECOVERED}${name}-${number}`;
    if ((await commitOf(git, ref)) === undefined) return ref;
  }
};

export interface RecoveredWork {
  /** The end of the ref's name. */
  name: string;
  ref: string;
  head: string | null;
  /** As it was given, if it is there and JSON. It can be forged by whoever writes in the repository. */
  note: unknown;
}

/** What is kept under names that begin so, oldest first. */
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
  const notes = await notesOf(git, works);
  return works
    .map(({ ref, head }, at) => ({
      name: ref.slice(RECOVERED.length),
      ref,
      head,
      note: orElse(() => JSON.parse(notes[at] ?? ''), undefined),
    }))
    .toSorted((one, other) => (one.ref < other.ref ? -1 : 1));
};

// All with one look: of one that is no file, or very large, there is none.
const notesOf = async (
  git: GitAt,
  works: readonly { oid: string }[],
): Promise<(string | undefined)[]> => {
  if (works.length === 0) return [];
  const input = works.map(({ oid }) => `${oid}:${NOTE}\n`).join('');
  let left = await git.read(['cat-file', '--batch'], { input, ok: [0, 128] });
  return works.map(() => {
    const end = left.indexOf('\n');
    const size = /^[0-9a-f]+ (\w+) (\d+)$/.exec(left.toString('latin1', 0, Math.max(0, end)));
    const begin = end + 1;
    const isBlob = size?.[1] === 'blob';
    const length = size === null ? -1 : Number(size[2]);
    const content = left.subarray(begin, begin + Math.max(0, length));
    left = left.subarray(begin + length + 1);
    return isBlob ? content.toString('utf8') : undefined;
  });
};

/**
 * Throws unless a tree of files can be put into a worktree: whoever writes in the repository can make one whose names
 * lead out of it.
 */
export const refuseUnsafeTree = async ({ at, place }: GitAt, tree: string): Promise<void> => {
  const git = at(repositoryOf(place));
  const names = await git.names(['ls-tree', '-r', '-z', '--name-only', tree]);
  const unsafe = names.find((name) => name.split('/').some(isUnsafe));
  if (unsafe === undefined) return;
  throw new ServiceError(
    'git_failed',
    `What is kept there holds ${JSON.stringify(unsafe)}, which is no name of a work file: somebody made it by hand. Nothing was restored.`,
  );
};

const isUnsafe = (name: string): boolean => name === '.' || name === '..' || /^\.git$/i.test(name);

const saying =
  (git: GitAt) =>
  async (args: readonly string[], input = ''): Promise<string> => {
    const stdout = await git.read(args, { input, env: DAEMON });
    return stdout.toString('latin1').replace(/\n$/, '');
  };
