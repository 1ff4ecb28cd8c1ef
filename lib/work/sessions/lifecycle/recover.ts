import { whenGitIdle } from '../../../../store/fs/git-dir.ts';
import { defer } from '../../../../store/reconcile/deferred.ts';
import { itemOf } from '../../../../store/reconcile/items.ts';
import { isEnded } from '../../../../store/records/session.ts';
import { type HeldLock, listHeldLocks, readLock } from '../../../../store/sessions/locks.ts';
import { isRunMarker } from '../../../../store/sessions/run-marker.ts';
import { removeRun } from '../../../../store/sessions/session-events.ts';
import {
  claimSession,
  isRequeued,
  readSession,
  type SessionRule,
  type StoredSession,
  sessionsOf,
} from '../../../../store/sessions/sessions.ts';
import { sweepTold } from '../../../../store/sessions/told.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import { atLeast } from '../../../agents/usage.ts';
import { tracesOf } from '../../../code/worktrees/read.ts';
import { CONFLICT, unstage } from '../../../code/worktrees/rebase/rebase-state.ts';
import type { WithLog } from '../../../log.ts';
import { sweepStates } from '../../../sandbox/state/open.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { killRun } from '../../../tools/process/process-tree.ts';
import { decide, finalize, unblockCase } from '../guards/decide.ts';
import { lostWork } from '../guards/preconditions.ts';
import { publishRequest, type RequestEvent } from '../live/agent-requests.ts';
import type { Engine } from '../live/engine.ts';
import type { EngineNeeds, SessionNeeds, TurnNeeds } from '../live/needs.ts';
import { noteMessages, noteStatus } from '../live/stream.ts';
import { digestOf, type SessionDigest } from '../live/transcript-summary.ts';
import {
  type FinishedTurn,
  fail,
  INTERRUPTED,
  INTERRUPTED_WAITING,
  interrupt,
  notCompared,
  pauseRequeued,
  TAKEN_AWAY,
} from '../rules/rules.ts';
import { nextStatus } from '../rules/transitions.ts';
import { undoInterrupted } from '../turns/baseline.ts';
import { turnOfSession } from '../turns/reading-turn.ts';
import { importTurn } from '../turns/turn-repository.ts';
import { wrapUp } from '../turns/wrap-up.ts';
import { closeAttach } from './detach.ts';
import { startQueued } from './launch.ts';

/**
 * Cleans up after the previous run of the daemon: ends its processes, completes half-done follow-ups and pauses
 * sessions that were running. No session continues by itself; only queued ones start to plan.
 */
export const recoverSessions = async (service: SessionNeeds): Promise<void> => {
  await reclaimLocked(service);
  const { layout, journal } = service.store;
  const known = new Set(journal.runs.keys());
  await sweepStates(layout.states, known);
  sweepTold(layout, known);
  for (const [id, { case_id }] of [...service.store.journal.runs]) {
    const what = { case_id, id, why: INTERRUPTED };
    await recover(service, what).catch((error: unknown) => recoverLater(service, what, error));
  }
  await startQueued(service);
};

/** Does the same for one session while the daemon runs, such as one whose record was gone and is back. */
export const recoverSession = async (
  service: TurnNeeds & WithLog,
  what: Interrupted,
): Promise<void> => {
  const { live, away, recovering, closing } = service.engine;
  if (closing || recovering.has(what.id)) return;
  recovering.add(what.id);
  away.delete(what.id);
  try {
    // git may still be writing the files beside the record.
    await whenGitIdle(service.store.layout);
    const kept = readSession(service.store, what.case_id, what.id);
    if (kept?.session.status === 'working' && !live.has(what.id)) await importTurn(service, kept);
    // It was resumed meanwhile.
    if (!live.has(what.id)) await recover(service, what);
  } catch (error) {
    recoverLater(service, what, error);
  } finally {
    recovering.delete(what.id);
  }
};

