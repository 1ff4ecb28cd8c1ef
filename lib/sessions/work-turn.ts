import { writeSessionFile } from '../../store/sessions/session-texts.ts';
import { type KeptSession, whereIs } from '../../store/sessions/sessions.ts';
import type { RunResult } from '../providers/provider.ts';
import type { Service } from '../service.ts';
import { ensureWorktree } from '../worktrees/create.ts';
import { type WorktreeDiff, worktreeDiff } from '../worktrees/diff.ts';
import { conflictOf, runAndUnstage } from './conflict.ts';
import { decide } from './decide.ts';
import { endFailed, stopped } from './end.ts';
import { partialWork, workCalls } from './partial.ts';
import { promptFor } from './prompt.ts';
import { complete, usedSoFar } from './rules.ts';
import { noteStatus } from './stream.ts';
import { summaryOf } from './summary.ts';

export interface Work {
  plan: string;
  /** A run before this one was stopped in the middle. */
  goesOn: boolean;
}

/** Work mode: the approved plan, this text and no other, is executed, and yields a diff. */
export const workTurn = async (
  service: Service,
  kept: KeptSession,
  { plan, goesOn }: Work,
): Promise<void> => {
  const { case_id } = kept.session;
  noteStatus(service, kept);
  const worktree = await ensureWorktree(service, case_id);
  const partial = goesOn ? await partialWork(service, kept, worktree) : undefined;
  const conflict = await conflictOf(service, kept, worktree);
  const given = { plan, ...(partial !== undefined && { partial }), ...conflict };
  const prompt = await promptFor(service, case_id, given);
  const before = await diffOf(service, kept);
  const ended = await runAndUnstage(service, { kept, worktree, prompt });
  if (stopped(service, ended)) return;
  const after = await keepDiff(service, kept);
  const files = after.changed;
  const result = goesOn || !before.patch.equals(after.patch) ? ended : refuseIdle(ended);
  const ended_at = service.clock().toISOString();
  const { session } = kept;
  const calls = await workCalls(service, kept);
  const usage = usedSoFar(session.usage, result.usage);
  const summary = summaryOf({ session, asked: prompt, files, calls, usage, ended_at });
  if (result.outcome === 'completed') await endCompleted(service, kept, { result, summary });
  else await endFailed(service, kept, result.error ?? UNFINISHED, { result, summary });
};

// Agents say that they are done, too, when they could not reach their model, and when they only spoke of doing it.
const refuseIdle = (result: RunResult): RunResult => {
  const { outcome, only_said } = result;
  if (outcome !== 'completed' || only_said === undefined) return result;
  return { ...result, outcome: 'failed', error: `${DID_NOTHING} Its last words:\n${only_said}` };
};

const DID_NOTHING =
  'The agent ended its turn without doing anything: it called no tool, and nothing in the worktree has changed.';

const UNFINISHED = 'The agent stopped before it had finished.';

// Also of work that failed: what was done so far is in the worktree, and nobody should have to look for it.
const keepDiff = async (service: Service, kept: KeptSession): Promise<WorktreeDiff> => {
  const found = await diffOf(service, kept);
  const { patch, changed: _changed, ...counts } = found;
  await writeSessionFile(service.store, whereIs(service.store, kept), 'diff.patch', patch);
  service.engine.transcript(kept).append('diff', { ...counts });
  return found;
};

const diffOf = async (service: Service, { session }: KeptSession): Promise<WorktreeDiff> => {
  const worktree = await ensureWorktree(service, session.case_id);
  const base_commit = session.base_commit ?? worktree.base_commit;
  return worktreeDiff(service, { ...worktree, base_commit });
};

const endCompleted = async (
  service: Service,
  { session }: KeptSession,
  { result, summary }: { result: RunResult; summary: string },
): Promise<void> => {
  const { usage, native_session_id } = result;
  const at = service.clock().toISOString();
  const rule = complete({ at, summary, usage, native_session_id });
  await decide(service, session.case_id, session.id, rule);
};
