import { maxSessions } from '../../../../store/records/applied.ts';
import type { Session } from '../../../../store/records/session.ts';
import { readLock } from '../../../../store/sessions/locks.ts';
import { settingsOf } from '../../../../store/settings/globals.ts';
import type { Store } from '../../../../store/store.ts';
import { type Engine, isLive, type LiveRun } from './engine.ts';
import type { EngineNeeds } from './needs.ts';

/**
 * True while as many sessions run, or wait to run, as `max_sessions` allows. A run that has waited long for the
 * operator's answer has no slot; once answered it continues at once, if need be as one more.
 */
export const isAtCapacity = ({ engine, store }: EngineNeeds): boolean =>
  [...engine.live.values()].filter(({ aside }) => !aside).length >= maxSessionsOf(store);

/**
 * The session as the API returns it: one that waits for a slot is `queued`, also after its approval, with what it waits
 * for.
 */
export const withQueueStatus = (service: EngineNeeds, session: Session): Session => {
  const { engine, store } = service;
  const { id, case_id, status } = session;
  const live = engine.live.get(id);
  if (live?.entered.isRaised === false && !live.stopping)
    return { ...session, status: 'queued', waits_for: 'max_sessions' };
  if (status !== 'queued') return session;
  if (engine.untrusted.has(id)) return { ...session, waits_for: 'trust' };
  const isItsTurn = readLock(store, case_id)?.locked === false && !isLive(engine, case_id);
  return isItsTurn && isAtCapacity(service) ? { ...session, waits_for: 'max_sessions' } : session;
};

/**
 * Resolves when the run has a slot, first come, first served, or is being ended. `waits` is called if it has to wait; an error of
 * it rejects.
 */
export const waitForSlot = async (
  service: EngineNeeds,
  { entered }: LiveRun,
  waits: () => void,
): Promise<void> => {
  fillSlots(service);
  if (!entered.isRaised) waits();
  return entered.raised;
};

/** Gives free slots to waiting runs. Called when a run has ended and when the settings have changed. */
export const fillSlots = ({ engine, store }: EngineNeeds): void => {
  const runs = [...engine.live.values()];
  const taken = runs.filter(({ entered, aside }) => entered.isRaised && !aside);
  const waiting = runs.filter(({ entered }) => !entered.isRaised);
  for (const { entered } of waiting.slice(0, Math.max(0, maxSessionsOf(store) - taken.length)))
    entered.raise();
};

/**
 * Gives up the run's slot once a request has waited for `patience_ms`, so that an unanswered question blocks no other
 * session. The run keeps waiting.
 */
export const yieldSlotLater = (engine: Engine, live: LiveRun, request_id: string): void => {
  const timer = setTimeout(() => {
    if (live.stopping || !live.asking.has(request_id)) return;
    live.aside = true;
    live.onSlotYielded();
  }, engine.patience_ms);
  timer.unref();
};

export const maxSessionsOf = (store: Store): number => maxSessions(settingsOf(store));