/** Reports the failure. The recovery is repeated at the next change of the Work item or comparison of the workspace. */
const recoverLater = (service: TurnNeeds & WithLog, what: Interrupted, error: unknown): void => {
  const { id } = what;
  service.log.error(
    { err: error, session_id: id },
    'recovering a session failed and is repeated later; its files are unchanged',
  );
  // A run that began meanwhile ends by itself.
  if (service.engine.live.has(id)) return;
  service.engine.away.set(id, what.why);
  defer(service.store, `recover ${id}`, {
    what: `recovering session ${id}`,
    work: async () => {
      if (service.engine.away.has(id)) await recoverSession(service, what);
    },
  });
};

interface Interrupted {
  case_id: string;
  id: string;
  /** The error of a session that was running. */
  why: string;
}

const recover = async (
  service: TurnNeeds & WithLog,
  { case_id: caseId, id, why }: Interrupted,
): Promise<void> => {
  const found = readSession(service.store, caseId, id);
  if (found === undefined && mayReturn(service.store, caseId, id))
    return void service.engine.away.set(id, TAKEN_AWAY);
  if (found === undefined || found.session.elsewhere === true) return removeRun(service.store, id);
  if (found.session.unconfirmed === undefined) await killLeftovers(service.store, found);
  await noteMessages(service, found);
  const told = service.store.journal.runs.get(id)?.status;
  if (isRequeued(service.store, found.session)) return pauseAgain(service, found);
  await finalize(service, found);
  if (isEnded(found.session.status)) return;
  await closeAttach(service, found);
  const rule = await ruleFor(service, found, why);
  const kept = await decide(service, found.session, (...now) =>
    service.engine.live.has(id) ? undefined : rule(...now),
  );
  if (service.engine.live.has(id)) return;
  if (kept === undefined) service.engine.away.set(id, TAKEN_AWAY);
  else if (kept.session.status !== told) noteInterrupted(service.engine, kept);
};

const pauseAgain = async (service: EngineNeeds, { session }: StoredSession): Promise<void> => {
  const kept = await decide(service, session, pauseRequeued);
  if (kept?.session.status === 'paused') noteInterrupted(service.engine, kept);
};

/**
 * Whether a session that is gone may come back, as with another branch of the workspace: its Work item is gone and was not
 * deleted through the API, or it is queued, or the session lock, which git ignores, still names it.
 */
export const mayReturn = (store: Store, caseId: string, id: string): boolean => {
  const { seen, gone } = store.journal;
  if (itemOf(store, caseId) === undefined) return seen.has(caseId) || gone.has(caseId);
  // A queued session has no lock yet.
  if (store.journal.runs.get(id)?.status === 'queued') return true;
  return readLock(store, caseId)?.holder?.session_id === id;
};

// The run marker in a file may belong to another run. Then leftovers are found by their working directory.
const killLeftovers = async (store: Store, { session, matter }: StoredSession): Promise<void> => {
  const { run_marker } = matter;
  if (run_marker === undefined) return;
  const isOurs = isRunMarker(store.layout, session.id, run_marker);
  await killRun(isOurs ? run_marker : session.id, tracesOf(store, session.case_id));
};

const unstageConflict = async (
  service: WithGit & WithStore,
  { session }: StoredSession,
): Promise<void> => {
  const worktree = readWorktree(service.store, session.case_id);
  if (session.type !== CONFLICT || session.status !== 'working' || worktree === undefined) return;
  await unstage(service, worktree);
};

// The comparison of a Plan turn with its baseline is done here where its daemon died before.
const ruleFor = async (
  service: TurnNeeds & WithLog,
  found: StoredSession,
  why: string,
): Promise<SessionRule> => {
  const { turn, waited } = await unrecordedTurn(service, found);
  try {
    await unstageConflict(service, found);
    const violation = await undoInterrupted(service, turnOfSession(service, found));
    if (violation === undefined) return await interrupted(service, found, { turn, waited, why });
    const ending = await wrapUp(service, found, { status: 'failed', error: violation, turn });
    return fail({ ...ending, error: violation });
  } catch (error) {
    service.log.error({ err: error, session_id: found.session.id }, 'comparing a worktree failed');
    return interrupt(notCompared(error), { turn });
  }
};

