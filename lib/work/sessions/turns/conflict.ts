import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import type { PromptParts, RunResult } from '../../../agents/provider.ts';
import { conflictWords } from '../../../code/rebase/conflict-words.ts';
import { CONFLICT } from '../../../code/rebase/under-way.ts';
import { unstage } from '../../../code/rebase/unstage.ts';
import type { GitNeeds } from '../../../code/worktrees/needs.ts';
import type { SessionNeeds } from '../live/needs.ts';
import { runTurn, type SessionTurn } from './run.ts';

/** What a session that resolves conflicts is told of them; nothing for any other. */
export const conflictOf = async (
  service: GitNeeds,
  { session }: StoredSession,
  worktree: WorktreeRecord,
): Promise<Pick<PromptParts, 'conflict'>> =>
  session.type === CONFLICT ? { conflict: await conflictWords(service, worktree) } : {};

/** A Work turn. What an agent staged of a conflict is put back, however its turn ended; what cannot be is a failure. */
export const runAndUnstage = async (
  service: SessionNeeds,
  turn: Omit<SessionTurn, 'phase'>,
): Promise<RunResult> => {
  const { kept, worktree } = turn;
  const work = runTurn(service, { ...turn, phase: 'work' });
  if (kept.session.type !== CONFLICT) return work;
  const look = () => unstage(service, worktree);
  const { undone, broken } = await work.then(look, look);
  if (undone !== undefined) service.engine.transcript(kept).append('error', { message: undone });
  const result = await work;
  if (broken === undefined || result.outcome === 'cancelled') return result;
  return { ...result, outcome: 'failed', error: broken };
};
