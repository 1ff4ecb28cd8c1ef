import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createPieces } from '../../../store/sessions/log-reader.ts';
import {
  type Batches,
  openTranscript,
  type Transcript,
  type TranscriptOptions,
} from '../../../store/sessions/transcript.ts';
import type { TranscriptEvent } from '../../../store/sessions/transcript-event.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

const clock = (): Date => new Date(0);

const place = (t: TestContext) => {
  const dir = temporaryDirectory(t);
  const path = join(dir, 'events.ndjson');
  const open = (options: TranscriptOptions = {}): Transcript =>
    openTranscript(() => dir, clock, options);
  return { path, open };
};

const say = (transcript: Transcript, count: number, text = 'word'): void => {
  for (let n = 0; n < count; n += 1) transcript.append('message', { text });
};

const collect = async (batches: Batches): Promise<TranscriptEvent[]> => {
  const events: TranscriptEvent[] = [];
  for await (const batch of batches) events.push(...batch);
  return events;
};

const ids = (events: readonly TranscriptEvent[]): number[] => events.map(({ id }) => id);
const upTo = (last: number, first = 1): number[] =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);
const forEver = (): AbortSignal => new AbortController().signal;

// Cut off after every third event or so, and back with the number of the last one it has.
const readAgainAndAgain = async (transcript: Transcript): Promise<number[]> => {
  const seen: number[] = [];
  for (let complete = false; !complete; )
    for await (const batch of transcript.follow(seen.at(-1) ?? 0, forEver())) {
      seen.push(...ids(batch));
      complete = batch.some(({ event }) => event === 'complete');
      if (seen.length % 3 === 0) break;
    }
  return seen;
};

describe('a reader of a transcript', () => {
  it('has every event after the one it names, from any place in a long file', async (t) => {
    const { open } = place(t);
    const transcript = open();
    say(transcript, 5000, 'x'.repeat(100));
    for (const after of [0, 1, 499, 500, 2500, 4998, 4999, 5000])
      assert.deepEqual(ids(await collect(transcript.soFar(after))), upTo(5000, after + 1));
  });

  it('begins near its place, and not at the beginning of the file', async (t) => {
    const { open } = place(t);
    const from: number[] = [];
    const pieces = createPieces();
    const transcript = open({
      pieces: (path, offset) => {
        from.push(offset);
        return pieces(path, offset);
      },
    });
    say(transcript, 20_000, 'x'.repeat(100));
    assert.deepEqual(ids(await collect(transcript.soFar(19_000))), upTo(20_000, 19_001));
    const perEvent = (from.at(-1) ?? 0) / 20_000;
    assert.ok((from[0] ?? 0) > 18_000 * perEvent, `read from ${from[0]}`);
  });

  it('misses none and sees none twice while events are written, wherever it goes on', async (t) => {
    const { open } = place(t);
    const transcript = open();
    const reading = Array.from({ length: 20 }, () => readAgainAndAgain(transcript));
    for (let round = 0; round < 300; round += 1) {
      say(transcript, 1 + (round % 7), 'x'.repeat(300));
      await new Promise((resolve) => setImmediate(resolve));
    }
    transcript.append('complete', {});
    for (const seen of await Promise.all(reading)) assert.deepEqual(seen, upTo(seen.length));
    const [first] = await Promise.all(reading);
    assert.equal(first?.length, ids(await collect(transcript.soFar(0))).length);
  });

  it('shares what is read with all who are at the same place', async (t) => {
    const { open } = place(t);
    const transcript = open();
    say(transcript, 3);
    const life = new AbortController();
    const readers = Array.from({ length: 10 }, () => transcript.follow(0, life.signal));
    const next = () => Promise.all(readers.map(async (reader) => (await reader.next()).value));
    assert.equal(new Set(await next()).size, 1);
    const waiting = next();
    say(transcript, 1);
    const [batch, ...others] = new Set(await waiting);
    assert.deepEqual([ids(batch ?? []), others], [[4], []]);
    life.abort();
  });

  it('holds one piece of a long file, not the file', async (t) => {
    const { open } = place(t);
    const transcript = open();
    say(transcript, 2000, 'x'.repeat(1000));
    const sizes: number[] = [];
    for await (const batch of transcript.soFar(0)) sizes.push(JSON.stringify(batch).length);
    assert.ok(Math.max(...sizes) < 20_000, `${Math.max(...sizes)} at once`);
  });

  it('is told that what it had last is not there any more, and goes on from the end', async (t) => {
    const { open } = place(t);
    const transcript = open();
    say(transcript, 3);
    const reader = transcript.follow(9, forEver());
    const [gap] = (await reader.next()).value ?? [];
    assert.deepEqual([gap?.id, gap?.event, gap?.data.from, gap?.data.to], [3, 'gap', 4, 9]);
    const next = reader.next();
    say(transcript, 1);
    assert.deepEqual(ids((await next).value ?? []), [4]);
    await reader.return(undefined);
  });

  it('is told so when it polls, too', async (t) => {
    const { open } = place(t);
    const transcript = open();
    say(transcript, 3);
    const batches: (readonly TranscriptEvent[])[] = [];
    for await (const batch of transcript.soFar(9)) batches.push(batch);
    const [gap, ...rest] = batches.flat();
    assert.deepEqual([gap?.id, gap?.event, gap?.data.from, gap?.data.to], [3, 'gap', 4, 9]);
    assert.deepEqual(rest, []);
  });
});

