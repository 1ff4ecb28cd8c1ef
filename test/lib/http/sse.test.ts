import assert from 'node:assert/strict';
import { EventEmitter, on, once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import type { ServerOptions } from '../../../lib/daemon/server.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { type EventSource, route, type StreamEvent } from '../../../lib/http/route.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { json, listen, serverOf } from './serve.ts';

const eventOf = (id: number, data: unknown = { n: id }): StreamEvent => ({
  id,
  event: 'step',
  data,
});

/** Three events in two batches, and the end. */
const finished: EventSource = {
  async *open(after) {
    yield* this.soFar(after);
  },
  async *soFar(after) {
    for (const ids of [[1, 2], [3]]) {
      const events = ids.filter((id) => id > after).map((id) => eventOf(id));
      if (events.length > 0) yield events;
    }
  },
};

const nothing = async function* () {};

const streaming = (source: EventSource) => [
  route('GET /stream', {
    summary: 'Stream',
    stream: { text: 'Its events', event: {} },
    handler: () => source,
  }),
];

/** A source that a test feeds, and that tells when it was let go. */
const live = () => {
  const feed = new EventEmitter();
  let signal: AbortSignal | undefined;
  const source: EventSource = {
    async *open(_after, life) {
      signal = life;
      try {
        feed.emit('opened');
        for await (const [event] of on(feed, 'event', { signal: life })) yield [event];
      } finally {
        feed.emit('left');
      }
    },
    soFar: nothing,
  };
  return { source, feed, isAborted: () => signal?.aborted };
};

const connect = async (t: TestContext, source: EventSource, more: Partial<ServerOptions> = {}) => {
  const server = await listen(t, streaming(source), more);
  const client = get(`${server.url}/stream`);
  const [response] = (await once(client, 'response')) as [IncomingMessage];
  atEnd(t, () => client.destroy());
  response.setEncoding('utf8').on('error', () => undefined);
  return { ...server, client, response };
};

describe('sendEvents', () => {
  const { hapi } = serverOf(streaming(finished));
  const ask = (url: string, headers = {}) => hapi.inject({ url, headers });

  it('writes id, event and JSON data, and ends with the source', async () => {
    const answer = await ask('/stream');
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.headers['content-type'], 'text/event-stream; charset=utf-8');
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.equal(answer.headers['x-accel-buffering'], 'no');
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.equal(
      answer.payload,
      [1, 2, 3].map((n) => `id: ${n}\nevent: step\ndata: {"n":${n}}\n\n`).join(''),
    );
  });

  it('goes on after Last-Event-ID, else after ?after=', async () => {
    const ids = (payload: string) => [...payload.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id);
    assert.deepEqual(ids((await ask('/stream?after=2')).payload), ['3']);
    assert.deepEqual(ids((await ask('/stream', { 'last-event-id': '1' })).payload), ['2', '3']);
    const both = await ask('/stream?after=2', { 'last-event-id': '1' });
    assert.deepEqual(ids(both.payload), ['2', '3']);
    assert.deepEqual(ids((await ask('/stream?after=3')).payload), []);
  });

  it('refuses a position that is no whole number', async () => {
    for (const id of ['x', '-1', '1.5', '1e3']) {
      assert.equal((await ask('/stream', { 'last-event-id': id })).statusCode, 400, id);
    }
    assert.equal((await ask('/stream?after=x')).statusCode, 400);
  });

  it('names the header or the parameter that it refuses', async () => {
    const long = '9'.repeat(16);
    const detail = async (url: string, headers = {}) =>
      JSON.parse((await ask(url, headers)).payload).detail;
    assert.match(await detail(`/stream?after=${long}`), /^query\/after must be .* 15 digits\.$/);
    assert.match(await detail('/stream', { 'last-event-id': long }), /^Last-Event-ID must be /);
  });

  const JSON_FIRST = [
    'application/json',
    'Application/JSON',
    'text/event-stream;q=0.5, application/json',
  ];
  for (const accept of JSON_FIRST) {
    it(`answers ${accept} with the events so far as an array`, async () => {
      const answer = await ask('/stream?after=1', { accept });
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
      assert.deepEqual(json(answer), [eventOf(2), eventOf(3)]);
    });
  }

  it('pages through the array, with a Link to the next page as long as there is one', async () => {
    const accept = 'application/json';
    const ids = (answer: { payload: string }) => json(answer).map(({ id }: StreamEvent) => id);
    const first = await ask('/stream?limit=2', { accept });
    assert.deepEqual(ids(first), [1, 2]);
    assert.equal(first.headers.link, '</stream?limit=2&after=2>; rel="next"');
    const second = await ask('/stream?limit=2&after=2', { accept });
    assert.deepEqual([ids(second), second.headers.link], [[3], undefined]);
    const one = await ask('/stream?limit=1&after=1', { accept });
    assert.deepEqual([ids(one), one.headers.link], [[2], '</stream?limit=1&after=2>; rel="next"']);
    const all = await ask('/stream?limit=3', { accept });
    assert.deepEqual([ids(all), all.headers.link], [[1, 2, 3], undefined]);
    assert.deepEqual(ids(await ask('/stream?after=3', { accept })), []);
  });

  for (const limit of ['0', '1001', 'x']) {
    it(`refuses a limit of ${limit}`, async () => {
      const answer = await ask(`/stream?limit=${limit}`, { accept: 'application/json' });
      assert.equal(answer.statusCode, 400);
    });
  }

  it('answers a source that fails before its first event with a problem', async () => {
    const soFar = async function* (): AsyncGenerator<StreamEvent[]> {
      yield* [];
      throw new ServiceError('not_found', 'It is gone.');
    };
    const broken = serverOf(streaming({ open: nothing, soFar })).hapi;
    const accept = 'application/json';
    assert.equal((await broken.inject({ url: '/stream', headers: { accept } })).statusCode, 404);
  });

  for (const accept of ['*/*', 'text/event-stream', 'application/json, text/event-stream']) {
    it(`answers ${accept} with a stream`, async () => {
      assert.match(
        String((await ask('/stream', { accept })).headers['content-type']),
        /event-stream/,
      );
    });
  }

  it('sends an error as session_error too, which collides with nothing of EventSource', async () => {
    const failing: EventSource = {
      async *open() {
        yield [{ id: 7, event: 'error', data: { message: 'No.' } }];
      },
      soFar: nothing,
    };
    const { payload } = await serverOf(streaming(failing)).hapi.inject({ url: '/stream' });
    const data = 'data: {"message":"No."}\n\n';
    assert.equal(payload, `event: session_error\n${data}id: 7\nevent: error\n${data}`);
  });

  it('answers 204 once there will be nothing after the position', async () => {
    const over = { ...finished, isOver: (after: number) => after === 3 };
    const { hapi: ended } = serverOf(streaming(over));
    const at = (id: string, accept = 'text/event-stream') =>
      ended.inject({ url: '/stream', headers: { 'last-event-id': id, accept } });
    assert.deepEqual([(await at('3')).statusCode, (await at('3')).payload], [204, '']);
    assert.equal((await at('2')).statusCode, 200);
    assert.equal((await at('3', 'application/json')).statusCode, 200);
  });

  it('answers HEAD without opening the source', async () => {
    const answer = await hapi.inject({ method: 'HEAD', url: '/stream' });
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.payload, '');
  });
});

