import { orElse, orElseUnlessDiskFault } from '../../../../store/base/attempt.ts';
import { GRACE_MS } from '../../../../store/base/grace.ts';
import { lockOn } from '../../../../store/base/locks.ts';
import { gitStall } from '../../../../store/fs/git-dir.ts';
import {
  directoryStatusOf,
  itemOf,
  onFilesChanged,
  onItemChanged,
} from '../../../../store/reconcile/items.ts';
import { removeRun } from '../../../../store/sessions/session-events.ts';
import {
  hasRecord,
  isRequeued,
  readSession,
  sessionStatus,
  unfinishedSession,
} from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';
import { finalize } from '../guards/decide.ts';
import { CHANGED, isStatusChanged, noteChanged } from '../live/changed-status.ts';
import { stopLive } from '../live/engine.ts';
import type { EngineNeeds, SessionNeeds } from '../live/needs.ts';
import { noteComments } from '../live/stream.ts';
import { isRunning, TAKEN_AWAY } from '../rules/rules.ts';
import { startQueued } from './launch.ts';
import { mayReturn, recoverSession } from './recover.ts';

/**
 * Follows changes of Work items. When the record of a session is removed, its run ends, and the session is paused once the
 * record is back. When git or an editor changed its status, its run ends, and what follows from the new status is applied. When a
 * Work item is repaired, unblocked or reopened, its sessions continue with what was not possible before, and a queued session that
 * could not be read starts. A new trust decision starts queued sessions.
 */
export const followCases = (service: SessionNeeds): void => {
  const { store, engine, log } = service;
  service.trusted.add(() => {
    startQueued(service).catch((error: unknown) =>
      log.error({ err: error }, 'starting queued sessions failed'),
    );
  });
  store.journal.onEvents((events) => {
    for (const { body } of events)
      if (body.event_type === 'session_comments_changed') tellStream(service, body.payload);
  });
  onItemChanged(store, (caseId, item) => {
    const ids = runsOf(store, caseId);
    if (engine.closing || ids.length === 0) return;
    const following =
      item === undefined ? forgetRuns(service, caseId, ids) : resumeFollowUps(service, caseId, ids);
    following.catch((error: unknown) =>
      log.error(
        { err: error, case_id: caseId },
        'updating the sessions of a changed Work item failed',
      ),
    );
  });
  const looking = new Set<string>();
  onFilesChanged(store, (caseId) => {
    if (caseId === undefined || looking.has(caseId) || !hasComeOrGone(service, caseId)) return;
    looking.add(caseId);
    // An editor that saves, or git, removes a file for a moment, and a rebase puts older ones in its place.
    const later = (): void => {
      if (isGitAtWork(store)) {
        lookLater();
        return;
      }
      looking.delete(caseId);
      followRecords(service, caseId).catch((error: unknown) =>
        log.error({ err: error, case_id: caseId }, 'following the records of sessions failed'),
      );
    };
    const lookLater = (): void => void setTimeout(later, GRACE_MS).unref();
    lookLater();
  });
};

// One that makes no progress may have died.
const isGitAtWork = ({ layout }: Store): boolean =>
  (gitStall(layout) ?? Number.POSITIVE_INFINITY) < GIT_MS;

const GIT_MS = 2000;

const runsOf = ({ journal }: Store, caseId: string): string[] =>
  [...journal.runs].flatMap(([id, { case_id }]) => (case_id === caseId ? [id] : []));

// Readers of the stream are notified of comments too.
const tellStream = (
  { store, engine }: EngineNeeds,
  { case_id, session_id }: { case_id: string; session_id: string },
): void => {
  if (engine.closing || !store.journal.runs.has(session_id)) return;
  const kept = readSession(store, case_id, session_id);
  if (kept !== undefined) noteComments(engine, kept);
};

const forgetRuns = async (
  service: EngineNeeds,
  caseId: string,
  ids: readonly string[],
): Promise<void> => {
  for (const id of ids) {
    await stopAway(service, id);
    // Its record may be back already.
    if (hasRecord(service.store, caseId, id) || mayReturn(service.store, caseId, id)) continue;
    service.engine.unread.delete(id);
    await removeRun(service.store, id);
  }
};

/** Ends the run of a session whose record is gone. Nothing is written until the record is back. */
const stopAway = async ({ engine }: EngineNeeds, id: string): Promise<void> => {
  const live = engine.live.get(id);
  if (live !== undefined) {
    engine.away.set(id, TAKEN_AWAY);
    await stopLive(live);
  }
  engine.release(id);
};

