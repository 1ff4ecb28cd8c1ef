import { lockOn } from '../../../../store/base/locks.ts';
import { onItemChanged } from '../../../../store/reconcile/items.ts';
import { removeRun } from '../../../../store/sessions/session-events.ts';
import { readSession, unfinishedSession } from '../../../../store/sessions/sessions.ts';
import { finalize } from '../guards/decide.ts';
import { stopLive } from '../live/engine.ts';
import type { EngineNeeds, SessionNeeds } from '../live/needs.ts';
import { noteComments } from '../live/stream.ts';
import { startQueued } from './launch.ts';

/**
 * Follows changes of Work items. When one is removed, its runs end; when one is repaired, unblocked or reopened, its
 * sessions continue with what was not possible before. A new trust decision starts queued sessions.
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
    const ids = [...store.journal.runs].flatMap(([id, run]) =>
      run.case_id === caseId ? [id] : [],
    );
    if (engine.closing || ids.length === 0) return;
    const following =
      item === undefined ? forgetRuns(service, ids) : resumeFollowUps(service, caseId, ids);
    following.catch((error: unknown) =>
      log.error(
        { err: error, case_id: caseId },
        'updating the sessions of a changed Work item failed',
      ),
    );
  });
};

// Readers of the stream are notified of comments too.
const tellStream = (
  { store, engine }: EngineNeeds,
  { case_id, session_id }: { case_id: string; session_id: string },
): void => {
  if (engine.closing || !store.journal.runs.has(session_id)) return;
  const kept = readSession(store, case_id, session_id);
  if (kept !== undefined) noteComments(engine, kept);
};

const forgetRuns = async ({ store, engine }: EngineNeeds, ids: string[]): Promise<void> => {
  for (const id of ids) {
    const live = engine.live.get(id);
    if (live !== undefined) await stopLive(live);
    engine.release(id);
    await removeRun(store, id);
  }
};

const resumeFollowUps = async (
  service: SessionNeeds,
  caseId: string,
  ids: string[],
): Promise<void> => {
  const { store, engine } = service;
  await store.locks.take(lockOn.decision(caseId), async () => {
    for (const id of ids) {
      const kept = engine.live.has(id) ? undefined : unfinishedSession(store, caseId, id);
      if (kept !== undefined && !engine.closing) await finalize(service, kept);
    }
  });
  if (ids.some((id) => store.journal.runs.get(id)?.status === 'queued')) await startQueued(service);
};
