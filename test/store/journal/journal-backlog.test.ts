import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Journal, openJournal } from '../../../store/journal/journal.ts';
import type { EventBody } from '../../../store/records/event.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { listed } from '../../helpers/listed.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

const event = (case_id: string): EventBody => ({
  event_type: 'case_updated',
  timestamp: '2026-03-04T05:06:07.089Z',
  payload: { case_id },
});

const LONG = 'x'.repeat(4000);

/** Events with much state beside them: some 700 of them fill a file. */
const happen = async (journal: Journal, count: number): Promise<void> => {
  const states = Array.from({ length: count }, () => ({ case_id: LONG, status: 'planning' }));
  await Promise.all(
    states.map((state, n) =>
      journal.append({ run: { id: 'run', state }, events: [event(`${journal.last + n}`)] }),
    ),
  );
};

/** In several goes: a file is followed by the next one between two of them. */
const happenOften = async (journal: Journal, goes: number): Promise<void> => {
  if (goes === 0) return;
  await happen(journal, 600);
  await happenOften(journal, goes - 1);
};

const linkOf = (path: string): string => {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
};

const filesIn = (dir: string): string[] => readdirSync(dir).toSorted();
const seqsOf = async (journal: Journal, after = 0): Promise<number[]> =>
  (await listed(journal.after(after))).map(({ seq }) => seq);
const upTo = (last: number, after = 0): number[] =>
  Array.from({ length: last - after }, (_, n) => after + n + 1);

const openWithBacklog = async (t: TestContext) => {
  const dir = join(temporaryDirectory(t), 'journal');
  const lives: Journal[] = [];
  const reported: string[] = [];
  atEnd(t, () => lives.at(-1)?.close());
  const open = async (): Promise<Journal> => {
    await lives.at(-1)?.close();
    lives.push(await openJournal(dir, (_, what) => reported.push(what)));
    return lives.at(-1) as Journal;
  };
  const journal = await open();
  await happenOften(journal, 6);
  // Its turn comes when the file that follows is there.
  await journal.append({});
  assert.ok(filesIn(dir).length >= 3, 'several files');
  return { dir, journal, reopen: open, reported };
};