describe('a file of events that somebody else wrote to', () => {
  const line = (id: number): string =>
    `${JSON.stringify({ id, event: 'message', data: { text: `${id}` } })}\n`;
  const lines = (...numbers: number[]): string => numbers.map(line).join('');
  const told = (events: readonly TranscriptEvent[]) =>
    events.map(({ id, event, data }) =>
      event === 'gap' ? `gap ${data.from}-${data.to} at ${id}` : id,
    );

  const CASES: [what: string, text: string, expected: (string | number)[]][] = [
    ['whose last line was torn', `${lines(1, 2)}{"id":3,"ev`, [1, 2, 3]],
    ['whose last newline an editor took', lines(1, 2, 3).trimEnd(), [1, 2, 3, 4]],
    ['with a line that is no JSON', `${lines(1)}oops\n${lines(3)}`, [1, 'gap 2-2 at 2', 3, 4]],
    ['with lines that are no events', `${lines(1)}5\nnull\n{}\n[]\n${lines(2)}`, [1, 2, 3]],
    ['with an empty line', `${lines(1)}\n\r\n${lines(2)}`, [1, 2, 3]],
    ['with a line that was removed', lines(1, 2, 5), [1, 2, 'gap 3-4 at 4', 5, 6]],
    [
      'with an event whose name breaks the stream',
      `${lines(1)}{"id":2,"event":"a\\ndata: b","data":{}}\n${lines(3)}`,
      [1, 'gap 2-2 at 2', 3, 4],
    ],
    [
      'with a number that was edited',
      `${lines(1)}${line(700)}${lines(3, 4)}`,
      [1, 'gap 2-2 at 2', 3, 4, 5],
    ],
    [
      'in which git left a conflict open',
      `${lines(1, 2)}<<<<<<< ours\n${lines(3, 4)}=======\n${lines(3, 4, 5)}>>>>>>> theirs\n${lines(6)}`,
      [1, 2, 3, 4, 5, 6, 7],
    ],
    ['that ends with lines nobody can read', `${lines(1)}a\nb\n`, [1, 'gap 2-3 at 3', 4]],
  ];

  for (const [what, text, expected] of CASES) {
    it(`${what} is read, and told where something is missing`, async (t) => {
      const { path, open } = place(t);
      writeFileSync(path, text);
      const transcript = open();
      say(transcript, 1);
      assert.deepEqual(told(await collect(transcript.soFar(0))), expected);
      assert.deepEqual(told(await collect(open().soFar(0))), expected);
      for (const after of expected.filter((each) => typeof each === 'number')) {
        const rest = expected.slice(expected.indexOf(after) + 1);
        assert.deepEqual(told(await collect(transcript.soFar(after))), rest);
      }
    });
  }

  it('goes on in the file that an editor put in its place', async (t) => {
    const { path, open } = place(t);
    const transcript = open();
    say(transcript, 2);
    writeFileSync(`${path}.new`, readFileSync(path, 'utf8').trimEnd());
    renameSync(`${path}.new`, path);
    say(transcript, 1);
    appendFileSync(path, 'a note of mine');
    say(transcript, 1);
    assert.deepEqual(ids(await collect(open().soFar(0))), [1, 2, 3, 4]);
    assert.match(readFileSync(path, 'utf8'), /^(\{.*\}\n){4}$/);
  });
});

