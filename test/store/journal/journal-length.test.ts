import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Journal, openJournal } from '../../../store/journal/journal.ts';
import { openJournalFile } from '../../../store/journal/journal-file.ts';
import type { EventBody } from '../../../store/records/event.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { listed } from '../../helpers/listed.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

const event = (case_id: string): EventBody => ({
  event_type: 'case_updated',
  timestamp: '2026-03-04T05:06:07.089Z',
  payload: { case_id },
});

const LONG = 'x'.repeat(10_000);
const MIB = 1_048_576;

/** A megabyte of changes to one and the same thing. */
const live = (journal: Journal) =>
  Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      journal.append({
        run: { id: 'run', state: { case_id: `${n}${LONG}`, status: 'planning' } },
        events: [event(`${n}`)],
      }),
    ),
  );

const sizeOf = (dir: string): number =>
  readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);

describe('the length of a journal', () => {
  it('is bounded by the state in it, however often the daemon is restarted', async (t) => {
    const dir = join(temporaryDirectory(t), 'journal');
    const restart = async (left: number): Promise<void> => {
      const journal = await openJournal(dir);
      await live(journal);
      journal.release(journal.last);
      await journal.close();
      if (left > 1) await restart(left - 1);
    };
    await restart(16);
    assert.ok(sizeOf(dir) < 12 * MIB, `${sizeOf(dir)} bytes after 16 MiB of changes to 10 KB`);
  });

  it('is cut down at the start already', async (t) => {
    const dir = join(temporaryDirectory(t), 'journal');
    await (await openJournal(dir)).close();
    const { file } = await openJournalFile(dir);
    const line = JSON.stringify({ run: { id: 'run', state: { case_id: LONG, status: 'x' } } });
    await file.append(Array(2000).fill(line));
    await file.close();
    const journal = await openJournal(dir);
    atEnd(t, () => journal.close());
    assert.deepEqual(readdirSync(dir), ['00000002.ndjson']);
    assert.ok(sizeOf(dir) < MIB);
    assert.equal(journal.runs.get('run')?.case_id, LONG);
  });

  it('may be what the state needs', async (t) => {
    const dir = join(temporaryDirectory(t), 'journal');
    const journal = await openJournal(dir);
    const ids = Array.from({ length: 600 }, (_, n) => `${n}`);
    const keep = (id: string) =>
      journal.append({ run: { id, state: { case_id: LONG, status: 'x' } } });
    await Promise.all(ids.map(keep));
    await journal.close();
    const before = readdirSync(dir);
    await (await openJournal(dir)).close();
    assert.deepEqual(readdirSync(dir), before);
  });
});

describe('history', () => {
  it('gives what every receiver has got, over a restart too, and says where it begins', async (t) => {
    const dir = join(temporaryDirectory(t), 'journal');
    let journal = await openJournal(dir);
    atEnd(t, () => journal.close());
    const goOn = async (left: number): Promise<void> => {
      await live(journal);
      journal.release(journal.last);
      if (left > 1) await goOn(left - 1);
    };
    await goOn(12);
    const seqs = async (after: number): Promise<number[]> =>
      (await listed(journal.history(after))).map(({ seq }) => seq);
    const check = async (): Promise<void> => {
      const { oldest, last } = journal;
      assert.ok(oldest > 0 && oldest < 1000, `${oldest}`);
      for (const after of [oldest, oldest + 1, 1000, 1199, 1200])
        assert.deepEqual(
          await seqs(after),
          Array.from({ length: last - after }, (_, n) => after + n + 1),
          `after ${after}`,
        );
      assert.deepEqual(await listed(journal.after(oldest)), []);
    };
    await check();
    await journal.close();
    journal = await openJournal(dir);
    journal.release(journal.last);
    await check();
  });
});
