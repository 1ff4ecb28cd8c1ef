import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { atEnd } from './at-end.ts';
import { assertEvents } from './declared.ts';
import type { StreamEvent } from './sessions.ts';

export interface HttpClient {
  get(path: string): Promise<Record<string, unknown>>;
  post(path: string, body?: object): Promise<Record<string, unknown>>;
}

/** Calls a daemon over its socket; an answer that is an error fails the test. */
export const clientOf = (url: string): HttpClient => {
  const send = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    const text = await answer.text();
    assert.ok(answer.ok, text);
    return JSON.parse(text) as Record<string, unknown>;
  };
  return {
    get: (path) => send('GET', path),
    post: (path, body) => send('POST', path, body),
  };
};

export interface Reader {
  /** Resolves with the next event that it holds for. */
  until(holds: (event: string, data: Record<string, unknown>) => boolean): Promise<StreamEvent>;
  /** Every event so far and to come, once the server has ended the stream. */
  toEnd(): Promise<StreamEvent[]>;
  leave(): void;
}

/** Reads server-sent events from a socket. It is closed after the test. */
export const openStream = async (
  t: TestContext,
  url: string,
  headers: Record<string, string> = {},
): Promise<Reader> => {
  const cut = new AbortController();
  atEnd(t, () => cut.abort());
  const answer = await fetch(url, { headers, signal: cut.signal });
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/);
  const events: StreamEvent[] = [];
  // Locked at once: of a response that nobody holds, and that is not read yet, the garbage collector cancels the body.
  const source = eventsIn((answer.body as ReadableStream<Uint8Array>).values());
  const next = async (): Promise<StreamEvent | undefined> => {
    const { value, done } = await source.next();
    if (done === true) return undefined;
    assertEvents(new URL(url).pathname, [value]);
    events.push(value);
    return value;
  };
  return {
    until: async (holds) => {
      for (;;) {
        const event = await next();
        assert.ok(event, 'The stream ended before that');
        if (holds(event.event, event.data)) return event;
      }
    },
    toEnd: async () => {
      while ((await next()) !== undefined);
      return events;
    },
    leave: () => cut.abort(),
  };
};

/** Fails where what came of a stream is not as declared; what is none is let be. */
export const assertStream = (type: string, path: string, text: string): void => {
  if (!type.startsWith('text/event-stream')) return;
  assertEvents(path.split('?', 1)[0] ?? '', text.split('\n\n').flatMap(eventIn));
};

const eventsIn = async function* (body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let held = '';
  for await (const chunk of body) {
    held += decoder.decode(chunk, { stream: true });
    const blocks = held.split('\n\n');
    held = blocks.pop() ?? '';
    for (const block of blocks) yield* eventIn(block);
  }
};

const eventIn = (block: string): StreamEvent[] => {
  const [, id, event, data] = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(block) ?? [];
  if (id === undefined || event === undefined || data === undefined) return [];
  return [{ id: Number(id), event, data: JSON.parse(data) as StreamEvent['data'] }];
};
