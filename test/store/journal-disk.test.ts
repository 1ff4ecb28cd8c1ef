import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openJournal } from '../../store/journal/journal.ts';
import { openJournalFile } from '../../store/journal/journal-file.ts';
import { atEnd } from '../helpers/at-end.ts';
import { tinyDisk } from '../helpers/tiny-disk.ts';

const LONG = 'x'.repeat(3000);

describe('a journal on a full disk', () => {
  for (const kib of [0, 4, 12, 100, 260, 300, 404])
    it(`is met with no acknowledged line lost, with ${kib} KiB left`, async (t) => {
      const disk = tinyDisk(t, 2048);
      if (disk === undefined) return;
      const dir = join(disk.dir, 'journal');
      const journal = await openJournal(dir);
      disk.leave(kib);
      const acknowledged: string[] = [];
      const fill = async (n: number): Promise<unknown> => {
        await journal.append({ run: { id: `${n}`, state: { case_id: LONG, status: 'planning' } } });
        return acknowledged.push(`${n}`) < 1000 && fill(n + 1);
      };
      await assert.rejects(fill(0), { code: 'ENOSPC' });
      const again = await openJournal(dir);
      assert.deepEqual([...again.runs.keys()].slice(0, acknowledged.length), acknowledged);
      assert.deepEqual(again.damaged, []);
      await Promise.all([journal.close(), again.close()]);
    });

  it('is told by reserve before anything is written, as often as it is asked', async (t) => {
    const disk = tinyDisk(t, 1024);
    if (disk === undefined) return;
    const { file } = await openJournalFile(disk.dir);
    atEnd(t, () => file.close());
    disk.leave(64);
    await assert.rejects(file.reserve(131_072), { code: 'ENOSPC' });
    await assert.rejects(file.reserve(131_072), { code: 'ENOSPC' });
    disk.leave(900);
    await file.reserve(131_072);
    assert.ok(file.room >= 131_072);
    disk.leave(0);
    await file.append(['x'.repeat(131_000)]);
  });
});
