import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { FeedEvent } from '../../../../lib/events/feed/feed.ts';
import {
  createEventBuffer,
  createFeed,
  type FeedFilter,
} from '../../../../lib/events/feed/feed.ts';
import { type Journal, openJournal } from '../../../../store/journal/journal.ts';
import type { EventBody } from '../../../../store/records/event.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { temporaryDirectory } from '../../../helpers/repository.ts';

const LONG = 'x'.repeat(4000);

/** Events, with much state beside them: some 1000 of them fill a file. */
const happen = async (journal: Journal, count: number): Promise<void> => {
  await Promise.all(
    Array.from({ length: count }, (_, n) =>
      journal.append({
        run: { id: 'run', state: { case_id: LONG, status: 'planning' } },
        events: [updated(n)],
      }),
    ),
  );
};

const updated = (n: number): EventBody => ({
  event_type: 'case_updated',
  timestamp: new Date(0).toISOString(),
  payload: { case_id: `${n % 3}` },
});

const setUp = async (t: TestContext) => {
  const dir = join(temporaryDirectory(t), 'journal');
  const journal = await openJournal(dir);
  atEnd(t, () => journal.close());
  const feed = createFeed({ journal, clock: () => new Date(0) });
  const life = new AbortController();
  atEnd(t, () => life.abort());
  /** The events as they come, but for places. */
  const reader = (after: number, wish: FeedFilter = {}) => {
    const batches = feed.follow(wish).open(after, life.signal);
    const ready: FeedEvent[] = [];
    const next = async (): Promise<FeedEvent> => {
      while (ready.length === 0) ready.push(...((await batches.next()).value ?? []));
      return ready.shift() as FeedEvent;
    };
    const event = async (): Promise<FeedEvent> => {
      for (;;) {
        const one = await next();
        if (one.event !== '') return one;
      }
    };
    return { batches, next, event };
  };
  return { dir, journal, feed, reader, life };
};

type GapEvent = { data: { payload: { from: number; to: number } } };

const upTo = (count: number, from = 1): number[] =>
  Array.from({ length: count - from + 1 }, (_, n) => from + n);

const idsOf = async (next: () => Promise<FeedEvent>, count: number): Promise<number[]> => {
  const ids: number[] = [];
  while (ids.length < count) ids.push((await next()).id);
  return ids;
};

describe('a lap', () => {
  /** A journal that tells when told to. */
  const told = () => {
    let listener: Parameters<Journal['onEvents']>[0] = () => undefined;
    const tell = (...seqs: number[]): void =>
      listener(seqs.map((seq) => ({ seq, id: `${seq}`, body: {} as EventBody })));
    const journal = { last: 4, onEvents: (to: typeof listener) => (listener = to) };
    return { tell, journal: journal as unknown as Journal };
  };

  it('is what came in one turn, for whoever had all before it', async () => {
    const { tell, journal } = told();
    let woken = 0;
    const laps = createEventBuffer(journal, () => (woken += 1));
    tell(5);
    tell(6, 7);
    assert.deepEqual([laps.newest, woken, laps.after(4)], [7, 0, undefined]);
    await Promise.resolve();
    assert.deepEqual([woken, laps.after(4)?.to, laps.after(5)], [1, 7, undefined]);
    tell(8);
    assert.deepEqual([laps.after(4)?.to, laps.after(7)], [7, undefined], 'not before it is whole');
    await Promise.resolve();
    assert.deepEqual([laps.after(4), laps.after(7)?.to], [undefined, 8]);
  });

  it('is for nobody where an event is missing, which has to be told', async () => {
    const { tell, journal } = told();
    const laps = createEventBuffer(journal, () => undefined);
    tell(6);
    await Promise.resolve();
    assert.deepEqual([laps.newest, laps.after(4), laps.after(5)], [6, undefined, undefined]);
  });
});

