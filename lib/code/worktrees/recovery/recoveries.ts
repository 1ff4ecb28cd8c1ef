import { join } from 'node:path';
import { validatorOf } from '../../../../store/front-matter/parse.ts';
import type { Case } from '../../../../store/records/case.ts';
import { type Recovery, RecoveryNote } from '../../../../store/records/recovery.ts';
import { readyToWrite, type WithStore } from '../../../../store/store.ts';
import {
  readWorktree,
  recoveredPatches,
  removeRecovered,
  withWorktreeLock,
} from '../../../../store/worktrees/worktrees.ts';
import { orNotFound } from '../../../errors.ts';
import type { Repository } from '../../../tools/git/read/repository.ts';
import type { Checkout, WithGit } from '../../../tools/git/run/git.ts';
import { getItem, type ProjectNeeds, repositoryFor } from '../../projects/project.ts';
import { dropRefs, type KeptState } from '../../snapshots/kept-refs.ts';
import { listRecoveredWork, type RecoveredWork } from '../../snapshots/recovered.ts';
import { recoveryId, recoveryPrefix } from './keep-work.ts';
import { keptStates } from './kept-states.ts';

/**
 * The recoveries of a Work item, oldest first: from forced removals (with their patches), from before rebases, and of
 * undone changes. Only the operator deletes them.
 */
export const listRecoveries = async (service: ProjectNeeds, caseId: string): Promise<Recovery[]> =>
  (await findAll(service, caseId)).all.map(({ recovery }) => recovery);

export interface FoundRecovery {
  recovery: Recovery;
  /** For a removed worktree; undefined if it cannot be restored. */
  note?: RecoveryNote | undefined;
  /** For a changed worktree. */
  state?: KeptState;
  /** The repository that keeps it. */
  place: Checkout;
  repository: Repository;
  item: Case;
}

type OneOf = Omit<FoundRecovery, 'repository' | 'item'>;

/** One recovery. 404 if there is none with this id. */
export const findRecovery = async (
  service: ProjectNeeds,
  caseId: string,
  id: string,
): Promise<FoundRecovery> => {
  const { all, ...of } = await findAll(service, caseId);
  const one = orNotFound(
    all.find(({ recovery }) => recovery.id === id),
    'recovery',
    id,
  );
  return { ...one, ...of };
};

const findAll = async (service: ProjectNeeds, caseId: string) => {
  const item = await getItem(service.store, caseId);
  const repository = await repositoryFor(service, item.project);
  const found = await listRecoveredWork(service.git.at(repository), recoveryPrefix(caseId));
  const works = found.filter(({ note }) => !isOfAnother(note, caseId));
  const patches = recoveredPatches(service.store, item.path);
  const ids = [
    ...works.map(({ name }) => recoveryId(caseId, name)),
    ...patches.map((name) => name.slice(0, -SUFFIX)),
  ];
  const removed = [...new Set(ids)].toSorted().map((id): OneOf => {
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
  return { all, repository, item };
};

// An attached directory may belong to another repository than the project's: its states can only be restored by hand.
const changed = async (
  service: WithGit & WithStore,
  item: Case,
  repository: Repository,
): Promise<OneOf[]> => {
  const own = await keptStates(service, item, repository);
  const worktree = readWorktree(service.store, item.id);
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

// Any program with write access to the repository can create such a ref: validate it as external input.
const noteOf = ({ note, head }: RecoveredWork, caseId: string): RecoveryNote | undefined => {
  if (!validatorOf(RecoveryNote).Check(note)) return undefined;
  const known = note as RecoveryNote;
  return known.case_id === caseId && head !== null ? known : undefined;
};

// Their names have the first digits of the id only.
const isOfAnother = (note: unknown, caseId: string): boolean =>
  validatorOf(RecoveryNote).Check(note) && (note as RecoveryNote).case_id !== caseId;

const timeOf = (id: string): string => {
  const [, date, time] = /^(\d{4}-\d\d-\d\d)T(\d\d-\d\d-\d\d)Z/.exec(id) ?? [];
  if (date === undefined || time === undefined) return new Date(0).toISOString();
  return `${date}T${time.replaceAll('-', ':')}.000Z`;
};

const byHand = (work: RecoveredWork | undefined, patch: string | null): string =>
  work === undefined
    ? `Only the patch exists. Create a worktree, then run git apply in it on ${patch}.`
    : `The data for a restore is missing. By hand: git worktree add DIR ${work.ref}^ and git restore --source ${work.ref}:files.`;

/** Deletes a recovery: its ref, and its patch beside the records. 404 if there is none with this id. */
export const forgetRecovery = (service: ProjectNeeds, caseId: string, id: string): Promise<void> =>
  withWorktreeLock(service.store, caseId, async () => {
    const { recovery, place } = await findRecovery(service, caseId, id);
    await readyToWrite(service.store);
    if (recovery.ref !== null) await dropRefs(service.git.at(place), recovery.ref);
    if (recovery.patch !== null) await removeRecovered(service.store, recovery.patch);
  });
