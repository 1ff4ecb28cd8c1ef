import { messageOf } from '../../../../store/base/attempt.ts';
import { lockOn } from '../../../../store/base/locks.ts';
import { doLater } from '../../../../store/reconcile/deferred.ts';
import {
  type SessionRule,
  type StoredSession,
  updateSession,
} from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { interrupt, refuseElsewhere } from '../rules/rules.ts';
import { finalize } from './finalize.ts';

/**
 * Changes a session and does all that follows, as one step for whoever reads: nobody sees a session that has ended
 * beside a Work item that does not know it yet. Undefined when there is no such session.
 */
export const decide = (
  service: EngineNeeds,
  caseId: string,
  id: string,
  rule: SessionRule,
): Promise<StoredSession | undefined> => decideWith(service, caseId, id, async () => rule);

/** The same for a rule that is made, with what it needs on disk, in the turn of the decision: nobody decides between. */
export const decideWith = (
  service: EngineNeeds,
  caseId: string,
  id: string,
  make: () => Promise<SessionRule>,
): Promise<StoredSession | undefined> =>
  service.store.locks.take(lockOn.decision(caseId), async () => {
    const kept = await updateSession(service.store, caseId, id, ofOurs(await make()));
    if (kept === undefined) return undefined;
    await finalize(service, kept).catch((error: unknown) => holdBack(service, kept, error));
    return kept;
  });

const ofOurs =
  (rule: SessionRule): SessionRule =>
  (session, matter) => {
    refuseElsewhere(session);
    return rule(session, matter);
  };

// What does not run must not look as if it did: whoever wanted it to run is told the error, and resumes it later.
const holdBack = async (
  service: EngineNeeds,
  kept: StoredSession,
  error: unknown,
): Promise<never> => {
  const { case_id, id } = kept.session;
  const rule = interrupt(messageOf(error));
  if (!service.engine.live.has(id))
    await updateSession(service.store, case_id, id, rule).catch(() =>
      pauseLater(service, kept, error),
    );
  throw error;
};

/**
 * Pauses a session at the next comparison, if nothing runs of it by then although its record says so: what ended it could
 * not be written.
 */
export const pauseLater = (
  service: EngineNeeds,
  { session: { case_id, id } }: StoredSession,
  error: unknown,
): void => {
  const { store, engine } = service;
  const isOver = (): boolean => engine.closing || engine.live.has(id);
  const rule = interrupt(messageOf(error));
  doLater(store, `run ${id}`, {
    what: `pausing session ${id}, whose end could not be written`,
    work: async () => {
      if (isOver()) return;
      await decide(service, case_id, id, (...now) => (isOver() ? undefined : rule(...now)));
    },
  });
};

/** Resolves when no decision about the Work item's sessions is half done. */
export const decided = ({ locks }: Store, caseId: string): Promise<void> =>
  locks.whenFree(lockOn.decision(caseId));