describe('events that somebody is owed', () => {
  it('come all and in order, from memory and from every file, over a restart too', async (t) => {
    const { journal, reopen } = await openWithBacklog(t);
    for (const after of [0, 1, 700, 2599, 2600, 3599, 3600])
      assert.deepEqual(await seqsOf(journal, after), upTo(3600, after), `after ${after}`);

    const again = await reopen();

    for (const after of [0, 1, 700, 2599, 2600, 3599, 3600])
      assert.deepEqual(await seqsOf(again, after), upTo(3600, after), `after ${after}, restarted`);
    assert.equal(again.last, 3600);
  });

  it('are never copied: a file that follows begins with the state alone', async (t) => {
    const { dir } = await openWithBacklog(t);
    const texts = filesIn(dir).map((name) => readFileSync(join(dir, name), 'utf8'));
    const told = texts.flatMap((text) => [...text.matchAll(/"seq":(\d+)/g)].map(([, n]) => n));
    assert.equal(told.length, new Set(told).size);
  });

  it('take memory up to a bound, however many they are', async (t) => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heap = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const journal = await openJournal(join(temporaryDirectory(t), 'journal'));
    atEnd(t, () => journal.close());
    const fill = async (count: number): Promise<void> => {
      const ids = Array.from({ length: 2000 }, (_, n) => `${n}${LONG.slice(0, 500)}`);
      await Promise.all(ids.map((id) => journal.append({ events: [event(id)] })));
      if (count > 2000) await fill(count - 2000);
    };
    await fill(4000);
    const before = heap();
    await fill(30_000);
    const grown = heap() - before;
    assert.ok(grown < 5_000_000, `${grown} bytes for 30,000 events of 600 bytes`);
  });

  it('keep the files that they are in, and no others but the last one before the newest', async (t) => {
    const { dir, journal, reopen } = await openWithBacklog(t);
    const all = filesIn(dir);
    journal.release(2000);
    const left = filesIn(dir);
    assert.ok(left.length < all.length && left.length > 1, `${left} of ${all}`);
    assert.deepEqual(await seqsOf(journal), upTo(3600, 2000));
    const again = await reopen();
    assert.deepEqual(filesIn(dir), left);
    assert.deepEqual(await seqsOf(again, 2000), upTo(3600, 2000));
    again.release(3600);
    assert.deepEqual(filesIn(dir), left.slice(-2));
    assert.deepEqual(await seqsOf(again), []);
  });

  it('keep a few files open, however many they are in, over a restart too', async (t) => {
    const { dir, journal, reopen } = await openWithBacklog(t);
    const openFiles = (): number =>
      readdirSync('/proc/self/fd').filter((fd) => linkOf(`/proc/self/fd/${fd}`).startsWith(dir))
        .length;
    await happenOften(journal, 8);
    await journal.append({});
    assert.ok(filesIn(dir).length >= 8, `${filesIn(dir)}`);
    assert.ok(openFiles() <= 4, `${openFiles()} are open`);
    const again = await reopen();
    const reader = again.after(0);
    assert.equal((await reader.next()).value?.seq, 1);
    assert.ok(openFiles() <= 4, `${openFiles()} are open while they are read`);
    assert.deepEqual(
      (await listed(reader)).map(({ seq }) => seq),
      upTo(8400, 1),
    );
  });

  it('are lost, and told to be, with a file that is removed and was not open', async (t) => {
    const { dir, reopen, reported } = await openWithBacklog(t);
    const again = await reopen();
    const [first = '', second = ''] = filesIn(dir);
    const start = Number(/"last":(\d+)/.exec(readFileSync(join(dir, second), 'latin1'))?.[1]);
    rmSync(join(dir, first));
    assert.deepEqual(await seqsOf(again), upTo(3600, start));
    assert.equal(reported.length, 1);
    assert.match(reported[0] ?? '', new RegExp(`${first} is damaged; undelivered events in it`));
  });

  it('are measured without what was seen of Work items', async (t) => {
    const { journal, reopen } = await openWithBacklog(t);
    const all = journal.behind(0);
    assert.ok(all > 3600 * LONG.length && all < 3600 * (LONG.length + 1000), `${all}`);
    assert.equal(journal.behind(3600), 0);
    const again = await reopen();
    assert.ok(Math.abs(again.behind(0) - all) < all / 100, `${again.behind(0)} of ${all}`);
  });

  it('may be released while somebody reads them', async (t) => {
    const { journal } = await openWithBacklog(t);
    const reader = journal.after(0);
    assert.equal((await reader.next()).value?.seq, 1);
    journal.release(3600);
    const rest = (await listed(reader)).map(({ seq }) => seq);
    assert.deepEqual(
      rest,
      rest.toSorted((a, b) => a - b),
    );
  });

  it('that come while they are read are read too', async (t) => {
    const { journal } = await openWithBacklog(t);
    const reader = journal.after(0);
    assert.equal((await reader.next()).value?.seq, 1);
    await happenOften(journal, 3);
    assert.deepEqual(
      (await listed(reader)).map(({ seq }) => seq),
      upTo(5400, 1),
    );
  });

  it('are there again when somebody removes the journal under a daemon', async (t) => {
    const { dir, journal, reopen } = await openWithBacklog(t);
    rmSync(dir, { recursive: true });
    assert.deepEqual(await seqsOf(journal), upTo(3600));
    await happen(journal, 1);
    assert.deepEqual(await seqsOf(await reopen()), upTo(3601));
  });

  it('are lost with their damaged line alone, also where a file begins', async (t) => {
    const { dir, reopen, reported } = await openWithBacklog(t);
    const [, second = ''] = filesIn(dir);
    const bytes = readFileSync(join(dir, second));
    const at = bytes.indexOf('"seq":');
    const lost = Number(/"seq":(\d+)/.exec(bytes.toString('latin1', at, at + 20))?.[1]);
    for (const place of [0, at]) bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
    writeFileSync(join(dir, second), bytes);
    const again = await reopen();
    const expected = upTo(3600).filter((seq) => seq !== lost);
    assert.deepEqual(await seqsOf(again), expected);
    assert.deepEqual(await seqsOf(again, lost - 2), expected.slice(lost - 2));
    assert.equal(reported.length, 1);
    assert.match(reported[0] ?? '', new RegExp(`${second} is damaged; undelivered events in it`));
  });
});
