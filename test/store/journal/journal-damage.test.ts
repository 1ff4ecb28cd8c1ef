import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Journal, openJournal } from '../../../store/journal/journal.ts';
import type { EventBody } from '../../../store/records/event.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { listed } from '../../helpers/listed.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';
import { makeRoot, openRoot } from '../../helpers/workspace.ts';

const event = (case_id: string): EventBody => ({
  event_type: 'case_updated',
  timestamp: '2026-03-04T05:06:07.089Z',
  payload: { case_id },
});

const casesOf = async (journal: Journal): Promise<string[]> =>
  (await listed(journal.history(0))).map(({ body }) => String(body.payload.case_id));

const newest = (dir: string): string => join(dir, readdirSync(dir).toSorted().at(-1) ?? '');

const NAMES = ['a', 'b', 'c', 'd', 'e'];

/** A journal with an event for each name, as `spoil` leaves its file. */
const spoiled = async (t: TestContext, spoil: (bytes: Buffer) => Buffer): Promise<string> => {
  const dir = join(temporaryDirectory(t), 'journal');
  const journal = await openJournal(dir);
  for (const name of NAMES) await journal.append({ events: [event(name)] });
  await journal.close();
  writeFileSync(newest(dir), spoil(readFileSync(newest(dir))));
  return dir;
};

const reopened = async (t: TestContext, dir: string): Promise<Journal> => {
  const journal = await openJournal(dir);
  atEnd(t, () => journal.close());
  return journal;
};

const at = (bytes: Buffer, name: string): number => bytes.indexOf(`"case_id":"${name}"`);

describe('a journal that is damaged', () => {
  it('is read to its end past a zero byte, and costs the line that it is in', async (t) => {
    const dir = await spoiled(t, (bytes) => bytes.fill(0, at(bytes, 'b'), at(bytes, 'b') + 1));
    const journal = await reopened(t, dir);
    assert.deepEqual(await casesOf(journal), ['a', 'c', 'd', 'e']);
    assert.equal(journal.damaged.length, 1);
  });

  it('is read to its end past a hole of zeros over several lines', async (t) => {
    const dir = await spoiled(t, (bytes) => bytes.fill(0, at(bytes, 'b'), at(bytes, 'd')));
    assert.deepEqual(await casesOf(await reopened(t, dir)), ['a', 'e']);
  });

  for (const [what, byte] of [
    ['a zero', 0],
    ['a letter', 120],
  ] as const)
    it(`gives the line behind a newline that became ${what}`, async (t) => {
      const dir = await spoiled(t, (bytes) => {
        const newline = bytes.indexOf(10, at(bytes, 'b'));
        return bytes.fill(byte, newline, newline + 1);
      });
      const journal = await reopened(t, dir);
      assert.deepEqual(await casesOf(journal), ['a', 'c', 'd', 'e']);
      assert.equal(journal.damaged.length, 1);
    });

  it('is read past more garbage than is read at once', async (t) => {
    const dir = await spoiled(t, (bytes) => {
      const place = bytes.indexOf(10, at(bytes, 'b')) + 1;
      const garbage = Buffer.alloc(3_000_000, 'garbage');
      return Buffer.concat([bytes.subarray(0, place), garbage, bytes.subarray(place)]);
    });
    assert.deepEqual(await casesOf(await reopened(t, dir)), NAMES);
  });

  it('gives no number again that an event had which is lost', async (t) => {
    for (const from of ['d', 'e']) {
      const dir = await spoiled(t, (bytes) =>
        bytes.fill(120, at(bytes, from), at(bytes, from) + 3),
      );
      const journal = await reopened(t, dir);
      const [made] = await journal.append({ events: [event('new')] });
      assert.ok((made?.seq ?? 0) > NAMES.length, `${made?.seq}`);
    }
  });

  it('gives no number again when the line is lost that said where a compacted one begins', async (t) => {
    const dir = join(temporaryDirectory(t), 'journal');
    const journal = await openJournal(dir);
    const long = { case_id: 'x'.repeat(50_000), status: 'planning' };
    const grow = (id: string) =>
      journal.append({ run: { id: 'run', state: long }, events: [event(id)] });
    for (let n = 0; n < 100; n += 1) await grow(`${n}`);
    const { last } = journal;
    journal.release(last);
    await journal.close();
    const [former = '', ...others] = readdirSync(dir).toSorted();
    assert.equal(others.length, 1);
    rmSync(join(dir, former));
    const bytes = readFileSync(newest(dir));
    writeFileSync(newest(dir), bytes.subarray(0, bytes.indexOf('"events"')).fill(120, 0, 3));
    const again = await reopened(t, dir);
    assert.ok(again.last > 70, `${again.last}`);
  });

  it('is a problem that names the file and the line, once the workspace is open', async (t) => {
    const root = makeRoot();
    const first = await openRoot(root);
    for (const name of NAMES) await first.store.journal.append({ events: [event(name)] });
    await first.close();
    const path = newest(join(root, '.dossier/journal'));
    const bytes = readFileSync(path);
    const line = bytes.toString('latin1', 0, at(bytes, 'c')).split('\n').length;
    writeFileSync(path, bytes.fill(0, at(bytes, 'c'), at(bytes, 'c') + 1));
    const again = await openRoot(root);
    atEnd(t, () => again.close());
    const [problem, ...others] = again.store.problems.all();
    assert.deepEqual(others, []);
    assert.equal(problem?.file, '.dossier/journal/00000001.ndjson');
    assert.deepEqual([problem.code, problem.line], ['journal_damaged', line]);
    assert.match(problem.message, /^A line is damaged\. All other lines were read\./);
  });
});

describe('an append that failed', () => {
  it('is not read at the next start, behind what was appended after it', async (t) => {
    const dir = join(temporaryDirectory(t), 'journal');
    const journal = await openJournal(dir);
    await journal.append({ events: [event('a')] });
    const handle = await open('/dev/null');
    const proto = Object.getPrototypeOf(handle) as typeof handle;
    await handle.close();
    const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
    const { mock } = t.mock.method(proto, 'datasync', () => Promise.reject(full));
    const both = ['lost-1', 'lost-2'].map((name) => journal.append({ events: [event(name)] }));
    for (const { status } of await Promise.allSettled(both)) assert.equal(status, 'rejected');
    mock.restore();
    await journal.append({ events: [event('b')] });
    // As a crash leaves it: nothing is cut off.
    const copy = join(temporaryDirectory(t), 'copy');
    const text = readFileSync(newest(dir));
    await journal.close();
    await (await openJournal(copy)).close();
    writeFileSync(newest(copy), text);
    const again = await reopened(t, copy);
    assert.deepEqual([await casesOf(again), again.damaged], [['a', 'b'], []]);
  });
});