describe('a transcript that has reached its limit', () => {
  it('says so once, and keeps what happened without what was said', async (t) => {
    const { path, open } = place(t);
    const limit = 10_000;
    const before = open({ limit });
    say(before, 50, 'x'.repeat(1000));
    const call = { tool_call_id: 'a', title: 'ls', kind: 'execute', status: 'completed' };
    const output = 'x'.repeat(1000);
    const after = open({ limit });
    for (const event of ['message', 'thought', 'agent_event'])
      after.append(event, { text: output });
    after.append('tool_call', { ...call, output });
    after.append('status', { status: 'completed' });
    after.append('complete', {});
    const events = await collect(after.soFar(0));
    const rest = events.slice(events.findIndex(({ event }) => event === 'gap'));
    assert.deepEqual(
      rest.map(({ event }) => event),
      ['gap', 'tool_call', 'status', 'complete'],
    );
    assert.deepEqual(ids(events), upTo(events.length));
    assert.equal(rest[0]?.data.reason, 'log_full');
    const at = clock().toISOString();
    assert.deepEqual(rest[1]?.data, { ...call, truncated: true, at });
    assert.ok(statSync(path).size < limit + 2000);
  });

  it('keeps all beside it, where events.ndjson is long, and misses nothing', async (t) => {
    const { path, open } = place(t);
    const rest = join(temporaryDirectory(t), 'transcripts/all.ndjson');
    const long = { rest: () => rest, kept: 5000 };
    const before = open(long);
    const reader = collect(before.follow(0, forEver()));
    say(before, 20, 'x'.repeat(400));
    const after = open(long);
    assert.equal(after.last, before.last);
    const call = { tool_call_id: 'a', status: 'completed' };
    after.append('tool_call', { ...call, output: 'long', diffs: [] });
    say(after, 20, 'y'.repeat(400));
    const events = await collect(after.soFar(0));
    assert.deepEqual(ids(events), upTo(42));
    assert.equal(events.filter(({ event }) => event === 'message').length, 40);
    assert.equal(events.filter(({ event }) => event === 'log_continued').length, 1);
    assert.ok(events.some(({ data }) => data.output === 'long'));
    for (const from of [3, 11, 12, 13, 30])
      assert.deepEqual(ids(await collect(after.soFar(from))), upTo(42, from + 1));
    assert.ok(statSync(path).size < 7000);
    const inGit = readFileSync(path, 'utf8');
    assert.match(inGit, /"reason":"kept_elsewhere"/);
    assert.match(inGit, /"tool_call_id":"a".*"truncated":true/);
    assert.doesNotMatch(inGit, /y{400}/);
    after.append('complete', {});
    before.end();
    assert.deepEqual(ids(await reader), upTo(43));
    assert.equal(open(long).complete, true);
    const elsewhere = await collect(open({ rest: () => `${rest}.none` }).soFar(0));
    assert.deepEqual(
      elsewhere.slice(-5).map(({ event, data }) => `${event} ${data.reason ?? ''}`.trim()),
      ['gap kept_elsewhere', 'gap not_readable', 'tool_call', 'gap not_readable', 'complete'],
    );
  });

  it('goes on where the directory of the complete log was removed', (t) => {
    const { path, open } = place(t);
    const dir = join(temporaryDirectory(t), 'transcripts');
    const long = { rest: () => join(dir, 'one.ndjson'), kept: 200 };
    const before = open(long);
    say(before, 3, 'x'.repeat(200));
    before.sync();
    rmSync(dir, { recursive: true });
    const after = open(long);
    say(after, 1, 'later');
    after.sync();
    assert.match(readFileSync(join(dir, 'one.ndjson'), 'utf8'), /later/);
    assert.ok(statSync(path).size > 0);
  });

  it('tells readers that wait', async (t) => {
    const { open } = place(t);
    const transcript = open({ limit: 100 });
    const reader = transcript.follow(0, forEver());
    const next = reader.next();
    say(transcript, 1, 'x'.repeat(100));
    const events: readonly TranscriptEvent[] = (await next).value ?? [];
    assert.deepEqual(
      events.map(({ event }) => event),
      ['message', 'gap'],
    );
    await reader.return(undefined);
  });
});
