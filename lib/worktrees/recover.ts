import { shortId, timeName } from '../../store/names.ts';
import type { WorktreeRecord } from '../../store/records/worktree.ts';
import { keepRecovered } from '../../store/worktrees.ts';
import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { dropSnapshot, snapshot } from '../tools/git/snapshot.ts';
import { worktreeDiff } from './diff.ts';

interface Kept {
  /** `refs/dossier/recovered/<start of the id>-<time>`. */
  ref: string;
  time: string;
}

/**
 * Keeps all of a worktree under a ref: a commit on top of its HEAD, which holds the files as they are (`files/`,
 * untracked ones too) and the index. Ignored files are not in it.
 */
export const keepState = async (service: Service, record: WorktreeRecord): Promise<Kept> => {
  const { git } = service;
  const kept = nameFor(service, record);
  const state = await snapshot(git, record);
  await makeRef(service, record, { ...kept, commit: state.commit });
  await dropSnapshot(git, record, state);
  return kept;
};

/** Keeps the commits of a worktree whose directory is gone. */
export const keepCommits = async (
  service: Service,
  record: WorktreeRecord,
  commit: string,
): Promise<Kept> => {
  const kept = nameFor(service, record);
  await makeRef(service, record, { ...kept, commit });
  return kept;
};

/** Writes what the worktree holds against its base beside the Work item's records, as a patch that explains itself. */
export const keepPatch = async (
  service: Service,
  record: WorktreeRecord,
  kept: Kept,
): Promise<void> => {
  const { store } = service;
  const dir = store.items.byId.get(record.case_id)?.dir;
  if (dir === undefined) return;
  const { patch } = await worktreeDiff(service, record);
  const bytes = Buffer.concat([Buffer.from(explained(record, kept)), patch]);
  if (await keepRecovered(store, dir, { name: `${kept.time}.patch`, bytes })) return;
  throw new ServiceError(
    'file_busy',
    `${dir}/recovered/${kept.time}.patch is there already. Nothing was removed: try again.`,
  );
};

const nameFor = ({ clock }: Service, { case_id }: WorktreeRecord): Kept => {
  const time = timeName(clock());
  return { ref: `refs/dossier/recovered/${shortId(case_id)}-${time}`, time };
};

const makeRef = async (
  { git, log }: Service,
  { case_id, common_dir, repository }: WorktreeRecord,
  { ref, commit }: { ref: string; commit: string },
): Promise<void> => {
  // The empty old value: a ref that is there already is not overwritten.
  await git.run({ git_dir: common_dir, common_dir }, ['update-ref', ref, commit, '']);
  log.info({ case_id, repository, ref, commit }, 'the work of a removed worktree is kept');
};

// git apply passes over all that comes before the first `diff`.
const explained = (
  { branch, base_commit, repository }: WorktreeRecord,
  { ref, time }: Kept,
): string =>
  `What the worktree held when it was removed with force, ${time}.
Branch: ${branch}
Base: ${base_commit}
All of it, commits included, is under ${ref}
in ${repository}: the commits are ${ref}^, and
  git diff ${base_commit} ${ref}:files
shows this patch once more. On the base commit, git apply takes this file as it is.

`;
