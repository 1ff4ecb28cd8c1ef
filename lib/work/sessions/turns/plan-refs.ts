import type { Baseline } from '../../../../store/records/baseline.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import {
  readBaselineRefs,
  saveBaseline,
  saveBaselineRefs,
} from '../../../../store/sessions/baselines.ts';
import type { WithStore } from '../../../../store/store.ts';
import type { WithProviders } from '../../../agents/providers.ts';
import {
  keepRefTargets,
  type OtherChange,
  type OwnChange,
  putRefsBack,
  sortOut,
} from '../../../code/snapshots/undo-refs.ts';
import type { GitNeeds } from '../../../code/worktrees/needs.ts';
import { changedRefs, listRefs } from '../../../tools/git/read/refs.ts';
import type { Git, WithGit } from '../../../tools/git/run/git.ts';
import type { ReadingTurn } from './reading-turn.ts';

/**
 * Saves the refs of the repository where a comparison is the only protection in a Plan turn. Returns the name in which
 * the agent's git signs; undefined where the agent cannot write refs, or the operator plans.
 */
export const saveRefs = async (
  { git, store, providers }: WithGit & WithProviders & WithStore,
  { case_id, provider, run_marker }: ReadingTurn,
  worktree: WorktreeRecord,
): Promise<string | undefined> => {
  if (providers().get(provider)?.isolation !== 'checked') return undefined;
  await saveBaselineRefs(store.layout, case_id, await listRefs(git.at(worktree)));
  return `${run_marker}@dossier.invalid`;
};

/**
 * Restores the refs that the agent of a Plan turn changed, recognized by the name in the reflog. Other changes are left
 * to the operator and reported. Returns what was undone, as a sentence; undefined when nothing.
 */
export const restoreRefs = async (
  service: GitNeeds,
  turn: ReadingTurn,
  worktree: WorktreeRecord,
  baseline: Baseline,
): Promise<string | undefined> => {
  const { git, store } = service;
  const { signed_as, case_id, before } = baseline;
  const had = signed_as === undefined ? undefined : readBaselineRefs(store.layout, case_id);
  if (had === undefined) return undefined;
  const changes = changedRefs(had, await listRefs(git.at(worktree))).filter(
    ({ ref }) => ref !== before.branch,
  );
  const isOwn = (by: string): boolean => by.endsWith(`<${signed_as}>`);
  const { own, others } = await sortOut(worktree, changes, isOwn);
  const undone = await undo(service, turn, { worktree, baseline, own });
  const left = own.filter(({ ref }) => !undone.includes(ref));
  const told = [...others, ...left.map((change) => ({ ...change, by: AGENT, noted: true }))];
  if (told.length > 0) await tell(git, turn, { worktree, others: told });
  return undone.length > 0 ? sentence(undone) : undefined;
};

const AGENT = 'the agent';

interface Own {
  worktree: WorktreeRecord;
  baseline: Baseline;
  own: readonly OwnChange[];
}

// A value that cannot be saved is not undone.
const undo = async (
  { git, store }: GitNeeds,
  turn: ReadingTurn,
  { worktree, baseline, own }: Own,
): Promise<string[]> => {
  if (own.length === 0) return [];
  const values = own.map(({ ref, after }) => ({ ref, value: after }));
  const places = await keepRefTargets(git.at(worktree), values);
  const safe = own.filter(({ ref, after }) => after === null || places.has(ref));
  const refs = safe.slice(0, MOST_TOLD).map((change) => toldOf(change, places));
  turn.tell({
    code: 'plan_mode_violation',
    refs,
    ...moreThan(safe),
  });
  await saveBaseline(store.layout, { ...baseline, violated: true });
  const back = await putRefsBack(git.at(worktree), safe);
  return safe.map(({ ref }) => ref).filter((ref) => back.has(ref));
};

const tell = async (
  git: Git,
  turn: ReadingTurn,
  { worktree, others }: { worktree: WorktreeRecord; others: readonly OtherChange[] },
): Promise<void> => {
  const lost = others.filter(({ noted }) => !noted);
  const values = lost.map(({ ref, before }) => ({ ref, value: before }));
  const places = await keepRefTargets(git.at(worktree), values);
  turn.tell({
    code: 'refs_changed',
    message: CHANGED,
    refs: others
      .slice(0, MOST_TOLD)
      .map((change) => ({ ...toldOf(change, places), by: change.by && asText(change.by) })),
    ...moreThan(others),
  });
};

const MOST_TOLD = 100;

const moreThan = (all: readonly unknown[]): { more?: number } =>
  all.length > MOST_TOLD ? { more: all.length - MOST_TOLD } : {};

const CHANGED =
  'Branches, tags or stashes changed during Plan mode. Nothing shows that the agent changed them, so they were not restored.';

const toldOf = (
  { ref, before, after }: OwnChange | OtherChange,
  places: ReadonlyMap<string, string>,
) => ({
  ref: asText(ref),
  before: before && asText(before),
  after: after && asText(after),
  kept_ref: asText(places.get(ref) ?? '') || null,
});

const sentence = (undone: readonly string[]): string =>
  `branches, tags or stashes were changed in Plan mode (${undone.slice(0, 5).map(asText).join(', ')}). They were restored: refs/dossier/undone/ has the changed values.`;

const asText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');
