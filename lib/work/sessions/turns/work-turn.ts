import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { findBlocks } from '../../../../store/sessions/blocks.ts';
import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import type { WithStore } from '../../../../store/store.ts';
import type { PartialWork, RunResult } from '../../../agents/provider.ts';
import { CONFLICT, unstage } from '../../../code/worktrees/rebase/rebase-state.ts';
import { someOf } from '../../../text/wording.ts';
import { status } from '../../../tools/git/read/status.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { decide } from '../guards/decide.ts';
import { approvedPlan } from '../guards/preconditions.ts';
import type { WithEngine } from '../live/engine.ts';
import type { SessionNeeds } from '../live/needs.ts';
import { noteStatus } from '../live/stream.ts';
import { digestOf, type SessionDigest } from '../live/transcript-summary.ts';
import { failedEdits } from '../rules/commands.ts';
import { completeSession } from '../rules/rules.ts';
import { endTurn, wasCancelled } from './end.ts';
import { recordWorkStart } from './keep-diff.ts';
import { needsAnotherRun, recordFinishedRun } from './messages.ts';
import { prepareWorktree } from './prepare.ts';
import { promptFor } from './prompt.ts';
import { runTurn, type SessionTurn } from './run.ts';
import { readableDiffOf, wrapUpCompleted } from './wrap-up.ts';

export interface WorkTurn {
  /** True where an earlier run was stopped in the middle. */
  isResumed: boolean;
}

/**
 * Runs Work mode with exactly the text of approved.md, and writes the diff. Throws when that text is not what was
 * approved.
 */
export const workTurn = async (
  service: SessionNeeds,
  kept: StoredSession,
  { isResumed }: WorkTurn,
): Promise<void> => {
  noteStatus(service.engine, kept);
  const plan = approvedPlan(service.store, kept);
  const worktree = await prepareWorktree(service, kept);
  if (worktree === undefined) return;
  const before = await readableDiffOf(service, kept);
  if (!isResumed) await recordWorkStart(service, kept, before);
  const ended = await runUntilDone(service, { kept, worktree, plan, isResumed });
  if (wasCancelled(service.engine, ended)) return;
  const diff = await readableDiffOf(service, kept);
  const isSame = diff.patch.equals(before.patch);
  // A resumed agent that only speaks may have worked before without reporting its calls.
  const mayHaveWorked = isResumed && diff.patch.length > 0;
  const result = isSame ? await failIfIdle(service, kept, { ended, mayHaveWorked }) : ended;
  if (result.outcome !== 'completed')
    return endTurn(service, kept, result.error ?? UNFINISHED, result);
  const ending = await wrapUpCompleted(service, kept, { turn: result, diff });
  await decide(service, kept.session, completeSession(ending));
};

interface Work extends WorkTurn, Pick<SessionTurn, 'kept' | 'worktree'> {
  plan: string;
}

/** Runs the plan, and again from its current state while messages arrive that a run did not read. */
const runUntilDone = async (
  service: SessionNeeds,
  { isResumed, ...work }: Work,
): Promise<RunResult> => {
  const { worktree, plan } = work;
  for (let { kept } = work, isBegun = isResumed; ; isBegun = true) {
    const partial = isBegun ? await partialWork(service, kept, worktree) : undefined;
    const turn = { plan, ...(partial !== undefined && { partial }) };
    const prompt = await promptFor(service, kept, worktree, turn);
    const ended = await runWorkTurn(service, { kept, worktree, prompt });
    if (!(await needsAnotherRun(service, kept, ended))) return ended;
    kept = await recordFinishedRun(service, kept, ended);
  }
};

// What a stopped Work run has done so far, so that the next continues from there.
const partialWork = async (
  { git, engine, store }: WithEngine & WithGit & WithStore,
  kept: StoredSession,
  worktree: WorktreeRecord,
): Promise<PartialWork> => {
  const { files } = await status(git.at(worktree));
  const blocks = findBlocks(store.layout, kept.session);
  return {
    files: files.map(({ code, path }) => `${code} ${path}`),
    done: blocks?.done ?? doneOf(await digestOf(engine, kept)),
  };
};

const doneOf = ({ calls }: SessionDigest): string[] =>
  calls.filter(({ status }) => status === 'completed' || status === 'skipped').map(({ id }) => id);

/**
 * Runs a Work turn. Conflict resolutions that the agent staged are unstaged, however its turn ended; the turn fails
 * where that is not possible.
 */
const runWorkTurn = async (
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

// Agents also report completion when they could not reach their model, or only announced the work.
const failIfIdle = async (
  { engine }: WithEngine,
  kept: StoredSession,
  { ended, mayHaveWorked }: { ended: RunResult; mayHaveWorked: boolean },
): Promise<RunResult> => {
  const { outcome, only_said, refused } = ended;
  if (outcome !== 'completed') return ended;
  const { calls, has_worked } = await digestOf(engine, kept);
  const edits = failedEdits(calls);
  if (edits !== undefined)
    return { ...ended, outcome: 'failed', error: `${NO_EDIT} It tried: ${someOf(edits)}.` };
  if (only_said === undefined || has_worked) return ended;
  if (mayHaveWorked && refused === undefined) return ended;
  const why = refused === undefined ? DID_NOTHING : `${REFUSED}: ${someOf(refused)}.`;
  return { ...ended, outcome: 'failed', error: `${why} Its last message:\n${only_said}` };
};

const NO_EDIT = 'Every edit of the agent failed, and the worktree has not changed.';

const DID_NOTHING =
  'The agent ended its turn without doing anything: it called no tool, and the worktree has not changed.';

const REFUSED =
  'The agent ended its turn without doing anything: the worktree has not changed, and all its requests were refused';

const UNFINISHED = 'The agent stopped before it finished.';
