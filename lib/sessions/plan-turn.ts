import type { WorktreeRecord } from '../../store/records/worktree.ts';
import { readPlan, writePlan, writeSessionFile } from '../../store/session-texts.ts';
import { type KeptSession, updateSession, whereIs } from '../../store/sessions.ts';
import type { RunResult } from '../providers/provider.ts';
import type { Service } from '../service.ts';
import { headCommit } from '../tools/git-repository.ts';
import { restore } from '../tools/git-restore.ts';
import { dropSnapshot, type Snapshot, snapshot } from '../tools/git-snapshot.ts';
import { ensureWorktree } from '../worktrees/create.ts';
import { decide } from './decide.ts';
import { endFailed, stopped } from './end.ts';
import { promptFor } from './prompt.ts';
import { planReady } from './rules.ts';
import { runTurn } from './run.ts';
import { noteStatus } from './stream.ts';

/**
 * Plan mode: the agent reads and proposes. The worktree is compared with how it was: whatever changed is undone, kept as
 * a patch, and fails the session.
 */
export const planTurn = async (service: Service, kept: KeptSession): Promise<void> => {
  noteStatus(service, kept);
  const worktree = await ensureWorktree(service, kept.session.case_id);
  const before = await snapshot(service.git, worktree);
  let violation: string | undefined;
  let result: RunResult;
  try {
    result = await propose(service, kept, worktree);
  } finally {
    violation = await undoChanges(service, kept, { worktree, before });
  }
  if (stopped(service, result)) return;
  if (violation !== undefined) return endFailed(service, kept, violation);
  if (result.outcome !== 'completed')
    return endFailed(service, kept, result.error ?? 'The agent stopped without a plan.');
  await keepPlan(service, kept, result);
};

const propose = async (
  service: Service,
  kept: KeptSession,
  worktree: WorktreeRecord,
): Promise<RunResult> => {
  const { case_id, id } = kept.session;
  const base_commit = (await headCommit(service.git, worktree)) ?? null;
  await updateSession(service.store, case_id, id, () => ({ branch: worktree.branch, base_commit }));
  const prompt = await promptFor(service, case_id);
  return runTurn(service, { kept, phase: 'plan', worktree, prompt });
};

const undoChanges = async (
  service: Service,
  kept: KeptSession,
  { worktree, before }: { worktree: WorktreeRecord; before: Snapshot },
): Promise<string | undefined> => {
  const { undone, patch, kept_ref } = await restore(service.git, worktree, before);
  await dropSnapshot(service.git, worktree, before);
  if (!undone.changed) return undefined;
  await writeSessionFile(service.store, whereIs(service.store, kept), VIOLATION, patch);
  const files = undone.files.map(({ path }) => path);
  const what = files.length > 0 ? files.slice(0, 5).join(', ') : 'its git state';
  service.engine.transcript(kept).append('error', { code: 'plan_mode_violation', files, kept_ref });
  return `plan_mode_violation: the agent changed the worktree in Plan mode (${what}). It was undone; a patch of it is in ${VIOLATION}.`;
};

const VIOLATION = 'plan-mode-violation.patch';

const keepPlan = async (
  service: Service,
  kept: KeptSession,
  { plan = '', usage, native_session_id }: RunResult,
): Promise<void> => {
  const { store } = service;
  const { case_id, id } = kept.session;
  // The manual provider's plan is the operator's own file: it is not written again.
  const dir = whereIs(store, kept);
  if (readPlan(store, dir)?.content !== plan) await writePlan(store, dir, plan);
  const ready = await decide(
    service,
    case_id,
    id,
    planReady({ usage: usage ?? null, native_session_id }),
  );
  if (ready?.session.status !== 'plan_ready') return;
  noteStatus(service, ready);
  const { plan_sha256 } = ready.session;
  service.engine.transcript(ready).append('plan_ready', { plan, plan_sha256 });
};
