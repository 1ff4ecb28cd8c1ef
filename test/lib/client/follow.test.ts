import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Frame, follow, frameReader, type StreamEvent } from '../../../lib/client/follow.ts';
import { NoConnection, Problem } from '../../../lib/client/problem.ts';

const END = fc.constantFrom('\n', '\r\n', '\r');
const CUTS = fc.array(fc.nat(400), { maxLength: 12 });

/** The bytes in pieces, which end in the middle of anything. */
const cutAt = (bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] => {
  const ends = [...cuts.filter((at) => at < bytes.length).toSorted((a, b) => a - b), bytes.length];
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
};

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const streamOf = (pieces: readonly Uint8Array[], isCutOff = false): Response => {
  const left = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    pull: (to) => {
      const next = left.shift();
      if (next !== undefined) return to.enqueue(next);
      return isCutOff ? to.error(new TypeError('terminated')) : to.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
};

const OVER = (): Response => new Response(null, { status: 204 });

const framed = ({ id, event, data }: StreamEvent, end = '\n'): string =>
  [`id: ${id}`, `event: ${event}`, `data: ${JSON.stringify(data)}`, '', ''].join(end);

const numbered = (data: readonly unknown[]): StreamEvent[] =>
  data.map((each, at) => ({ id: at + 1, event: 'said', data: each }));

const collect = async (events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> => {
  const all: StreamEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
};

/** Answers these, one after the other, and keeps after which event each was asked for. */
const serving = (...answers: (() => Response)[]) => {
  const asked: (string | undefined)[] = [];
  const open = async (after: string | undefined): Promise<Response> => {
    asked.push(after);
    return (answers.shift() ?? OVER)();
  };
  return { asked, open };
};

describe('frameReader', () => {
  const read = (...pieces: string[]): Frame[] => pieces.flatMap(frameReader());

  it('reads each field, with one blank after the colon, and data of several lines', () => {
    assert.deepEqual(read('id: 7\nevent:  a\ndata: x\ndata\ndata:y\nretry: 20\n\n'), [
      { id: '7', event: ' a', data: 'x\n\ny', retry: 20 },
    ]);
  });

  it('passes over comments, fields that nobody knows, and what is cut off', () => {
    assert.deepEqual(read(': alive\nnews: x\nretry: soon\nid: a\0b\n\nid: 1\n'), [{}]);
  });

  it('reads the same wherever the text is cut, by each end of a line', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.string())), END, CUTS, (frames, end, cuts) => {
        const lines = frames.map((data) => data.map((one) => one.replaceAll(/[\r\n]/g, '')));
        const text = lines
          .map((data) => [...data.map((one) => `data: ${one}`), '', ''].join(end))
          .join('');
        const ends = [...cuts.toSorted((a, b) => a - b), text.length];
        const pieces = ends.map((to, at) => text.slice(ends[at - 1] ?? 0, to));
        // A frame without a line ends with its empty one.
        const expected = lines.flatMap((data) =>
          data.length === 0 ? [{}, {}] : [{ data: data.join('\n') }],
        );
        const found = read(...pieces);
        assert.deepEqual(
          found.filter((frame) => frame.data !== undefined),
          expected.filter((frame) => 'data' in frame),
        );
      }),
    );
  });
});

describe('follow', () => {
  it('tells each event once, whatever ends a connection and wherever its bytes are cut', async () => {
    const texts = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 8 });
    const breaks = fc.array(fc.nat(300), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(texts, END, CUTS, breaks, async (data, end, cuts, breakAfter) => {
        const events = numbered(data);
        const left = [...breakAfter];
        const open = async (after: string | undefined): Promise<Response> => {
          const rest = events.filter(({ id }) => id > Number(after ?? 0));
          const most = left.shift();
          if (most === undefined && rest.length === 0) return OVER();
          const text = `retry: 0${end}${end}${rest.map((event) => framed(event, end)).join('')}`;
          // Never before the pause is named.
          const bytes = bytesOf(text).subarray(0, 16 + (most ?? text.length * 4));
          return streamOf(cutAt(bytes, cuts), most !== undefined);
        };
        assert.deepEqual(await collect(follow(open, {})), events);
      }),
    );
  });

  it('goes on after a frame that only says how far it got, and passes over a second form', async () => {
    const first = 'retry: 0\nid: 40\n\n';
    const twice = `event: session_error\ndata: {}\n\n${framed({ id: 41, event: 'error', data: {} })}`;
    const { asked, open } = serving(
      () => streamOf([bytesOf(first)]),
      () => streamOf([bytesOf(twice)]),
    );
    const events = await collect(follow(open, {}));
    assert.deepEqual(events, [{ id: 41, event: 'error', data: {} }]);
    assert.deepEqual(asked, [undefined, '40', '41']);
  });

  it('ends after complete, and asks no more', async () => {
    const text = framed({ id: 1, event: 'complete', data: null });
    const { asked, open } = serving(() => streamOf([bytesOf(text)]));
    assert.equal((await collect(follow(open, {}))).length, 1);
    assert.deepEqual(asked, [undefined]);
  });

  it('throws what the first connection fails with', async () => {
    const fail = async (): Promise<Response> => {
      throw new NoConnection('none');
    };
    await assert.rejects(collect(follow(fail, {})), NoConnection);
  });

  it('tries again after a server that is starting, and throws a refusal that would come again', async () => {
    const refuse = (status: number) => (): Response => {
      throw new Problem(status, {});
    };
    const { asked, open } = serving(
      () => streamOf([bytesOf('retry: 0\n\n')], true),
      refuse(503),
      refuse(429),
      refuse(404),
    );
    const told: string[] = [];
    const watch = {
      onOpen: () => told.push('open'),
      onBreak: (reason: unknown) => told.push(String(reason)),
    };
    const events = follow(open, watch as never);
    await assert.rejects(collect(events), { name: 'Problem', status: 404 });
    assert.equal(asked.length, 4);
    assert.deepEqual(told, [
      'open',
      'NoConnection: The connection was lost.',
      'Problem: HTTP 503',
      'Problem: HTTP 429',
    ]);
  });

  it('lets its connection go when it is left, and ends at an abort while it waits', async () => {
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (to) => to.enqueue(bytesOf(framed({ id: 1, event: 'said', data: 1 }))),
      cancel: () => {
        isCancelled = true;
      },
    });
    for await (const { data } of follow(async () => new Response(endless), {})) {
      assert.equal(data, 1);
      break;
    }
    assert.equal(isCancelled, true);
    const abort = new AbortController();
    // So long that the test would not end by itself.
    const { asked, open } = serving(() => streamOf([bytesOf('retry: 3600000\n\n')]));
    const onBreak = (): void => queueMicrotask(() => abort.abort());
    assert.deepEqual(await collect(follow(open, { signal: abort.signal, onBreak })), []);
    assert.deepEqual(asked, [undefined]);
  });
});