describe('a live stream', () => {
  it('sends each event when it happens', async (t) => {
    const { source, feed } = live();
    const { response } = await connect(t, source);
    for (const id of [1, 2]) {
      const received = once(response, 'data');
      feed.emit('event', eventOf(id));
      assert.match(String(await received), new RegExp(`^id: ${id}\n`));
    }
  });

  it('says that it is alive while nothing happens', async (t) => {
    const { response } = await connect(t, live().source, { heartbeatMs: 1 });
    assert.match(String(await once(response, 'data')), /^(:\n\n)+$/);
  });

  it('lets go of the source when the client leaves', async (t) => {
    const { source, feed, isAborted } = live();
    const { client } = await connect(t, source);
    const left = once(feed, 'left');
    client.destroy();
    await left;
    assert.equal(isAborted(), true);
  });

  it('ends at once when the server stops', async (t) => {
    const { source, feed } = live();
    const { hapi, response } = await connect(t, source);
    const over = Promise.all([once(feed, 'left'), once(response.resume(), 'end')]);
    await Promise.all([over, hapi.stop({ timeout: 60_000 })]);
  });

  it('is logged and ended when the source fails, for the client to resume', async (t) => {
    const failure = new Error('broken');
    const source: EventSource = {
      async *open() {
        yield [eventOf(1)];
        throw failure;
      },
      soFar: nothing,
    };
    const { response, logged } = await connect(t, source);
    await once(response.resume(), 'end');
    assert.deepEqual(logged, [{ details: { err: failure }, message: 'event stream failed' }]);
  });

  it('makes the bytes of a batch once, however many read it', async (t) => {
    let made = 0;
    const data = { toJSON: () => ++made };
    const batch = [eventOf(1, data)];
    const source: EventSource = {
      async *open() {
        yield batch;
      },
      soFar: nothing,
    };
    const { url } = await listen(t, streaming(source));
    const read = async () => (await fetch(`${url}/stream`)).text();
    const texts = await Promise.all(Array.from({ length: 20 }, read));
    assert.equal(made, 1);
    assert.deepEqual(new Set(texts), new Set(['id: 1\nevent: step\ndata: 1\n\n']));
  });

  it('makes the text of an event once, whatever else each reader gets', async (t) => {
    let made = 0;
    const events = [1, 2].map((id) => eventOf(id, { toJSON: () => ++made }));
    const source: EventSource = {
      async *open(after) {
        yield events.filter(({ id }) => id > after);
      },
      soFar: nothing,
    };
    const { url } = await listen(t, streaming(source));
    for (const after of [0, 1, 0, 1]) await (await fetch(`${url}/stream?after=${after}`)).text();
    assert.equal(made, 2);
  });

  it('reads the source no faster than the client does', async (t) => {
    const left = new EventEmitter();
    let made = 0;
    const source: EventSource = {
      async *open() {
        try {
          for (; made < 10_000; made++) yield [eventOf(made, 'x'.repeat(64 * 1024))];
        } finally {
          left.emit('left');
        }
      },
      soFar: nothing,
    };
    // Paused: what the kernel does not buffer waits at the server.
    const { client, response } = await connect(t, source);
    await once(response.pause(), 'readable');
    const over = once(left, 'left');
    client.destroy();
    await over;
    assert.ok(made > 0 && made < 10_000, `${made} of 10000 were read`);
  });
});
