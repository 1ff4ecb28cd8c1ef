import { lockOn } from '../base/locks.ts';
import { apart } from '../base/mutex.ts';
import type { FileProblem } from '../front-matter/problem.ts';
import { ROLLED_BACK } from '../journal/journal.ts';
import type { EventBody } from '../records/event.ts';
import { TRUST_NEEDED } from '../settings/trust/told.ts';
import type { Store } from '../store.ts';
import { orLate } from './deferred.ts';
import { itemOf } from './items.ts';

/** A problem as it was told, and when. */
export interface ToldProblem extends FileProblem {
  case_id?: string;
  since: string;
}

const NAME = 'problems ';

/** Every problem that was told and not told as mended. */
export const toldProblems = ({ journal }: Pick<Store, 'journal'>): ToldProblem[] =>
  [...journal.told].flatMap(([name, state]) =>
    name.startsWith(NAME) ? (state as ToldProblem[]) : [],
  );

/** What waits for the operator's word, and is told as a problem of its file. */
export const isTrust = ({ code }: Pick<FileProblem, 'code'>): boolean =>
  code === TRUST_NEEDED || code === 'held';

/**
 * Tells each problem once when it is there and once when it is gone, over restarts too. Answers what is called once all
 * was looked at: only then is what was told before and is not there any more mended.
 */
export const tellProblems = (store: Store): (() => void) => {
  const owners = new Set<string>();
  // What was told before is not known: what is found at first is no news, but that.
  let isBaseline = store.journal.rolledBack !== undefined;
  const tell = async (): Promise<void> => {
    for (const owner of owners) {
      if (store.readOnly) return;
      owners.delete(owner);
      await tellOf(store, owner, isBaseline && owner !== JOURNAL).catch((error) => {
        owners.add(owner);
        throw error;
      });
      if (owner === JOURNAL) await wasTold(store);
    }
  };
  const look = (owner: string): void => {
    owners.add(owner);
    void apart(() =>
      orLate(store, 'problems', {
        what: 'telling what is wrong with files',
        work: () => store.locks.take(lockOn.problems(), tell),
      }),
    );
  };
  store.problems.follow(look);
  return () => {
    isBaseline = false;
    for (const owner of owners) look(owner);
    for (const name of store.journal.told.keys())
      if (name.startsWith(NAME)) look(name.slice(NAME.length));
  };
};

/** Whose the problems of the journal are. */
export const JOURNAL = 'journal';

const wasTold = async ({ journal }: Store): Promise<void> => {
  if (!journal.told.has(ROLLED_BACK)) return;
  await journal.append({ told: { id: ROLLED_BACK, state: null } });
};

const tellOf = async (store: Store, owner: string, isSilent: boolean): Promise<void> => {
  const { journal, problems, clock } = store;
  const id = NAME + owner;
  const before = (journal.told.get(id) ?? []) as ToldProblem[];
  const timestamp = clock().toISOString();
  const [case_id = ''] = /[0-9a-f-]{36}/.exec(owner) ?? [];
  const ofCase = itemOf(store, case_id) ? { case_id } : {};
  const now = problems.of(owner).map((one): ToldProblem => {
    const since = before.find((other) => isSame(one, other))?.since ?? timestamp;
    return { ...one, ...ofCase, since };
  });
  const found = now.filter((one) => !before.some((other) => isSame(one, other)));
  const mended = before.filter(({ file, code }) => !now.some(isAbout(file, code)));
  const events = [
    ...found.flatMap((one) => foundEvents(one, timestamp)),
    ...mended.map((one) => mendedEvent(one, timestamp)),
  ];
  if (events.length === 0 && before.length === now.length) return;
  const state = now.length === 0 ? null : now;
  await journal.append({ told: { id, state }, events: isSilent ? [] : events });
};

// That a line was put before it is no news.
const isSame = (a: FileProblem, b: FileProblem): boolean =>
  a.file === b.file && a.code === b.code && a.message === b.message;

const isAbout =
  (file: string, code: string) =>
  (one: FileProblem): boolean =>
    one.file === file && one.code === code;

const foundEvents = ({ since: _, ...problem }: ToldProblem, timestamp: string): EventBody[] => {
  const { code, ...payload } = problem;
  const found = { event_type: 'problem_found' as const, timestamp, payload: problem };
  if (!isTrust(problem)) return [found];
  return [found, { event_type: 'trust_needed', timestamp, payload }];
};

const mendedEvent = ({ case_id, file, code }: ToldProblem, timestamp: string): EventBody => ({
  event_type: 'problem_mended',
  timestamp,
  payload: { ...(case_id !== undefined && { case_id }), file, code },
});
