import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  connect,
  type Dossier,
  NoConnection,
  Problem,
  type StreamEventOf,
} from '../../../lib/client/client.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { type Daemon, startDaemon } from '../../helpers/daemon.ts';
import { eventually } from '../../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

const WAITS = '```sh\nuntil test -e go; do sleep 0.05; done\n```\n';
const STREAM = 'GET /cases/{id}/sessions/{sid}/stream';

interface Place {
  daemon: Daemon;
  dossier: Dossier;
  /** Starts it again, on the same files and the same port. */
  again: () => Promise<Daemon>;
  /** The id of a Work item. */
  id: string;
}

const start = async (t: TestContext, description = 'Say hello.'): Promise<Place> => {
  const repository = await makeRepository(t);
  const args = ['--workspace', temporaryDirectory(t), '--repo', repository.root];
  const daemon = await startDaemon(t, args);
  const dossier = connect({ url: daemon.url });
  const body = { title: 'Hello', type: 'chore', description };
  const { id } = await dossier.call('POST /cases', { body });
  const again = () => startDaemon(t, [...args, '--port', new URL(daemon.url).port]);
  return { daemon, dossier, again, id };
};

/** A server that answers all with this. */
const serve = async (
  t: TestContext,
  answer: Parameters<typeof createServer>[1],
): Promise<string> => {
  const server = createServer(answer).listen(0, '127.0.0.1');
  atEnd(t, () => {
    server.close();
    server.closeAllConnections();
  });
  await eventually(() => assert.ok(server.listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

describe('call and request', () => {
  it('send JSON and answer JSON, with status, ETag and headers', async (t) => {
    const { dossier, id } = await start(t);
    const read = await dossier.request('GET /cases/{id}', { id });
    assert.equal(read.status, 200);
    assert.ok(read.status === 200 && read.data.title === 'Hello');
    assert.match(read.etag ?? '', /^[\w-]+$/);
    assert.match(read.headers.get('content-type') ?? '', /json/);
    const same = await dossier.request('GET /cases/{id}', { id, ifNoneMatch: read.etag });
    assert.deepEqual([same.status, same.data, same.etag], [304, undefined, read.etag]);
    const body = { title: 'Other' };
    const changed = await dossier.call('PUT /cases/{id}', { id, body, ifMatch: read.etag });
    assert.equal(changed.title, 'Other');
    const late = dossier.call('PUT /cases/{id}', { id, body, ifMatch: `"${read.etag}"` });
    await assert.rejects(late, { name: 'Problem', status: 412, code: 'precondition_failed' });
  });

  it('leave out what is undefined, and send a list with commas', async (t) => {
    const { dossier, id } = await start(t);
    const query = { state: undefined, type: 'chore', fields: 'id,title' };
    const listed = await dossier.call('GET /cases', { query });
    assert.deepEqual(listed, [{ id, title: 'Hello' }]);
    const events = await dossier.call('GET /events', {
      query: { types: ['case_created', 'case_deleted'], case_id: [id] },
    });
    assert.deepEqual(
      events.map(({ event }) => event),
      ['case_created'],
    );
  });

  it('make a call with an idempotencyKey once', async (t) => {
    const { dossier } = await start(t);
    const input = { body: { title: 'Once', type: 'chore' }, idempotencyKey: randomUUID() };
    const [first, second] = [
      await dossier.call('POST /cases', input),
      await dossier.call('POST /cases', input),
    ];
    assert.equal(first.id, second.id);
  });

  it('send Markdown as a string and answer it as one, under any name', async (t) => {
    const { dossier, id } = await start(t);
    const filename = 'notes.md';
    const body = '# Notes\n\nÄ "quoted" text.\n';
    await dossier.call('PUT /cases/{id}/memory/{filename}', { id, filename, body });
    assert.equal(await dossier.call('GET /cases/{id}/memory/{filename}', { id, filename }), body);
    for (const bad of ['.', '..', ''])
      await assert.rejects(
        dossier.call('GET /cases/{id}/memory/{filename}', { id, filename: bad }),
        TypeError,
      );
    const other = dossier.call('GET /cases/{id}/memory/{filename}', { id, filename: '../case.md' });
    await assert.rejects(other, Problem);
  });

  it('send a file as Blob, bytes or stream, and answer it with its body not read', async (t) => {
    const { dossier, id } = await start(t);
    const text = '{"is": "a file"}\n';
    const bytes = new TextEncoder().encode(text);
    const query = { type: 'log', name: 'run.json' };
    const sent = [new Blob([text]), bytes, bytes.buffer as ArrayBuffer, new Blob([text]).stream()];
    for (const body of sent) {
      const { id: pid } = await dossier.call('POST /cases/{id}/proof/files', { id, query, body });
      const file = await dossier.call('GET /cases/{id}/proof/{pid}/file', { id, pid });
      assert.equal(await file.text(), text);
    }
    const body = new Blob([text], { type: 'image/png' });
    const { id: pid } = await dossier.call('POST /cases/{id}/proof/files', { id, query, body });
    const part = await dossier.request('GET /cases/{id}/proof/{pid}/file', {
      ...{ id, pid },
      headers: { range: 'bytes=1-4' },
    });
    assert.equal(part.status, 206);
    assert.equal(await part.data.text(), '"is"');
    const zip = new Uint8Array(await (await dossier.call('GET /api/export')).arrayBuffer());
    assert.deepEqual([...zip.subarray(0, 2)], [...new TextEncoder().encode('PK')]);
  });

  it('answer undefined where there is nothing to say', async (t) => {
    const { dossier, id } = await start(t);
    assert.deepEqual(await dossier.call('DELETE /cases/{id}', { id }), undefined);
  });

  it('show the key', async (t) => {
    const url = await serve(t, ({ headers }, response) =>
      response.setHeader('content-type', 'text/plain').end(headers.authorization),
    );
    assert.equal(
      await connect({ url: `${url}/`, key: 'dk_1' }).call('GET /version'),
      'Bearer dk_1',
    );
  });
});

describe('a refusal', () => {
  it('is a Problem, with what the daemon sent', async (t) => {
    const { dossier } = await start(t);
    const call = dossier.call('POST /cases', { body: { title: '', type: 'chore' } });
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof Problem);
      assert.deepEqual([error.status, error.code], [400, 'bad_request']);
      assert.equal(error.title, 'The request is not valid');
      assert.equal(error.message, error.detail);
      assert.ok(Array.isArray(error.members.errors));
      return true;
    });
  });

  it('is one too where another server answers what is no JSON, or other JSON', async (t) => {
    for (const [text, detail] of [
      ['<h1>Bad gateway</h1>', '<h1>Bad gateway</h1>'],
      ['{"error":1}', '{"error":1}'],
      ['null', 'null'],
      ['', 'HTTP 502'],
    ]) {
      const url = await serve(t, (_, response) => response.writeHead(502).end(text));
      await assert.rejects(connect({ url }).call('GET /version'), {
        ...{ name: 'Problem', status: 502, code: 'unknown', title: 'HTTP 502', detail },
      });
    }
  });
});

