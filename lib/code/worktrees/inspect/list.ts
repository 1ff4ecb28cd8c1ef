import { inSlices } from '../../../../store/base/async.ts';
import { groupBy } from '../../../../store/base/group-by.ts';
import { allItems } from '../../../../store/reconcile/items.ts';
import type { KnownWorktree } from '../../../../store/records/worktree-upkeep.ts';
import { settingsOf } from '../../../../store/settings/globals.ts';
import type { Store } from '../../../../store/store.ts';
import {
  type FoundRecord,
  recoveredPatches,
  worktreeRecords,
} from '../../../../store/worktrees/worktrees.ts';
import { repositoryOf } from '../../../tools/git/run/git.ts';
import { type ProjectNeeds, repositoryFor } from '../../projects/project.ts';
import { keptRefs } from '../../snapshots/kept-refs.ts';
import { recoveryPrefix } from '../recovery/keep-work.ts';
import { neededRefs } from '../recovery/kept-states.ts';

/**
 * Lists all worktrees, oldest first, including unreadable records, and all Work items with recoveries. Reads records and
 * refs but no worktree, so it is fast for any number of them.
 */
export const listWorktreesAndRecoveries = async (
  service: ProjectNeeds,
): Promise<KnownWorktree[]> => {
  const records = worktreeRecords(service.store);
  const kept = await keptItems(service, records);
  const has = new Set(records.map(({ case_id }) => case_id));
  const known = records.map((one) => ({ ...served(one), kept: kept.has(one.case_id) }));
  const without = [...kept].filter((id) => !has.has(id));
  return [...known, ...without.map((case_id) => ({ case_id, kept: true }))].sort(byAge);
};

const byAge = (a: KnownWorktree, b: KnownWorktree): number => (ageOf(a) < ageOf(b) ? -1 : 1);

// What has no readable record comes last.
const ageOf = ({ created_at = '~', case_id }: KnownWorktree): string => `${created_at} ${case_id}`;

const served = ({ case_id, record, problem }: FoundRecord): Omit<KnownWorktree, 'kept'> => {
  if (record === undefined) return { case_id, problem: problem ?? '' };
  const { path, branch, attached, created_at } = record;
  return { case_id, path, branch, attached, created_at };
};

const keptItems = async (service: ProjectNeeds, records: FoundRecord[]): Promise<Set<string>> => {
  const { store } = service;
  const refs = await allRefs(service, records);
  const isKept = (id: string) => hasKept(store, id, refs.get(recoveryPrefix(id)) ?? []);
  const found = new Set<string>();
  // Recoveries of a deleted Work item have no route; `git for-each-ref` lists them.
  await inSlices(allItems(store), ({ id, dir }) => {
    if (isKept(id) || hasPatch(store, dir)) found.add(id);
  });
  return found;
};

const hasKept = (store: Store, id: string, refs: string[]): boolean => {
  if (refs.length === 0) return false;
  const needed = neededRefs(store, id);
  return refs.some((ref) => !needed.has(ref));
};

const hasPatch = (store: Store, dir: string): boolean => recoveredPatches(store, dir).length > 0;

type Refs = Map<string, string[]>;

// Refs by the prefix of their Work item. Errors of a repository are reported by other calls.
const allRefs = async (service: ProjectNeeds, records: FoundRecord[]): Promise<Refs> => {
  const { git, store } = service;
  const projects = new Set(['default', ...Object.keys(settingsOf(store).projects ?? {})]);
  const found = [...projects].map((name) => repositoryFor(service, name).catch(() => undefined));
  const places = [...(await Promise.all(found)), ...records.map(({ record }) => record)];
  const dirs = new Set(places.flatMap((place) => place?.common_dir ?? []));
  const refs = [...dirs].map((common_dir) =>
    keptRefs(git.at(repositoryOf({ common_dir }))).catch(() => []),
  );
  return groupBy((await Promise.all(refs)).flat(), (ref) => /[0-9a-f]{8}-/.exec(ref)?.[0] ?? '');
};
