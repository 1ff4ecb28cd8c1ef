import { join } from 'node:path';
import { isObject } from '../../tools/git/read/refs.ts';
import { commitOf, symbolicRef } from '../../tools/git/read/repository.ts';
import { isRefusal } from '../../tools/git/run/error.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { listWorktrees } from '../../tools/git/write/worktree.ts';
import { keepValues } from '../snapshots/undo-refs.ts';
import { type IndexImport, importIndex, readTurnIndex } from './import-index.ts';
import { importObjects } from './import-objects.ts';
import { importMergeState } from './merge-state.ts';
import { keepReplacedCommits } from './pins.ts';
import { type RefList, readUntrustedRefs, type UntrustedRefs } from './refs.ts';

/** A turn that is over: where its repository is, and what it began with. */
export interface Over {
  /** The repository that an agent could write in. */
  dir: string;
  /** A directory of our own for what is being taken in. */
  room: string;
  ref: string;
  head: string | null;
  /** SHA-256 of the worktree's index as it was. */
  index: string;
  refs: RefList;
  /** What `mergeStateHashes` said of the worktree. */
  operation: Readonly<Record<string, string>>;
}

/** A ref of the turn's repository that is no part of the work: it is kept, and never applied. */
export interface KeptRef {
  ref: string;
  before: string | null;
  after: string | null;
  /** Where it is kept; null where there is nothing to keep. */
  kept_ref: string | null;
}

export interface ImportedCommits {
  /** The worktree's branch has other commits than before. */
  moved: boolean;
  /** Why the branch was not moved, though the turn did: its commits are among what is kept. */
  held: string | undefined;
  kept: KeptRef[];
  /** Repositories inside the worktree that the base does not know, which were staged or committed; read as latin1. */
  links: string[];
  /** Why something could not be taken in: the repository of the turn has it, and nobody else. */
  broken: string | undefined;
  /** What else there is to tell, a sentence each. */
  notes: string[];
}

/**
 * Takes in what a turn left in its repository: its branch, if nobody else moved it meanwhile, with what is staged. All
 * else that it did to refs is kept beside. To do it again is no harm. No git is started in that repository.
 */
export const importCommits = async (
  git: GitAt<GitWorktree>,
  over: Over,
): Promise<ImportedCommits> => {
  const left = readUntrustedRefs(over.dir);
  const own = ownTip(over, left);
  const changes = changesIn(over, left, own);
  const index = await readTurnIndex(git, over);
  const tips = [own, ...changes.map(({ after }) => after), ...index.blobs, ...index.heads].filter(
    (oid): oid is string => isObject(oid ?? null),
  );
  const brought = await importObjects(git, {
    from: join(over.dir, 'objects'),
    room: join(over.room, 'objects'),
    tips: [...new Set([...tips, ...left.former])],
    // What the worktree stood on as the turn began: its pin is there until all is taken in.
    held: over.head === null ? [] : [over.head],
  });
  const branch = await moveBranch(git, { over, own, kind: brought.there.get(own ?? '') });
  const back: IndexImport = await importIndex(git, {
    over,
    index,
    there: brought.there,
    tip: branch.tip,
  });
  if (branch.held === undefined) importMergeState(git.place, over, brought.there);
  const wanted = branch.held === undefined ? changes : [changeOf(over, own), ...changes];
  const kept = await keep(git, wanted);
  const former = left.former.filter((oid) => brought.there.get(oid) === 'commit');
  const replaced = await keepReplacedCommits(git, former);
  const over_them =
    replaced === undefined ? [] : [{ ref: REPLACED, before: null, after: replaced }];
  return {
    moved: branch.moved,
    held: branch.held,
    kept: [...kept, ...(await keep(git, over_them))],
    links: back.links,
    broken: missingOf(tips, brought.there, brought.broken),
    notes: back.notes,
  };
};

// What was amended, rebased or reset away is somebody's work, too.
const REPLACED = 'refs/replaced-commits';

interface Change {
  ref: string;
  before: string | null;
  after: string | null;
}

const changeOf = ({ ref, head }: Over, own: string | undefined): Change => ({
  ref: ref === 'HEAD' ? 'refs/HEAD' : latin1(ref),
  before: head,
  after: own ?? null,
});

// What the worktree's branch is now; of one that was deleted, or made to stand for another, what it was.
const ownTip = ({ ref, head }: Over, left: UntrustedRefs): string | undefined => {
  const value = ref === 'HEAD' ? left.head : left.refs.get(latin1(ref));
  return isObject(value ?? null) ? value : (head ?? undefined);
};

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

const changesIn = (
  { ref, refs, head }: Over,
  left: UntrustedRefs,
  own: string | undefined,
): Change[] => {
  const names = new Set([...refs.keys(), ...left.refs.keys()]);
  const changed = [...names].flatMap((name): Change[] => {
    const [before, after] = [refs.get(name) ?? null, left.refs.get(name) ?? null];
    const isOwn = name === latin1(ref) && after !== null;
    return before === after || isOwn ? [] : [{ ref: name, before, after }];
  });
  const had = new Set([head, own, ...refs.values(), ...left.refs.values()]);
  const detached = isObject(left.head ?? null) && !had.has(left.head ?? null);
  const at = detached ? [{ ref: 'refs/HEAD', before: head, after: left.head ?? null }] : [];
  return [...changed, ...at];
};

interface Move {
  over: Over;
  own: string | undefined;
  kind: string | undefined;
}

interface Moved {
  moved: boolean;
  held: string | undefined;
  /** What the branch is now. */
  tip: string | undefined;
}

const moveBranch = async (git: GitAt<GitWorktree>, { over, own, kind }: Move): Promise<Moved> => {
  const { ref, head } = over;
  const now = await commitOf(git, ref);
  const stays = { moved: false, tip: now };
  if (own === undefined || own === head || own === now) return { ...stays, held: undefined };
  const held = kind === 'commit' ? await whyHeld(git, ref) : NOT_WHOLE;
  if (held !== undefined) return { ...stays, held };
  const args = ['update-ref', '-m', 'dossier: what a turn committed', '--no-deref', ref, own];
  try {
    await git.run([...args, head ?? '0'.repeat(own.length)]);
    return { moved: true, held: undefined, tip: own };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { ...stays, held: MEANWHILE };
  }
};

const NOT_WHOLE = 'what it committed is not whole';
const MEANWHILE = 'somebody else moved the branch meanwhile';

const whyHeld = async (git: GitAt<GitWorktree>, ref: string): Promise<string | undefined> => {
  const current = (await symbolicRef(git, 'HEAD')) ?? 'HEAD';
  if (current !== ref) return 'the worktree is on another branch now';
  if (ref === 'HEAD') return undefined;
  const listed = await listWorktrees(git);
  const other = listed.find(
    ({ path, branch }) =>
      path !== git.place.path && branch !== null && `refs/heads/${branch}` === ref,
  );
  return other === undefined ? undefined : `the branch is checked out at ${other.path}, too`;
};

const keep = async (git: GitAt<GitWorktree>, changes: readonly Change[]): Promise<KeptRef[]> => {
  const values = changes.map(({ ref, after }) => ({ ref, value: after }));
  const places = await keepValues(git, values);
  return changes.map((change) => ({ ...change, kept_ref: places.get(change.ref) ?? null }));
};

const missingOf = (
  tips: readonly string[],
  there: ReadonlyMap<string, string>,
  why: string | undefined,
): string | undefined => {
  const missing = tips.filter((oid) => !there.has(oid));
  return missing.length === 0 ? undefined : (why ?? `${missing.length} objects are missing`);
};
