import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { readSession, type StoredSession } from '../../../../store/sessions/sessions.ts';
import type { Isolation, Phase, RunResult } from '../../../agents/provider.ts';
import { CONFLICT } from '../../../code/worktrees/rebase/rebase-state.ts';
import { closeTurn } from '../../../code/worktrees/turn/close.ts';
import type { TurnNotice } from '../../../code/worktrees/turn/notices.ts';
import { type OpenTurn, openTurn } from '../../../code/worktrees/turn/open.ts';
import { recoverTurns } from '../../../code/worktrees/turn/reclaim.ts';
import type { WithLog } from '../../../log.ts';
import { list, record, text, type Wire } from '../../../text/unknown-json.ts';
import { type Engine, type LiveRun, mustStop } from '../live/engine.ts';
import type { SessionNeeds, TurnNeeds } from '../live/needs.ts';

interface Turn {
  kept: StoredSession;
  phase: Phase;
  worktree: WorktreeRecord;
  live: LiveRun;
  isolation: Isolation;
}

/**
 * Runs a Work turn in a repository of its own and imports what it did there, however it ended. Plan turns, conflict
 * sessions and the operator's own work have none.
 */
export const runInTurnRepository = async (
  service: SessionNeeds,
  { kept, phase, worktree, live, isolation }: Turn,
  run: (git: OpenTurn['view'] | undefined) => Promise<RunResult>,
): Promise<RunResult> => {
  const { id, type } = kept.session;
  if (phase === 'plan' || type === CONFLICT || isolation === 'operator') return run(undefined);
  const own = await refsOfSession(service.engine, kept);
  const turn = await openTurn(service, worktree, { session_id: id, marker: live.run_marker, own });
  if (turn.unheld.length > 0) reporterFor(service.engine, kept)(turn.unheld);
  // The run may have been ended while its repository was created.
  const work = mustStop(service.engine, live) ? CANCELLED : run(turn.view);
  const settled = await work.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  const { blocked } = await turn.close(reporterFor(service.engine, kept));
  if ('error' in settled) throw settled.error;
  const { result } = settled;
  if (blocked === undefined || result.outcome !== 'completed') return result;
  live.result = { ...result, outcome: 'failed', error: blocked };
  return live.result;
};

const CANCELLED: Promise<RunResult> = Promise.resolve({ outcome: 'cancelled' });

const reporterFor =
  (engine: Engine, kept: StoredSession) =>
  (told: readonly TurnNotice[]): void => {
    const transcript = engine.transcript(kept);
    for (const each of told) transcript.append('error', { ...each });
  };

/** Imports again a turn of the session whose import could not be told in its stream. Idempotent. */
export const importTurn = async (
  service: TurnNeeds & WithLog,
  kept: StoredSession,
): Promise<void> =>
  void (await closeTurn(service, kept.session.case_id, reporterFor(service.engine, kept)));

/** Imports what interrupted turns of the previous daemon left, and reports it in their sessions' streams. */
export const importInterruptedTurns = (service: TurnNeeds & WithLog): Promise<void> =>
  recoverTurns(service, (caseId, sessionId, told) => {
    const kept = readSession(service.store, caseId, sessionId);
    if (kept !== undefined) reporterFor(service.engine, kept)(told);
  });

/**
 * The branches, tags and stashes that earlier turns of a session created in their repositories, from its stream: a
 * later turn gets them again. Refs of the operator's repository are not among them.
 */
const refsOfSession = async (
  engine: Engine,
  kept: StoredSession,
): Promise<ReadonlyMap<string, string>> => {
  const own = new Map<string, string>();
  for await (const events of engine.transcript(kept).soFar(0))
    for (const { event, data } of events)
      for (const each of event === 'error' ? keptIn(data) : []) hear(own, record(each));
  return own;
};

const keptIn = ({ code, refs }: Wire): unknown[] => (code === 'refs_kept' ? list(refs) : []);

const hear = (own: Map<string, string>, told: Wire): void => {
  const [ref, after] = [text(told.ref), text(told.after)];
  if (ref === undefined || !OWN.test(ref)) return;
  if (after === undefined || text(told.kept_ref) === undefined) own.delete(ref);
  else if (told.before === null || own.has(ref)) own.set(ref, after);
};

const OWN = /^refs\/(?:heads\/|tags\/|stash@\{)/;