describe('a feed', () => {
  it('gives each reader all, from wherever it is, and what comes', async (t) => {
    const { journal, reader } = await setUp(t);
    await happen(journal, 300);
    const readers = [0, 100, 300].map((after) => ({ after, ...reader(after) }));
    for (const { after, event } of readers)
      assert.deepEqual(await idsOf(event, 300 - after), upTo(300, after + 1));
    await happen(journal, 5);
    for (const { event } of readers) assert.deepEqual(await idsOf(event, 5), upTo(305, 301));
  });

  it('gives readers the same event, made once', async (t) => {
    const { journal, reader } = await setUp(t);
    await happen(journal, 1);
    assert.equal(await reader(0).event(), await reader(0).event());
  });

  it('makes one list for all who wait for the same, a list of the same events for others', async (t) => {
    const { journal, reader } = await setUp(t);
    const wishes: FeedFilter[] = [
      {},
      {},
      { case_id: ['0'] },
      { case_id: ['0'] },
      { case_id: ['1'] },
    ];
    const readers = wishes.map((wish) => reader(0, wish).batches);
    for (const batches of readers) await batches.next();
    const waiting = readers.map((batches) => batches.next());
    await journal.append({ events: [0, 1, 2].map(updated) });
    const [all, same, zero, alsoZero, one] = (await Promise.all(waiting)).map(({ value }) => value);
    assert.deepEqual([all.length, zero.length, one.length], [3, 1, 1]);
    assert.deepEqual([same === all, alsoZero === zero], [true, true]);
    assert.deepEqual([zero[0] === all[0], one[0] === all[1]], [true, true]);
  });

  it('holds nothing for a reader that is slow, and gives it all from the files', async (t) => {
    const { dir, journal, reader } = await setUp(t);
    const slow = reader(0);
    await happen(journal, 10);
    assert.equal((await slow.event()).id, 1);
    for (let go = 0; go < 3; go += 1) await happen(journal, 700);
    assert.ok(readdirSync(dir).length > 1, 'more than one file');
    assert.deepEqual(await idsOf(slow.event, 2109), upTo(2110, 2));
  });

  it('tells what is not kept any more, to who comes back and to who is too slow', async (t) => {
    const { journal, reader } = await setUp(t);
    const slow = reader(0);
    await happen(journal, 10);
    assert.equal((await slow.event()).id, 1);
    for (let go = 0; go < 6; go += 1) {
      await happen(journal, 700);
      journal.release(journal.last);
    }
    await journal.append({});
    const { oldest, last } = journal;
    assert.ok(oldest > 10, 'files are gone');
    for (const { event } of [reader(0), reader(oldest - 1)]) {
      const { id, event: name, data } = await event();
      assert.deepEqual([id, name], [oldest, 'gap']);
      assert.equal((data as { payload: { reason: string } }).payload.reason, 'not_kept');
      assert.deepEqual(await idsOf(event, last - oldest), upTo(last, oldest + 1));
    }
    // What it had read before it stopped is still its own.
    const found: FeedEvent[] = [];
    while (found.at(-1)?.id !== last) found.push(await slow.event());
    const gap = found.findIndex(({ event }) => event === 'gap');
    const { from, to } = (found[gap] as unknown as GapEvent).data.payload;
    assert.deepEqual([from, to], [(found[gap - 1]?.id ?? 1) + 1, oldest]);
    assert.deepEqual(
      found.slice(gap + 1).map(({ id }) => id),
      upTo(last, oldest + 1),
    );
  });

  it('moves the place of a reader that wants little of much', async (t) => {
    const { journal, reader } = await setUp(t);
    await happen(journal, 600);
    const { next } = reader(0, { types: ['case_created'] });
    assert.deepEqual(await next(), { id: 0, event: '', data: undefined });
    const { id, event } = await next();
    assert.deepEqual([id >= 256, event], [true, '']);
  });

  it('lets go of a reader that waits, when it leaves', async (t) => {
    const { feed, life } = await setUp(t);
    const batches = feed.follow({}).open(0, life.signal);
    await batches.next();
    const end = batches.next();
    life.abort();
    assert.equal((await end).done, true);
  });
});
