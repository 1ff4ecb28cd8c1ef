import { isEnded } from '../../../../store/records/session.ts';
import {
  forgetRun,
  readSession,
  type SessionRule,
  type StoredSession,
} from '../../../../store/sessions/sessions.ts';
import type { WithStore } from '../../../../store/store.ts';
import { CONFLICT } from '../../../code/rebase/under-way.ts';
import { unstage } from '../../../code/rebase/unstage.ts';
import { findWorktree, tracesOf } from '../../../code/worktrees/read.ts';
import type { WithLog } from '../../../log.ts';
import { sweepStates } from '../../../sandbox/state/open.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { killRun } from '../../../tools/process/process-tree.ts';
import { decide } from '../guards/decide.ts';
import { finalize } from '../guards/finalize.ts';
import { lostWork } from '../guards/lost-work.ts';
import type { Engine } from '../live/engine.ts';
import type { SessionNeeds, TurnNeeds } from '../live/needs.ts';
import { noteStatus } from '../live/stream.ts';
import { untoldTurn } from '../live/untold-turn.ts';
import { fail, INTERRUPTED, interrupt, isRunning, type RememberedTurn } from '../rules/rules.ts';
import { undoInterrupted } from '../turns/baseline.ts';
import { turnOfSession } from '../turns/reading-turn.ts';
import { wrapUp } from '../turns/wrap-up.ts';
import { wakeQueue } from './launch.ts';
import { reclaimLocked } from './reclaim.ts';

/**
 * What a former life of the daemon left: processes are ended, half-done follow-ups are done, sessions that ran are
 * paused. Nothing goes on by itself; only what waited in the queue, unplanned, starts to plan.
 */
export const recoverSessions = async (service: SessionNeeds): Promise<void> => {
  await reclaimLocked(service);
  const { layout, journal } = service.store;
  await sweepStates(layout.states, new Set(journal.runs.keys()));
  for (const [id, { case_id }] of [...service.store.journal.runs]) {
    await recover(service, case_id, id).catch((error: unknown) => {
      service.log.error(
        { err: error, session_id: id },
        'A session could not be taken up again; its files are as they were',
      );
    });
  }
  await wakeQueue(service);
};

const recover = async (service: TurnNeeds & WithLog, caseId: string, id: string): Promise<void> => {
  const found = readSession(service.store, caseId, id);
  if (found === undefined || found.session.elsewhere === true) {
    // One that went with its Work item may come back with it: with another branch of the workspace.
    if (service.store.items.byId.has(caseId)) await forgetRun(service.store, id);
    return;
  }
  const { run_marker } = found.matter;
  if (run_marker !== undefined) await killRun(run_marker, tracesOf(service.store, caseId));
  await putBackStaged(service, found);
  const told = service.store.journal.runs.get(id)?.status;
  await finalize(service, found);
  if (isEnded(found.session.status)) return;
  const kept = (await decide(service, caseId, id, await ruleFor(service, found))) ?? found;
  if (kept.session.status !== told) noteInterrupted(service.engine, kept);
};

const putBackStaged = async (
  service: WithGit & WithStore,
  { session }: StoredSession,
): Promise<void> => {
  const worktree = findWorktree(service.store, session.case_id);
  if (session.type !== CONFLICT || session.status !== 'working' || worktree === undefined) return;
  await unstage(service, worktree);
};

// A Plan turn is compared with what it began with, also when its daemon did not live to do it.
const ruleFor = async (
  service: TurnNeeds & WithLog,
  found: StoredSession,
): Promise<SessionRule> => {
  const turn = await untoldTurn(service, found);
  try {
    const violation = await undoInterrupted(service, turnOfSession(service, found));
    if (violation === undefined) return await interrupted(service, found, turn);
    const ending = await wrapUp(service, found, { status: 'failed', error: violation, turn });
    return fail({ ...ending, error: violation });
  } catch (error) {
    service.log.error({ err: error, session_id: found.session.id }, NOT_COMPARED);
    const why = error instanceof Error ? error.message : String(error);
    const told = `${NOT_COMPARED}: ${why} It is compared when the session is resumed.`;
    return interrupt(told, { turn });
  }
};

const interrupted = async (
  service: TurnNeeds,
  found: StoredSession,
  turn: RememberedTurn | undefined,
): Promise<SessionRule> => {
  const error = (await lostWork(service.store, found.session)) ?? INTERRUPTED;
  if (!isRunning(found.session.status)) return interrupt(error);
  return interrupt(error, await wrapUp(service, found, { status: 'paused', error, turn }));
};

const NOT_COMPARED = 'The worktree could not be compared with how it was before Plan mode';

const noteInterrupted = (engine: Engine, kept: StoredSession): void => {
  const { error } = kept.session;
  if (error !== null) engine.transcript(kept).append('error', { message: error });
  noteStatus(engine, kept);
};
