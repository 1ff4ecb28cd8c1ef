import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Journal, openJournal, ROLLED_BACK } from '../../../store/journal/journal.ts';
import { openMark, readMark } from '../../../store/journal/mark.ts';
import type { EventBody } from '../../../store/records/event.ts';
import { listed } from '../../helpers/listed.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';
import { canTrace, killedAt } from '../../helpers/strace.ts';

const event = (case_id: string): EventBody => ({
  event_type: 'case_updated',
  timestamp: '2026-03-04T05:06:07.089Z',
  payload: { case_id },
});

const open = (root: string): Promise<Journal> =>
  openJournal(join(root, 'journal'), undefined, openMark(join(root, 'mark')));

const append = async (journal: Journal, count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await journal.append({ events: [event(`${n}`)] });
};

const marked = (root: string) => readMark(join(root, 'mark'));

/** A journal of which more was told than it has. */
const rolledBack = async (t: TestContext): Promise<string> => {
  const root = temporaryDirectory(t);
  const journal = await open(root);
  await append(journal, 3);
  const file = join(root, 'journal/00000001.ndjson');
  const text = readFileSync(file);
  await append(journal, 4);
  await journal.close();
  writeFileSync(file, text);
  return root;
};

const TOLD = 7;

const moduleOf = (name: string): string =>
  new URL(`../../../store/journal/${name}.js`, import.meta.url).href;

/** One life of a journal, which says what it found and what it told. */
const LIFE = `
import { writeSync } from 'node:fs';
import { openJournal } from '${moduleOf('journal')}';
import { openMark } from '${moduleOf('mark')}';
const [root] = process.argv.slice(1);
const journal = await openJournal(root + '/journal', undefined, openMark(root + '/mark'));
writeSync(1, 'open ' + (journal.rolledBack !== undefined) + '\\n');
for (const id of ['a', 'b']) {
  const body = { event_type: 'case_updated', timestamp: '', payload: { case_id: id } };
  const [record] = await journal.append({ events: [body] });
  writeSync(1, 'told ' + record.seq + '\\n');
}
await journal.close();
`;

interface Life {
  survived: boolean;
  opened: boolean | undefined;
  told: number[];
}

const live = (root: string, call: string, nth: number): Life => {
  const { status, stdout } = spawnSync(
    'strace',
    [...killedAt(call, nth), process.execPath, '--input-type=module', '-e', LIFE, root],
    { encoding: 'utf8', env: { ...process.env, UV_THREADPOOL_SIZE: '1' } },
  );
  const said = (word: string): string[] =>
    stdout
      .split('\n')
      .flatMap((line) => (line.startsWith(word) ? [line.slice(word.length + 1)] : []));
  const [opened] = said('open');
  const told = said('told').map(Number);
  return {
    survived: status === 0,
    opened: opened === undefined ? undefined : opened === 'true',
    told,
  };
};

