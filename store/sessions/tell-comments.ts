import { lockOn } from '../base/locks.ts';
import { orLate } from '../reconcile/late.ts';
import type { EventBody } from '../records/event.ts';
import type { Store } from '../store.ts';
import { readCommentsFile } from './comments.ts';
import { sessionsOf } from './sessions.ts';

/**
 * Tells whose comments are other ones than were last told, whoever wrote them, over restarts too. `silent` is for what
 * is no news. What waits for the operator's word is no other text yet. Where the journal cannot be written, it is told at the
 * next comparison.
 */
export const tellComments = (store: Store, case_id: string, silent = false): Promise<void> =>
  orLate(store, NAME + case_id, {
    what: `telling what is said of plans of ${case_id}`,
    work: () => tellNow(store, case_id, silent),
  });

const tellNow = (store: Store, case_id: string, silent: boolean): Promise<void> =>
  store.locks.take(lockOn.item(case_id), async () => {
    if (store.readOnly) return;
    const id = NAME + case_id;
    const before = (store.journal.told.get(id) ?? {}) as Readonly<Record<string, string>>;
    const now = hashesOf(store, case_id);
    const sessions = new Set([...Object.keys(before), ...Object.keys(now)]);
    const changed = [...sessions].filter((session) => before[session] !== now[session]);
    if (changed.length === 0) return;
    const timestamp = store.clock().toISOString();
    const events = changed.map(
      (session_id): EventBody => ({
        ...{ event_type: 'session_comments_changed', timestamp },
        payload: { case_id, session_id },
      }),
    );
    const state = Object.keys(now).length === 0 ? null : now;
    await store.journal.append({ told: { id, state }, events: silent ? [] : events });
  });

/** Of a Work item that is gone there is nothing more to tell. */
export const forgetComments = async ({ journal }: Store, case_id: string): Promise<void> => {
  const id = NAME + case_id;
  if (journal.told.has(id)) await journal.append({ told: { id, state: null } });
};

const NAME = 'comments ';

const hashesOf = (store: Store, case_id: string): Record<string, string> => {
  const found = (sessionsOf(store, case_id) ?? []).flatMap(({ session, dir }) => {
    const { size, sha256 } = readCommentsFile(store, dir);
    return size === 0 ? [] : [[session.id, sha256] as const];
  });
  return Object.fromEntries(found);
};
