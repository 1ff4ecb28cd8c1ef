import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { groupCommit } from '../../../store/journal/group-commit.ts';
import { type Journal, openJournal } from '../../../store/journal/journal.ts';
import { openJournalFile } from '../../../store/journal/journal-file.ts';
import type { ToldState } from '../../../store/journal/journal-state.ts';
import type { EventBody } from '../../../store/records/event.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { listed } from '../../helpers/listed.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

const AT = '2026-03-04T05:06:07.089Z';

const state = (title: string): ToldState => ({
  dir: `cases/${title}`,
  case: {
    sha: title,
    matter: { id: title, title, type: 'bug', state: 'OPEN', created_at: AT },
    description: '',
  },
  proofs: {},
});

const event = (case_id: string): EventBody => ({
  event_type: 'case_updated',
  timestamp: AT,
  payload: { case_id },
});

/** How many lines a journal begins with. */
const LINES_OF_EMPTY = 2;

const append = (journal: Journal, id: string) =>
  journal.append({ seen: { id, state: state(id) }, events: [event(id)] });

const newest = (dir: string): string => {
  const name =
    readdirSync(dir)
      .filter((each) => each.endsWith('.ndjson'))
      .toSorted()
      .at(-1) ?? '';
  return join(dir, name);
};

/** What is on disk while the journal is open, without the zeros ahead. */
const linesIn = (dir: string): string[] =>
  readFileSync(newest(dir), 'latin1').replace(/\0+$/, '').split('\n').slice(0, -1);

const casesOf = async (journal: Journal): Promise<string[]> =>
  (await listed(journal.after(0))).map(({ body }) => String(body.payload.case_id));

describe('openJournal', () => {
  it('keeps what was last seen and every event, in order, over restarts', async (t) => {
    const dir = join(temporaryDirectory(t), 'journal');
    const first = await openJournal(dir);
    assert.deepEqual([first.fresh, first.last, first.damaged], [true, 0, []]);
    const made = await Promise.all(['a', 'b', 'c'].map((id) => append(first, id)));
    await first.append({
      seen: { id: 'b', state: null },
      run: { id: 'r', state: { case_id: 'a', status: 'planning' } },
    });
    await first.append({ cursor: { id: 'w', seq: 2 } });
    await first.close();
    const second = await openJournal(dir);
    atEnd(t, () => second.close());
    assert.equal(second.fresh, false);
    assert.deepEqual(
      [...second.seen],
      [
        ['a', state('a')],
        ['c', state('c')],
      ],
    );
    assert.deepEqual([...second.runs], [['r', { case_id: 'a', status: 'planning' }]]);
    assert.deepEqual([...second.cursors], [['w', 2]]);
    const events = await listed(second.after(0));
    assert.deepEqual(events, made.flat());
    assert.deepEqual(
      events.map(({ seq }) => seq),
      [1, 2, 3],
    );
    assert.deepEqual(
      (await append(second, 'd')).map(({ seq }) => seq),
      [4],
    );
  });

  it('is no longer fresh once it was opened, even without a line of anybody', async (t) => {
    const dir = join(temporaryDirectory(t), 'journal');
    await (await openJournal(dir)).close();
    const second = await openJournal(dir);
    atEnd(t, () => second.close());
    assert.equal(second.fresh, false);
  });

  it('leaves out a line that a crash tore, wherever it tore it, and goes on behind the last whole one', async (t) => {
    const root = temporaryDirectory(t);
    const whole = join(root, 'whole');
    const journal = await openJournal(whole);
    for (const id of ['a', 'b', 'c']) await append(journal, id);
    await journal.close();
    const text = readFileSync(newest(whole));
    const last = text.lastIndexOf('\n', text.length - 2) + 1;
    for (let cut = last; cut < text.length; cut += 7) {
      const dir = join(root, String(cut));
      mkdirSync(dir);
      writeFileSync(join(dir, '00000001.ndjson'), text.subarray(0, cut));
      // As after a crash: what was made ready ahead is still zeros.
      appendFileSync(join(dir, '00000001.ndjson'), Buffer.alloc(5000));
      const again = await openJournal(dir);
      assert.deepEqual([await casesOf(again), again.damaged], [['a', 'b'], []], `cut at ${cut}`);
      assert.deepEqual(
        (await append(again, 'd')).map(({ seq }) => seq),
        [3],
      );
      await again.close();
      const third = await openJournal(dir);
      assert.deepEqual(await casesOf(third), ['a', 'b', 'd']);
      await third.close();
    }
  });

  it('leaves out a damaged line in the middle, says how many, and keeps all others', async (t) => {
    const dir = join(temporaryDirectory(t), 'journal');
    const journal = await openJournal(dir);
    for (const id of ['a', 'b', 'c', 'd']) await append(journal, id);
    await journal.close();
    const path = newest(dir);
    const bytes = readFileSync(path);
    const at = bytes.indexOf('"case_id":"b"');
    bytes.writeUInt8(bytes.readUInt8(at + 3) ^ 1, at + 3);
    writeFileSync(path, bytes);
    const again = await openJournal(dir);
    atEnd(t, () => again.close());
    assert.deepEqual(await casesOf(again), ['a', 'c', 'd']);
    assert.deepEqual(
      again.damaged.map(({ line }) => line),
      [LINES_OF_EMPTY + 2],
    );
    assert.deepEqual(
      (await append(again, 'e')).map(({ seq }) => seq),
      [5],
    );
  });

  it('takes the newest file, and drops what a crash during compaction left', async (t) => {
    const dir = join(temporaryDirectory(t), 'journal');
    const journal = await openJournal(dir);
    await append(journal, 'a');
    await journal.close();
    const text = readFileSync(newest(dir));
    writeFileSync(join(dir, '00000002.ndjson'), text);
    writeFileSync(join(dir, '00000003.ndjson.tmp'), 'half');
    const again = await openJournal(dir);
    atEnd(t, () => again.close());
    assert.deepEqual(await casesOf(again), ['a']);
    assert.equal(newest(dir), join(dir, '00000002.ndjson'));
    assert.ok(!readdirSync(dir).includes('00000001.ndjson'));
  });
});