describe('the mark of a journal', () => {
  it('is never behind what was told, and never ahead of the journal', async (t) => {
    const root = temporaryDirectory(t);
    const journal = await open(root);
    const seen: [number, number][] = [];
    journal.onEvents((records) => {
      for (const { seq } of records) seen.push([seq, marked(root)?.last ?? 0]);
    });
    await append(journal, 5);
    assert.deepEqual(
      seen,
      [1, 2, 3, 4, 5].map((seq) => [seq, seq]),
    );
    assert.ok((marked(root)?.reserved ?? 0) >= 5);
    await journal.close();
    assert.equal((await reopened(root)).rolledBack, undefined);
  });

  const reopened = async (root: string): Promise<Journal> => {
    const journal = await open(root);
    await journal.close();
    return journal;
  };

  it('tells a journal of another life, and numbers go on behind all that were reserved', async (t) => {
    const root = await rolledBack(t);
    const { reserved = 0, epoch } = marked(root) ?? {};
    const journal = await open(root);
    assert.deepEqual([journal.rolledBack, journal.fresh], [{ last: 3, told: TOLD }, true]);
    const [record] = await journal.append({ events: [event('new')] });
    assert.equal(record?.seq, reserved + 1);
    assert.notEqual(marked(root)?.epoch, epoch);
    // Until it was told, also where this life ends before that.
    await journal.close();
    const again = await open(root);
    assert.deepEqual([again.rolledBack, again.fresh], [{ last: 3, told: TOLD }, false]);
    await again.append({ told: { id: ROLLED_BACK, state: null } });
    assert.deepEqual(
      (await listed(again.history(0))).map(({ seq }) => seq),
      [1, 2, 3, reserved + 1],
    );
    await again.close();
    assert.equal((await reopened(root)).rolledBack, undefined);
  });

  it('keeps what receivers are owed, and forgets what was seen', async (t) => {
    const root = temporaryDirectory(t);
    const journal = await open(root);
    await journal.append({
      cursor: { id: 'w', seq: 0 },
      run: { id: 'r', state: { case_id: 'a', status: 'planning' } },
    });
    await append(journal, 2);
    const file = join(root, 'journal/00000001.ndjson');
    const text = readFileSync(file);
    await append(journal, 1);
    await journal.close();
    writeFileSync(file, text);
    const again = await open(root);
    assert.deepEqual([...again.cursors], [['w', 0]]);
    assert.equal(again.runs.size, 0);
    assert.deepEqual(
      (await listed(again.after(0))).map(({ seq }) => seq),
      [1, 2],
    );
    await again.close();
  });

  it('takes over a journal that it knows nothing of, and one of a release without epochs', async (t) => {
    const root = temporaryDirectory(t);
    const journal = await open(root);
    await append(journal, 3);
    await journal.close();
    const { epoch } = marked(root) ?? {};
    rmSync(join(root, 'mark'));
    assert.equal((await reopened(root)).rolledBack, undefined);
    assert.deepEqual([marked(root)?.epoch, marked(root)?.last], [epoch, 3]);
    writeFileSync(join(root, 'mark'), 'no mark');
    assert.equal((await reopened(root)).rolledBack, undefined);
    assert.equal(marked(root)?.epoch, epoch);
  });

  it('tells a journal with another epoch, whatever its numbers', async (t) => {
    const [root, other] = [temporaryDirectory(t), temporaryDirectory(t)];
    for (const [place, count] of [
      [root, 2],
      [other, 9],
    ] as const) {
      const journal = await open(place);
      await append(journal, count);
      await journal.close();
    }
    rmSync(join(root, 'journal'), { recursive: true });
    cpSync(join(other, 'journal'), join(root, 'journal'), { recursive: true });
    assert.deepEqual((await reopened(root)).rolledBack, { last: 9, told: 2 });
  });

  for (const call of ['pwrite64', 'fsync', 'fdatasync', 'rename'])
    it(`holds where its daemon is killed at each ${call} of a rollback`, async (t) => {
      if (!canTrace(t)) return;
      const root = await rolledBack(t);
      let survived = false;
      for (let nth = 1; !survived; nth += 1) {
        assert.ok(nth < 30, 'it ends well where it is not killed');
        survived = await killedOnce(t, root, call, nth);
      }
    });
});

/** True where it was not killed: there are fewer calls. */
const killedOnce = async (
  t: TestContext,
  root: string,
  call: string,
  nth: number,
): Promise<boolean> => {
  const place = join(temporaryDirectory(t), 'place');
  cpSync(root, place, { recursive: true });
  const { survived, opened, told } = live(place, call, nth);
  assert.equal(opened ?? true, true);
  const again = await open(place);
  assert.deepEqual(again.rolledBack, { last: 3, told: TOLD }, `${call} ${nth}: it can be told`);
  assert.ok(
    told.every((seq) => seq > TOLD && seq <= again.last),
    `${call} ${nth}: ${told}`,
  );
  const [record] = await again.append({ events: [event('c')] });
  assert.ok((record?.seq ?? 0) > Math.max(TOLD, ...told));
  await again.close();
  if (survived) assert.deepEqual([opened, told.length], [true, 2]);
  return survived;
};
