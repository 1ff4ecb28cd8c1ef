import { validatorOf } from '../../../../store/front-matter/parse.ts';
import { Pictured } from '../../../../store/records/baseline.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { Recovery, RecoveryNote } from '../../../../store/records/recovery.ts';
import { readBaseline } from '../../../../store/sessions/baselines.ts';
import { openConflict } from '../../../../store/sessions/conflicts.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { invalidState } from '../../../errors.ts';
import { chooseBase } from '../../../tools/git/read/base.ts';
import { mergeBase, type Repository } from '../../../tools/git/read/repository.ts';
import type { Checkout, WithGit } from '../../../tools/git/run/git.ts';
import { type KeptState, listKeptStates } from '../../snapshots/kept-refs.ts';
import { readPicture } from '../../snapshots/snapshot.ts';
import { branchFor, configuredBase } from '../create/base-and-branch.ts';
import { recoveryPrefix } from './keep-work.ts';

interface FoundState {
  recovery: Recovery;
  state: KeptState;
  place: Checkout;
}

/**
 * The states kept of a Work item's worktree: before a rebase, by an abort, at the end of a Plan turn. Excludes states
 * that a rebase or Plan turn in progress still needs.
 */
export const keptStates = async (
  { git, store }: WithGit & WithStore,
  { id }: Case,
  place: Checkout,
): Promise<FoundState[]> => {
  const states = await listKeptStates(git.at(place), recoveryPrefix(id));
  const needed = neededRefs(store, id);
  return states
    .filter(({ ref }) => !needed.has(ref))
    .map((state) => ({ recovery: recoveryOf(id, state), state, place }));
};

/** The refs that a rebase or Plan turn in progress still needs. */
export const neededRefs = (store: Store, caseId: string): Set<string | undefined> => {
  const open = openConflict(store, caseId)?.matter;
  const turn = readBaseline(store.layout, caseId);
  return new Set([open?.snapshot?.ref, open?.set_aside?.ref, turn?.before.ref]);
};

const recoveryOf = (case_id: string, state: KeptState): Recovery => {
  const { kind, name, ref, head, made_at } = state;
  const detail = byHand(state);
  return {
    id: `${kind}-${name}`,
    case_id,
    kind,
    created_at: made_at.toISOString(),
    branch: null,
    base_commit: null,
    head,
    ref,
    patch: null,
    restorable: detail === undefined,
    ...(detail !== undefined && { detail }),
  };
};

const byHand = ({ kind, ref, head }: KeptState): string | undefined => {
  if (kind === 'refs')
    return `Former targets of branches, tags or stashes: git for-each-ref ${ref} lists them, and git branch NAME REF restores one.`;
  if (kind === 'set_aside')
    return `Changes that did not apply after a rebase. In the worktree: git cherry-pick -n -m 1 ${ref}.`;
  return head === null ? `By hand: git restore --source ${ref}:files.` : undefined;
};

/** The data to create a worktree from a kept state. Its base is that of a new worktree. */
export const noteOfState = async (
  service: WithGit & WithStore,
  item: Case,
  { state, repository }: { state: KeptState; repository: Repository },
): Promise<RecoveryNote> => {
  const { git } = service;
  const picture = await readPicture(git.at(repository), state.commit).catch(() => undefined);
  // Any program with write access to the repository can create such a ref: validate it as external input.
  if (picture === undefined || !validatorOf(Pictured).Check(picture) || picture.head === null)
    throw invalidState(
      `${state.ref} was not written by the daemon. By hand: git restore --source ${state.ref}:files.`,
    );
  const base = await chooseBase(git.at(repository), configuredBase(service.store));
  const start = await mergeBase(git.at(repository), picture.head, base.commit);
  return {
    case_id: item.id,
    branch: await branchFor(service, item),
    base: base.name,
    base_commit: start ?? base.commit,
    created_at: state.made_at.toISOString(),
    picture,
  };
};