describe('nobody who answers', () => {
  it('is a NoConnection that says what to do, and has the cause', async () => {
    const url = 'http://127.0.0.1:9';
    await assert.rejects(connect({ url }).call('GET /version'), (error) => {
      assert.ok(error instanceof NoConnection && error.cause instanceof Error);
      assert.match(error.message, /^No connection to a daemon at http:\/\/127\.0\.0\.1:9\. Is it/);
      return true;
    });
    const stream = connect({ url }).stream('GET /events');
    await assert.rejects(stream.next(), NoConnection);
  });

  it('is one too where the answer breaks off', async (t) => {
    const url = await serve(t, (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 9 });
      response.write('{"a');
      setImmediate(() => response.destroy());
    });
    await assert.rejects(connect({ url }).call('GET /version'), NoConnection);
  });

  it('is not what an abort is told as', async (t) => {
    const url = await serve(t, () => undefined);
    const signal = AbortSignal.abort(new Error('enough'));
    await assert.rejects(connect({ url }).call('GET /version', { signal }), { message: 'enough' });
  });
});

/** The daemon is killed while the plan waits; then it is approved, and what the work waits for comes. */
const play = async (
  { daemon, dossier, again, id }: Place,
  sid: string,
  { event, data }: StreamEventOf<typeof STREAM>,
): Promise<void> => {
  if (event === 'plan_ready') {
    await daemon.end('SIGKILL');
    await again();
    const body = { plan_sha256: data.plan_sha256 ?? undefined };
    await dossier.call('POST /cases/{id}/sessions/{sid}/approve', { id, sid, body });
  }
  if (event === 'tool_call') {
    const { path } = await dossier.call('GET /api/worktrees/{case_id}/status', { case_id: id });
    writeFileSync(join(path, 'go'), '');
  }
  if (event === 'complete') assert.equal(data.status, 'completed');
};

describe('stream', () => {
  it('goes on after a restart of the daemon, misses nothing, and ends with the session', async (t) => {
    const place = await start(t, WAITS);
    const { dossier, id } = place;
    const body = { type: 'implementing' };
    const { id: sid } = await dossier.call('POST /cases/{id}/sessions', { id, body });
    const told: string[] = [];
    const ids: number[] = [];
    const watch = { onOpen: () => void told.push('open'), onBreak: () => void told.push('break') };
    for await (const event of place.dossier.stream(STREAM, { id, sid, ...watch })) {
      ids.push(event.id);
      await play(place, sid, event);
    }
    const events = await dossier.call(STREAM, { id, sid });
    assert.deepEqual(
      ids,
      events.map((event) => event.id),
    );
    assert.deepEqual([told[0], told[1], told.at(-1)], ['open', 'break', 'open']);
    // Whoever comes after the end has nothing to wait for.
    const after = ids.at(-1) ?? 0;
    const late = dossier.stream(STREAM, { id, sid, query: { after } });
    assert.deepEqual(await late.next(), { done: true, value: undefined });
  });

  it('of all that happens has typed data, and ends at an abort', async (t) => {
    const { dossier, id } = await start(t);
    const abort = new AbortController();
    const states: string[] = [];
    const input = { query: { types: ['case_state_changed' as const] }, signal: abort.signal };
    const onOpen = () =>
      void dossier.call('PUT /cases/{id}/state', { id, body: { state: 'BLOCKED' } });
    for await (const { event, data } of dossier.stream('GET /events', { ...input, onOpen })) {
      assert.ok(event === 'case_state_changed');
      states.push(data.payload.new_state);
      abort.abort();
    }
    assert.deepEqual(states, ['BLOCKED']);
  });

  it('is refused with what the daemon says, and where something else is answered', async (t) => {
    const { dossier, id } = await start(t);
    const none = dossier.stream(STREAM, { id, sid: randomUUID() });
    await assert.rejects(none.next(), { name: 'Problem', code: 'not_found' });
    const url = await serve(t, (_, response) => response.end('<html>'));
    await assert.rejects(connect({ url }).stream('GET /events').next(), {
      ...{
        name: 'Problem',
        code: 'unknown',
        detail: 'The daemon returned nothing, not an event stream.',
      },
    });
  });
});