const interrupted = async (
  service: TurnNeeds,
  found: StoredSession,
  { turn, waited, why }: Unrecorded & { why: string },
): Promise<SessionRule> => {
  const stopped = waited && why === INTERRUPTED ? INTERRUPTED_WAITING : why;
  const error = (await lostWork(service.store, found.session)) ?? stopped;
  if (nextStatus(found.session, 'interrupt') === undefined) return interrupt(error);
  return interrupt(error, await wrapUp(service, found, { status: 'paused', error, turn }));
};

const noteInterrupted = (engine: Engine, kept: StoredSession): void => {
  const { error } = kept.session;
  if (error !== null) engine.transcript(kept).append('error', { message: error });
  noteStatus(engine, kept);
};

/**
 * Recognizes this machine's sessions again where `.dossier/` or its journal was removed while no daemon ran. Git
 * ignores `sessions/lock.md`, so a session that holds one here was started here, and so were the queued ones with the
 * same machine id.
 */
const reclaimLocked = async (service: WithLog & WithStore): Promise<void> => {
  for (const lock of listHeldLocks(service.store)) {
    await reclaim(service, lock).catch((error: unknown) => {
      service.log.error(
        { err: error, case_id: lock.case_id },
        'reclaiming the session that holds the lock failed',
      );
    });
  }
};

const reclaim = async (
  { store, log }: WithLog & WithStore,
  { case_id, matter: { session_id } }: HeldLock,
): Promise<void> => {
  const { runs } = store.journal;
  if (session_id === undefined || runs.has(session_id)) return;
  const holder = readSession(store, case_id, session_id);
  if (holder === undefined || isEnded(holder.session.status)) return;
  log.warn({ case_id, session_id }, RECLAIMED);
  const isOurs = ({ session, matter }: StoredSession): boolean =>
    session.elsewhere !== true || matter.machine === holder.matter.machine;
  const open = (sessionsOf(store, case_id) ?? []).filter(
    (kept) => !isEnded(kept.session.status) && !runs.has(kept.session.id) && isOurs(kept),
  );
  // The holder comes last: after a crash in between, its lock still identifies the others.
  const others = open.filter(({ session }) => session.id !== session_id);
  for (const kept of [...others, holder]) await claimSession(store, kept);
};

const RECLAIMED = 'reclaiming a session by its lock: .dossier/ or its journal was removed';

interface Unrecorded {
  /** Undefined when there is no turn that is not counted yet. */
  turn: FinishedTurn | undefined;
  /** Whether the turn waited for its place, so that nothing of it ran. */
  waited: boolean;
}

/** The usage of a turn that ended with its daemon, from its events. Its open requests are cancelled. */
const unrecordedTurn = async (service: EngineNeeds, kept: StoredSession): Promise<Unrecorded> => {
  const digest = await digestOf(service.engine, kept);
  await cancelRequests(service, kept, digest);
  if (digest.was_asking) await unblockCase(service, kept.session.case_id);
  const { usage, waits: waited } = digest;
  if (usage === undefined) return { turn: undefined, waited };
  const { native_session_id, native_cost_usd = 0 } = kept.matter;
  const turn = {
    usage: atLeast(usage),
    ...(native_session_id !== undefined && {
      native_session_id,
      native_cost_usd: native_cost_usd + (usage.cost_usd ?? 0),
    }),
  };
  return { turn, waited };
};

// The agent that asked ended with its daemon.
const cancelRequests = async (
  { engine, store }: EngineNeeds,
  kept: StoredSession,
  { questions, asked }: SessionDigest,
): Promise<void> => {
  const { case_id, id: session_id } = kept.session;
  const close = async (event: RequestEvent): Promise<void> => {
    engine.transcript(kept).append(event.type, { ...event.data });
    await publishRequest(store, { case_id, session_id }, event);
  };
  const open = [...questions].filter(([, { outcome }]) => outcome === undefined);
  for (const [question_id, { message }] of open) {
    const data = { question_id, message, action: 'cancel', by: 'daemon', reason: DIED } as const;
    await close({ type: 'question_resolved', data });
  }
  for (const [request_id, { title, kind }] of asked) {
    const data = { request_id, title, kind, option_id: null, by: 'daemon' } as const;
    await close({ type: 'permission_resolved', data });
  }
};

const DIED = 'The daemon ended before it was answered.';