describe('append', () => {
  it('resolves when the line is in the file, whole', async (t) => {
    const dir = join(temporaryDirectory(t), 'journal');
    const journal = await openJournal(dir);
    atEnd(t, () => journal.close());
    await append(journal, 'a');
    assert.ok(linesIn(dir).at(-1)?.includes('"case_id":"a"'));
  });

  it('gives a thousand at once their numbers in the order they came, one line each', async (t) => {
    const dir = join(temporaryDirectory(t), 'journal');
    const journal = await openJournal(dir);
    const heard: number[] = [];
    journal.onEvents((records) => heard.push(...records.map(({ seq }) => seq)));
    const ids = Array.from({ length: 1000 }, (_, n) => `item-${n}`);
    const records = (await Promise.all(ids.map((id) => append(journal, id)))).flat();
    const expected = ids.map((_, n) => n + 1);
    assert.deepEqual(
      records.map(({ seq }) => seq),
      expected,
    );
    assert.deepEqual(heard, expected);
    await journal.close();
    const again = await openJournal(dir);
    atEnd(t, () => again.close());
    assert.deepEqual(await casesOf(again), ids);
  });

  it('syncs once for all that came while the disk was busy', async (t) => {
    const { file } = await openJournalFile(temporaryDirectory(t));
    let batches = 0;
    const counted = {
      ...file,
      append: (lines: string[]) => {
        batches += 1;
        return file.append(lines);
      },
      room: 1,
      bytes: 0,
    };
    const writer = groupCommit<number>(counted, {
      settle: () => undefined,
      rotate: async () => undefined,
      state: 0,
    });
    await Promise.all(Array.from({ length: 100 }, (_, n) => writer.push(n)));
    atEnd(t, () => file.close());
    assert.ok(batches <= 2, `${batches} batches`);
  });
});

describe('onEvents', () => {
  it('tells the others, and of what comes, when a listener throws; and says so', async (t) => {
    const reported: [unknown, string][] = [];
    const dir = join(temporaryDirectory(t), 'journal');
    const journal = await openJournal(dir, (...report) => reported.push(report));
    atEnd(t, () => journal.close());
    const heard: number[] = [];
    const fault = new Error('a listener of the test');
    journal.onEvents(() => {
      throw fault;
    });
    journal.onEvents((records) => heard.push(...records.map(({ seq }) => seq)));
    await Promise.all(['a', 'b'].map((id) => append(journal, id)));
    await append(journal, 'c');
    assert.deepEqual(
      [heard, await casesOf(journal)],
      [
        [1, 2, 3],
        ['a', 'b', 'c'],
      ],
    );
    assert.deepEqual(reported, Array(3).fill([fault, 'notifying listeners of events']));
  });
});

describe('release', () => {
  it('drops events that every receiver has, and keeps the count', async (t) => {
    const journal = await openJournal(join(temporaryDirectory(t), 'journal'));
    atEnd(t, () => journal.close());
    for (const id of ['a', 'b', 'c']) await append(journal, id);
    journal.release(2);
    assert.deepEqual([await casesOf(journal), journal.last], [['c'], 3]);
    journal.release(3);
    assert.deepEqual([await casesOf(journal), journal.last], [[], 3]);
  });
});

describe('compaction', () => {
  it('rewrites a file that has grown long, without losing what counts', async (t) => {
    const dir = join(temporaryDirectory(t), 'journal');
    const journal = await openJournal(dir);
    await append(journal, 'first');
    const long = 'x'.repeat(50_000);
    for (let n = 0; n < 120; n += 1) {
      const { case: seen, ...rest } = state('grows');
      await journal.append({
        seen: { id: 'grows', state: { ...rest, case: { ...seen, description: `${n}${long}` } } },
      });
    }
    await append(journal, 'last');
    await journal.close();
    assert.equal(newest(dir), join(dir, '00000002.ndjson'));
    assert.ok(readFileSync(newest(dir)).length < 4_194_304, '120 × 50 KB went in');
    const again = await openJournal(dir);
    atEnd(t, () => again.close());
    assert.deepEqual(await casesOf(again), ['first', 'last']);
    assert.deepEqual([again.last, again.damaged], [2, []]);
    assert.equal(again.seen.get('grows')?.case.description, `119${long}`);
  });
});
