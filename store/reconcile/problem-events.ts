import { lockOn } from '../base/locks.ts';
import { withoutLocks } from '../base/mutex.ts';
import type { FileProblem } from '../front-matter/problem.ts';
import { ROLLED_BACK } from '../journal/journal.ts';
import type { EventBody } from '../records/event.ts';
import { TRUST_NEEDED } from '../settings/trust/waiting.ts';
import type { Store } from '../store.ts';
import { doOrDefer } from './deferred.ts';
import { itemOf } from './items.ts';

/** A problem that was reported by an event, and when. */
export interface ReportedProblem extends FileProblem {
  case_id?: string;
  since: string;
}

const NAME = 'problems ';

/** Every reported problem that is not fixed. */
export const reportedProblems = ({ journal }: Pick<Store, 'journal'>): ReportedProblem[] =>
  [...journal.told].flatMap(([name, state]) =>
    name.startsWith(NAME) ? (state as ReportedProblem[]) : [],
  );

/** Whether a problem is a value that needs the operator's confirmation. */
export const needsTrust = ({ code }: Pick<FileProblem, 'code'>): boolean =>
  code === TRUST_NEEDED || code === 'held';

/**
 * Journals one event when a problem appears and one when it is fixed, across restarts. Call the returned function once all
 * files were read: only then do problems that were reported earlier and are not found count as fixed.
 */
export const followProblems = (store: Store): (() => void) => {
  const owners = new Set<string>();
  // With a journal that was rolled back, the first findings make no events, except for the journal's own problem.
  let isBaseline = store.journal.rolledBack !== undefined;
  const journalAll = async (): Promise<void> => {
    for (const owner of owners) {
      if (store.readOnly) return;
      owners.delete(owner);
      await journalProblems(store, owner, isBaseline && owner !== JOURNAL).catch((error) => {
        owners.add(owner);
        throw error;
      });
      if (owner === JOURNAL) await clearRollbackMark(store);
    }
  };
  const update = (owner: string): void => {
    owners.add(owner);
    void withoutLocks(() =>
      doOrDefer(store, 'problems', {
        what: 'journaling problems of files',
        work: () => store.locks.take(lockOn.problems(), journalAll),
      }),
    );
  };
  store.problems.follow(update);
  return () => {
    isBaseline = false;
    for (const owner of owners) update(owner);
    for (const name of store.journal.told.keys())
      if (name.startsWith(NAME)) update(name.slice(NAME.length));
  };
};

/** The owner of the journal's own problems. */
export const JOURNAL = 'journal';

const clearRollbackMark = async ({ journal }: Store): Promise<void> => {
  if (!journal.told.has(ROLLED_BACK)) return;
  await journal.append({ told: { id: ROLLED_BACK, state: null } });
};

const journalProblems = async (store: Store, owner: string, isSilent: boolean): Promise<void> => {
  const { journal, problems, clock } = store;
  const id = NAME + owner;
  const before = (journal.told.get(id) ?? []) as ReportedProblem[];
  const timestamp = clock().toISOString();
  const [case_id = ''] = /[0-9a-f-]{36}/.exec(owner) ?? [];
  const ofCase = itemOf(store, case_id) ? { case_id } : {};
  const now = problems.of(owner).map((one): ReportedProblem => {
    const since = before.find((other) => isSame(one, other))?.since ?? timestamp;
    return { ...one, ...ofCase, since };
  });
  const found = now.filter((one) => !before.some((other) => isSame(one, other)));
  const mended = before.filter(({ file, code }) => !now.some(isAbout(file, code)));
  const events = [
    ...found.flatMap((one) => foundEvents(one, timestamp)),
    ...mended.map((one) => fixedEvent(one, timestamp)),
  ];
  if (events.length === 0 && before.length === now.length) return;
  const state = now.length === 0 ? null : now;
  await journal.append({ told: { id, state }, events: isSilent ? [] : events });
};

// The line number may change without a new problem.
const isSame = (a: FileProblem, b: FileProblem): boolean =>
  a.file === b.file && a.code === b.code && a.message === b.message;

const isAbout =
  (file: string, code: string) =>
  (one: FileProblem): boolean =>
    one.file === file && one.code === code;

const foundEvents = ({ since: _, ...problem }: ReportedProblem, timestamp: string): EventBody[] => {
  const { code, ...payload } = problem;
  const found = { event_type: 'problem_found' as const, timestamp, payload: problem };
  if (!needsTrust(problem)) return [found];
  return [found, { event_type: 'trust_needed', timestamp, payload }];
};

const fixedEvent = ({ case_id, file, code }: ReportedProblem, timestamp: string): EventBody => ({
  event_type: 'problem_mended',
  timestamp,
  payload: { ...(case_id !== undefined && { case_id }), file, code },
});