/** Ends the run of a session whose status git or an editor changed. Its files stay as they are. */
const stopChanged = async (service: SessionNeeds, caseId: string, id: string): Promise<void> => {
  const { engine, store } = service;
  const live = engine.live.get(id);
  if (live !== undefined) await stopLive(live);
  const kept = readSession(store, caseId, id);
  if (kept === undefined) return;
  noteChanged(engine, kept);
  await recoverSession(service, { case_id: caseId, id, why: CHANGED });
};

/** The runs whose record is gone or has another status, and the sessions whose record is back. */
const comeOrGone = ({ store, engine }: EngineNeeds, caseId: string) => {
  const { live, away } = engine;
  const ids = runsOf(store, caseId).filter((id) => live.has(id) || away.has(id));
  const item = ids.length === 0 ? undefined : itemOf(store, caseId);
  // A directory that is missing was moved, or is removed: that is decided in a moment.
  if (engine.closing || item === undefined || directoryStatusOf(store, item) !== 'there')
    return { gone: [], changed: [], back: [] };
  return {
    gone: ids.filter((id) => live.has(id) && !hasRecord(store, caseId, id)),
    changed: ids.filter((id) => isStatusChanged(store, live.get(id))),
    back: ids.filter((id) => !live.has(id) && isReadable(store, caseId, id)),
  };
};

const hasComeOrGone = (service: EngineNeeds, caseId: string): boolean => {
  const { gone, changed, back } = comeOrGone(service, caseId);
  if (gone.length + changed.length + back.length > 0 || isReadableAgain(service, caseId))
    return true;
  return hasEditedStatus(service, caseId);
};

/** Whether git or an editor changed the status of a session that does not run. */
const hasEditedStatus = ({ store, engine }: EngineNeeds, caseId: string): boolean =>
  runsOf(store, caseId).some(
    (id) =>
      !engine.live.has(id) &&
      orElse(() => unfinishedSession(store, caseId, id) !== undefined, false),
  );

const isReadableAgain = ({ store, engine }: EngineNeeds, caseId: string): boolean =>
  [...engine.unread].some(
    (id) => store.journal.runs.get(id)?.case_id === caseId && isReadable(store, caseId, id),
  );

const isReadable = (store: Store, caseId: string, id: string): boolean =>
  orElse(() => sessionStatus(store, caseId, id) !== undefined, false);

const followRecords = async (service: SessionNeeds, caseId: string): Promise<void> => {
  const look = async () => comeOrGone(service, caseId);
  const { gone, changed, back } = await service.store.locks.take(lockOn.decision(caseId), look);
  for (const id of gone) await stopAway(service, id);
  for (const id of changed) await stopChanged(service, caseId, id);
  for (const id of back) {
    const why = service.engine.away.get(id);
    if (why !== undefined) await recoverSession(service, { case_id: caseId, id, why });
  }
  if (hasEditedStatus(service, caseId))
    await resumeFollowUps(service, caseId, runsOf(service.store, caseId));
  if (isReadableAgain(service, caseId)) await startQueued(service);
};

const resumeFollowUps = async (
  service: SessionNeeds,
  caseId: string,
  ids: readonly string[],
): Promise<void> => {
  const { store } = service;
  const orphans = await store.locks.take(lockOn.decision(caseId), async () => {
    const found: string[] = [];
    for (const id of ids) if (await isOrphan(service, caseId, id)) found.push(id);
    return found;
  });
  for (const id of orphans) await recoverSession(service, { case_id: caseId, id, why: ORPHANED });
  if (ids.some((id) => store.journal.runs.get(id)?.status === 'queued')) await startQueued(service);
};

const ORPHANED =
  'The record says that the session runs, but no run of it exists, for example because an older record came back. The work so far is in the worktree. Resume the session, or abort it.';

/**
 * Applies what follows from a session's record. True if it says that the session runs, and nothing here began a run, or that a
 * session is queued which started before.
 */
const isOrphan = async (service: EngineNeeds, caseId: string, id: string): Promise<boolean> => {
  const { store, engine } = service;
  if (engine.closing || engine.live.has(id)) return false;
  // One that cannot be read is a problem of its own, and the Work item changes again once it can.
  const kept = orElseUnlessDiskFault(() => unfinishedSession(store, caseId, id), undefined);
  if (kept === undefined) return false;
  const { status, elsewhere } = kept.session;
  if (elsewhere !== true && (isRunning(status) || isRequeued(store, kept.session))) return true;
  await finalize(service, kept);
  return false;
};
