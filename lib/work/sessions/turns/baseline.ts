import type { Baseline } from '../../../../store/records/baseline.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import {
  readBaseline,
  removeBaseline,
  saveBaseline,
} from '../../../../store/sessions/baselines.ts';
import type { Store } from '../../../../store/store.ts';
import { pathKind, readWorktree, withFilesLock } from '../../../../store/worktrees/worktrees.ts';
import type { RunResult } from '../../../agents/provider.ts';
import type { WithProviders } from '../../../agents/providers.ts';
import { type RestoreFindings, restore } from '../../../code/snapshots/restore.ts';
import { dropSnapshot, snapshot } from '../../../code/snapshots/snapshot.ts';
import { checkState } from '../../../code/worktrees/inspect/status.ts';
import type { GitNeeds } from '../../../code/worktrees/needs.ts';
import type { WithLog } from '../../../log.ts';
import { restoreRefs, saveRefs } from './plan-refs.ts';
import type { ReadingTurn } from './reading-turn.ts';

interface Compared {
  result: RunResult;
  /** What was undone, as a sentence; undefined when nothing changed. */
  violation: string | undefined;
}

/**
 * Runs a turn that may only read. The state of the worktree, and where needed of the refs, is saved on disk first, so
 * that the comparison survives a crash. Nothing is compared where the provider starts no program. `run` receives the
 * name in which the agent's git signs, where refs are compared.
 */
export const comparedRun = async (
  service: GitNeeds & WithLog & WithProviders,
  turn: ReadingTurn,
  worktree: WorktreeRecord,
  run: (signed_as: string | undefined) => Promise<RunResult>,
): Promise<Compared> => {
  if (service.providers().get(turn.provider)?.plans_itself === true)
    return { result: await run(undefined), violation: undefined };
  const baseline = await withFilesLock(service.store, turn.case_id, () =>
    takeBaseline(service, turn, worktree),
  );
  let violation: string | undefined;
  let result: RunResult;
  try {
    result = await run(baseline.signed_as);
  } finally {
    violation = await undoChanges(service, turn, worktree, baseline);
  }
  return { result, violation };
};

const takeBaseline = async (
  service: GitNeeds & WithProviders,
  turn: ReadingTurn,
  worktree: WorktreeRecord,
): Promise<Baseline> => {
  const signed_as = await saveRefs(service, turn, worktree);
  const baseline: Baseline = {
    case_id: turn.case_id,
    session_id: turn.id,
    ...(turn.of === 'planning' && { planning: true }),
    worktree_created_at: worktree.created_at,
    violated: false,
    ...(signed_as !== undefined && { signed_as }),
    before: await snapshot(service.git, worktree),
  };
  await saveBaseline(service.store.layout, baseline);
  return baseline;
};

/**
 * Restores the worktree, and refs that the agent changed, to the state before the Plan turn; the changes are kept as a
 * patch in the session's directory. Returns what was undone, as a sentence; undefined when nothing changed.
 */
const undoChanges = async (
  service: GitNeeds & WithLog,
  turn: ReadingTurn,
  worktree: WorktreeRecord,
  baseline: Baseline,
): Promise<string | undefined> => {
  const { git, store, log } = service;
  // It was moved or deleted by hand: the error says what to do.
  if (pathKind(worktree.path) === 'nothing') await checkState(worktree);
  let violation: string | undefined;
  await restore(git, worktree, baseline.before, async (found) => {
    violation = sentence(found);
    // The undo continues: the ref has all of it.
    await note(store, turn, { baseline, found }).catch((error: unknown) =>
      log.error({ err: error, session_id: turn.id }, violation ?? ''),
    );
  });
  const refs = await restoreRefs(service, turn, worktree, baseline);
  await removeBaseline(store.layout, baseline.case_id);
  await dropSnapshot(git.at(worktree), baseline.before);
  const found = [violation, refs].filter((each) => each !== undefined);
  if (found.length === 0 && baseline.violated) found.push(INTERRUPTED_UNDO);
  return found.length === 0 ? undefined : `plan_mode_violation: ${found.join(' Also, ')}`;
};

const sentence = ({ undone, kept_ref }: RestoreFindings): string => {
  const files = undone.files.map(({ path }) => path);
  const what = files.length > 0 ? files.slice(0, 5).join(', ') : 'its git state';
  return `the worktree was changed in Plan mode (${what}). The change was undone: ${PATCH} has the files, except new ones that are named like secrets; ${kept_ref} has everything.`;
};

const note = async (
  store: Store,
  turn: ReadingTurn,
  { baseline, found }: { baseline: Baseline; found: RestoreFindings },
): Promise<void> => {
  const { undone, patch, kept_ref } = found;
  await turn.keepPatch(PATCH, patch);
  const files = undone.files.map(({ path }) => path);
  turn.tell({ code: 'plan_mode_violation', files, kept_ref });
  await saveBaseline(store.layout, { ...baseline, violated: true });
};

const PATCH = 'plan-mode-violation.patch';
const INTERRUPTED_UNDO = `the worktree, or branches, tags or stashes, were changed in Plan mode. The change was undone: the session's events list it.`;

/**
 * The same for a Plan turn whose daemon died before the comparison. Changes made by hand since are undone and kept too.
 * A worktree that was created after that turn is not touched.
 */
export const undoInterrupted = async (
  service: GitNeeds & WithLog,
  turn: ReadingTurn,
): Promise<string | undefined> => {
  const { layout } = service.store;
  const { case_id, id } = turn;
  const baseline = readBaseline(layout, case_id);
  if (baseline === undefined) return undefined;
  const worktree = readWorktree(service.store, case_id);
  if (worktree?.created_at !== baseline.worktree_created_at) {
    await removeBaseline(layout, case_id);
    return undefined;
  }
  const violation = await undoChanges(service, turn, worktree, baseline);
  return baseline.session_id === id ? violation : undefined;
};
