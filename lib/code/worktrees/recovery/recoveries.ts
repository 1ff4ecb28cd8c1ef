import { join } from 'node:path';
import { Compile, type Validator } from 'typebox/compile';
import type { Case } from '../../../../store/records/case.ts';
import { type Recovery, RecoveryNote } from '../../../../store/records/recovery.ts';
import { readyToWrite, type WithStore } from '../../../../store/store.ts';
import {
  inWorktreeTurn,
  recoveredPatches,
  removeRecovered,
} from '../../../../store/worktrees/worktrees.ts';
import { orNotFound } from '../../../errors.ts';
import type { Repository } from '../../../tools/git/read/repository.ts';
import type { Checkout, WithGit } from '../../../tools/git/run/git.ts';
import { getItem, type ProjectNeeds, repositoryFor } from '../../projects/project.ts';
import { dropRefs, type KeptState } from '../../snapshots/kept-refs.ts';
import { listRecoveredWork, type RecoveredWork } from '../../snapshots/recovered.ts';
import { findWorktree } from '../read.ts';
import { recoveryId, recoveryPrefix } from './keep-work.ts';
import { keptStates } from './kept-states.ts';

/**
 * What was kept of a Work item's worktrees, oldest first: by forced removals, with the patches beside the records, before
 * rebases, and of all that was undone. Only the operator removes it.
 */
export const listRecoveries = async (service: ProjectNeeds, caseId: string): Promise<Recovery[]> =>
  (await found(service, caseId)).all.map(({ recovery }) => recovery);

export interface FoundRecovery {
  recovery: Recovery;
  /** Of a removed worktree; undefined where there is not what it takes to restore it. */
  note?: RecoveryNote | undefined;
  /** Of one that was changed. */
  state?: KeptState;
  /** Where it is kept. */
  place: Checkout;
  repository: Repository;
}

/** One of them. 404 when it is not there. */
export const findRecovery = async (
  service: ProjectNeeds,
  caseId: string,
  id: string,
): Promise<FoundRecovery> => {
  const { all, repository } = await found(service, caseId);
  const one = orNotFound(
    all.find(({ recovery }) => recovery.id === id),
    'recovery',
    id,
  );
  return { ...one, repository };
};

const found = async (service: ProjectNeeds, caseId: string) => {
  const item = await getItem(service.store, caseId);
  const repository = await repositoryFor(service, item.project);
  const works = await listRecoveredWork(service.git.at(repository), recoveryPrefix(caseId));
  const patches = recoveredPatches(service.store, item.path);
  const ids = [
    ...works.map(({ name }) => recoveryId(caseId, name)),
    ...patches.map((name) => name.slice(0, -SUFFIX)),
  ];
  const removed = [...new Set(ids)].toSorted().map((id): Omit<FoundRecovery, 'repository'> => {
    const work = works.find(({ name }) => recoveryId(caseId, name) === id);
    const note = work === undefined ? undefined : noteOf(work, caseId);
    const name = `${id}.patch`;
    const patch = patches.includes(name) ? join(item.path, 'recovered', name) : null;
    const recovery = { ...recordOf(caseId, id, note), ...whereOf(work, note, patch) };
    return { recovery, note, place: repository };
  });
  const all = [...removed, ...(await changed(service, item, repository))].toSorted(
    ({ recovery: one }, { recovery: other }) => one.created_at.localeCompare(other.created_at),
  );
  return { all, repository };
};

// One that is attached may be of another repository than that of the project: there it can be looked at by hand.
const changed = async (
  service: WithGit & WithStore,
  item: Case,
  repository: Repository,
): Promise<Omit<FoundRecovery, 'repository'>[]> => {
  const own = await keptStates(service, item, repository);
  const worktree = findWorktree(service.store, item.id);
  if (worktree === undefined || worktree.common_dir === repository.common_dir) return own;
  const { git_dir, common_dir } = worktree;
  const others = await keptStates(service, item, { git_dir, common_dir });
  const away = {
    restorable: false,
    detail: `It is in ${common_dir}, not in the project's repository.`,
  };
  return [...own, ...others.map((one) => ({ ...one, recovery: { ...one.recovery, ...away } }))];
};

const recordOf = (caseId: string, id: string, note: RecoveryNote | undefined) => ({
  id,
  case_id: caseId,
  kind: 'removed' as const,
  created_at: note?.created_at ?? timeOf(id),
  branch: note?.branch ?? null,
  base_commit: note?.base_commit ?? null,
});

const whereOf = (
  work: RecoveredWork | undefined,
  note: RecoveryNote | undefined,
  patch: string | null,
) => ({
  head: work?.head ?? null,
  ref: work?.ref ?? null,
  patch,
  restorable: note !== undefined,
  ...(note === undefined && { detail: byHand(work, patch) }),
});

const SUFFIX = '.patch'.length;

let validator: Validator | undefined;

// Whoever writes in the repository can make such a ref: it is checked as what comes from outside.
const noteOf = ({ note, head }: RecoveredWork, caseId: string): RecoveryNote | undefined => {
  validator ??= Compile(RecoveryNote);
  if (!validator.Check(note)) return undefined;
  const known = note as RecoveryNote;
  return known.case_id === caseId && head !== null ? known : undefined;
};

const timeOf = (id: string): string => {
  const [, date, time] = /^(\d{4}-\d\d-\d\d)T(\d\d-\d\d-\d\d)Z/.exec(id) ?? [];
  if (date === undefined || time === undefined) return new Date(0).toISOString();
  return `${date}T${time.replaceAll('-', ':')}.000Z`;
};

const byHand = (work: RecoveredWork | undefined, patch: string | null): string =>
  work === undefined
    ? `Only the patch is here. Make a worktree, then run git apply in it on ${patch}.`
    : `It lacks what a restore needs. By hand: git worktree add DIR ${work.ref}^ and git restore --source ${work.ref}:files.`;

/** Lets go of what was kept: the ref, and the patch beside the records. Only the operator asks for it; 404 for none. */
export const forgetRecovery = (service: ProjectNeeds, caseId: string, id: string): Promise<void> =>
  inWorktreeTurn(service.store, caseId, async () => {
    const { recovery, place } = await findRecovery(service, caseId, id);
    await readyToWrite(service.store);
    if (recovery.ref !== null) await dropRefs(service.git.at(place), recovery.ref);
    if (recovery.patch !== null) await removeRecovered(service.store, recovery.patch);
  });
