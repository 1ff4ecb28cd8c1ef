import type { EventRecord } from '../../../store/records/event.ts';
import type { Store } from '../../../store/store.ts';
import { asTold, type Batch, type FeedEvent } from './read.ts';

/** What came last, for all who wait for it: one list for each wish, so that it is made and encoded once for them all. */
export interface Laps {
  readonly newest: number;
  /** Counts the times that something happened. */
  readonly news: number;
  /** All that came after this event, if that is what came last and none is missing; whoever is further behind reads it. */
  after(at: number): Lap | undefined;
}

interface Lap {
  readonly from: number;
  readonly to: number;
  /** What of it fits a wish; `key` tells wishes apart. */
  view(key: string, wanted: (event: FeedEvent) => boolean): Batch;
}

/** `wake` is called when a lap is whole. Only the last is held. */
export const createLaps = (journal: Store['journal'], wake: () => void): Laps => {
  let [newest, news] = [journal.last, 0];
  let records: EventRecord[] = [];
  let lap: Lap | undefined;
  // What reached the disk together is told in one turn of the loop, line by line.
  const close = (from: number): void => {
    lap = isWhole(records, from) ? lapOf(from, records) : undefined;
    records = [];
    news += 1;
    wake();
  };
  journal.onEvents((events) => {
    const from = newest;
    if (records.length === 0) queueMicrotask(() => close(from));
    for (const event of events) records.push(event);
    newest = events.at(-1)?.seq ?? newest;
  });
  return {
    get newest() {
      return newest;
    },
    get news() {
      return news;
    },
    after: (at) => (at === lap?.from ? lap : undefined),
  };
};

const isWhole = (records: readonly EventRecord[], from: number): boolean =>
  records.every(({ seq }, n) => seq === from + n + 1);

const lapOf = (from: number, records: readonly EventRecord[]): Lap => {
  const views = new Map<string, Batch>();
  return {
    from,
    to: records.at(-1)?.seq ?? 0,
    view: (key, wanted) => {
      const ready = views.get(key);
      if (ready !== undefined) return ready;
      const view = records.map(asTold).filter(wanted);
      views.set(key, view);
      return view;
    },
  };
};
