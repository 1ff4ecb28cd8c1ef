import { join } from 'node:path';
import type { TurnRecord } from '../../../store/records/turn.ts';
import { isObject, type RefChange } from '../../tools/git/read/refs.ts';
import { commitOf, symbolicRef } from '../../tools/git/read/repository.ts';
import { isRefusal } from '../../tools/git/run/error.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { latin1 } from '../../tools/git/run/path-text.ts';
import { listWorktrees } from '../../tools/git/write/worktree.ts';
import { keepRefTargets } from '../snapshots/undo-refs.ts';
import { type IndexImport, importIndex, readTurnIndex } from './import-index.ts';
import { importObjects } from './import-objects.ts';
import { importMergeState } from './merge-state.ts';
import { keepReplacedCommits } from './pins.ts';
import { type RefList, readUntrustedRefs, type UntrustedRefs } from './refs.ts';

/** A finished turn: its repository, and the state that it started from. */
export interface FinishedTurn extends Pick<TurnRecord, 'ref' | 'head' | 'index' | 'operation'> {
  /** The repository that the agent could write. */
  dir: string;
  /** A temporary directory of the daemon for the import. */
  room: string;
  refs: RefList;
}

/** A ref that the turn changed besides its branch: its value is kept, but not applied. */
export interface KeptRef extends RefChange {
  /** The ref that keeps it; null if there is nothing to keep. */
  kept_ref: string | null;
}

export interface ImportedCommits {
  /** Whether the worktree's branch moved. */
  moved: boolean;
  /** Why the branch was not moved although the turn committed; the commits are in `kept`. */
  held: string | undefined;
  kept: KeptRef[];
  /** Paths (latin1) of new gitlinks that were staged or committed. */
  links: string[];
  /** Why something could not be imported: only the turn's repository has it. */
  broken: string | undefined;
  /** Other notices, one sentence each. */
  notes: string[];
}

/**
 * Imports the turn's branch, unless it moved meanwhile, and the index. Other changed refs are kept under `refs/dossier/`.
 * Idempotent. git never runs in the turn's repository.
 */
export const importCommits = async (
  git: GitAt<GitWorktree>,
  over: FinishedTurn,
): Promise<ImportedCommits> => {
  const left = readUntrustedRefs(over.dir);
  const own = ownTip(over, left);
  const changes = changesIn(over, left, own);
  const index = await readTurnIndex(git, over);
  const named = [own, ...changes.map(({ after }) => after), ...index.blobs, ...index.heads];
  const tips = named.filter(isObject);
  const brought = await importObjects(git, {
    from: join(over.dir, 'objects'),
    room: join(over.room, 'objects'),
    tips: [...new Set([...tips, ...left.former])],
    // The pin protects this commit until the import is complete.
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
  const former = formerOf(over, left, own).filter((oid) => brought.there.get(oid) === 'commit');
  return {
    moved: branch.moved,
    held: branch.held,
    kept: [...kept, ...(await keepReplaced(git, former, over.head))],
    links: back.links,
    broken: missingOf(tips, brought.there, brought.broken),
    notes: back.notes,
  };
};

// The reflog names the commit that the turn began with as a former value only.
const formerOf = (
  { head }: FinishedTurn,
  { former }: UntrustedRefs,
  own: string | undefined,
): string[] => [...new Set([...(head === null || head === own ? [] : [head]), ...former])];

/** Keeps commits that were amended, rebased or reset away; `head` is the one that the turn began with. */
export const keepReplaced = async (
  git: GitAt<GitWorktree>,
  former: readonly string[],
  head: string | null | undefined,
): Promise<KeptRef[]> => {
  const replaced = await keepReplacedCommits(git, former);
  if (replaced === undefined) return [];
  const { lost, ...kept } = replaced;
  const before = lost.find((oid) => oid === head) ?? null;
  return [{ ref: 'refs/replaced-commits', before, ...kept }];
};

const changeOf = ({ ref, head }: FinishedTurn, own: string | undefined): RefChange => ({
  ref: ref === 'HEAD' ? 'refs/HEAD' : latin1(ref),
  before: head,
  after: own ?? null,
});

// The tip of the turn's branch; its former tip if the branch was deleted or made symbolic.
const ownTip = ({ ref, head }: FinishedTurn, left: UntrustedRefs): string | undefined => {
  const value = ref === 'HEAD' ? left.head : left.refs.get(latin1(ref));
  return isObject(value) ? value : (head ?? undefined);
};

const changesIn = (
  { ref, refs, head }: FinishedTurn,
  left: UntrustedRefs,
  own: string | undefined,
): RefChange[] => {
  const names = new Set([...refs.keys(), ...left.refs.keys()]);
  const changed = [...names].flatMap((name): RefChange[] => {
    const [before, after] = [refs.get(name) ?? null, left.refs.get(name) ?? null];
    const isOwn = name === latin1(ref) && after !== null;
    return before === after || isOwn ? [] : [{ ref: name, before, after }];
  });
  const had = new Set([head, own, ...refs.values(), ...left.refs.values()]);
  const detached = isObject(left.head) && !had.has(left.head);
  const at = detached ? [{ ref: 'refs/HEAD', before: head, after: left.head ?? null }] : [];
  return [...changed, ...at];
};

interface Move {
  over: FinishedTurn;
  own: string | undefined;
  kind: string | undefined;
}

interface Moved {
  moved: boolean;
  held: string | undefined;
  /** The current tip of the branch. */
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

const NOT_WHOLE = 'objects of its commits are missing or invalid';
const MEANWHILE = 'the branch moved during the turn';

const whyHeld = async (git: GitAt<GitWorktree>, ref: string): Promise<string | undefined> => {
  const current = (await symbolicRef(git, 'HEAD')) ?? 'HEAD';
  if (current !== ref) return 'the worktree is on another branch now';
  if (ref === 'HEAD') return undefined;
  const listed = await listWorktrees(git);
  const other = listed.find(
    ({ path, branch }) =>
      path !== git.place.path && branch !== null && `refs/heads/${branch}` === ref,
  );
  return other === undefined ? undefined : `the branch is also checked out at ${other.path}`;
};

const keep = async (git: GitAt<GitWorktree>, changes: readonly RefChange[]): Promise<KeptRef[]> => {
  const values = changes.map(({ ref, after }) => ({ ref, value: after }));
  const places = await keepRefTargets(git, values);
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
