import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { ServiceError } from '../../../lib/errors.ts';
import { type Download, route } from '../../../lib/http/route.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { eventually } from '../../helpers/eventually.ts';
import { listen, serverOf } from './serve.ts';

const PART = Buffer.alloc(65_536, 'x');

const routesFor = (open: Download['open'], filename = 'a.zip') => [
  route('GET /file', {
    summary: 'Download',
    produces: 'application/zip',
    handler: () => ({ filename, type: 'application/zip', open }),
  }),
];

/** A file without an end, of which is known how much was made and whether it was let go. */
const endless = () => {
  const state = { made: 0, isOver: false, signal: undefined as AbortSignal | undefined };
  const open: Download['open'] = async function* (signal) {
    state.signal = signal;
    try {
      for (; ; state.made += 1) yield PART;
    } finally {
      state.isOver = true;
    }
  };
  return { state, open };
};

const connect = async (t: TestContext, open: Download['open']) => {
  const server = await listen(t, routesFor(open));
  const client = get(`${server.url}/file`);
  client.on('error', () => undefined);
  const [response] = (await once(client, 'response')) as [IncomingMessage];
  atEnd(t, () => client.destroy());
  response.on('error', () => undefined);
  return { ...server, client, response };
};

describe('sendDownload', () => {
  it('sends all parts under a name, not to be kept by caches', async () => {
    const open = async function* () {
      yield Buffer.from('one ');
      yield Buffer.from('two');
    };
    const answer = await serverOf(routesFor(open)).hapi.inject('/file');
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.payload, 'one two');
    assert.equal(answer.headers['content-type'], 'application/zip');
    assert.equal(answer.headers['content-disposition'], 'attachment; filename="a.zip"');
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.equal(answer.headers.etag, undefined);
  });

  it('names a file in both forms where the plain one cannot say it', async () => {
    const { hapi } = serverOf(routesFor(endless().open, `Büro "1".zip`));
    const { headers } = await hapi.inject({ method: 'HEAD', url: '/file' });
    assert.equal(
      headers['content-disposition'],
      `attachment; filename="B_ro _1_.zip"; filename*=UTF-8''B%C3%BCro%20%221%22.zip`,
    );
  });

  it('makes nothing for HEAD', async () => {
    const { state, open } = endless();
    const answer = await serverOf(routesFor(open)).hapi.inject({ method: 'HEAD', url: '/file' });
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.payload, '');
    assert.equal(state.signal, undefined);
  });

  it('answers what fails before the first byte as a problem', async () => {
    const refusal = new ServiceError('too_many_exports', 'Try again later.');
    const open = async function* () {
      yield await Promise.reject<Buffer>(refusal);
    };
    const { hapi, logged } = serverOf(routesFor(open));
    const answer = await hapi.inject('/file');
    assert.equal(answer.statusCode, 429);
    assert.equal(JSON.parse(answer.payload).code, 'too_many_exports');
    assert.equal(answer.headers['content-disposition'], undefined);
    assert.deepEqual(logged, []);
  });

  it('breaks the connection at an error in the middle, and logs it', async (t) => {
    const trouble = new EventEmitter();
    const open = async function* () {
      yield PART;
      await once(trouble, 'now');
      throw new Error('The disk is broken');
    };
    const { response, logged } = await connect(t, open);
    const broken = once(response, 'aborted');
    response.resume();
    await eventually(() => assert.ok(trouble.emit('now')));
    await broken;
    assert.equal(response.complete, false);
    assert.equal(logged[0]?.message, 'download failed');
  });

  it('makes no more than a slow client takes', async (t) => {
    const { state, open } = endless();
    const { response } = await connect(t, open);
    response.pause();
    let before = -1;
    await eventually(() => {
      const made = state.made;
      const isSame = made === before;
      before = made;
      assert.ok(isSame && made > 0);
    });
    response.resume();
    await eventually(() => assert.ok(state.made > before + 10));
  });

  it('ends what is made when the client leaves, and logs nothing', async (t) => {
    const { state, open } = endless();
    const { client, logged } = await connect(t, open);
    client.destroy();
    await eventually(() => assert.ok(state.isOver));
    assert.equal(state.signal?.aborted, true);
    assert.deepEqual(logged, []);
  });

  it('lets go of a client that leaves before the first byte', async (t) => {
    const asked = new EventEmitter();
    let isOver = false;
    const open: Download['open'] = async function* (signal) {
      asked.emit('opened');
      try {
        await once(asked, 'never', { signal });
        yield PART;
      } finally {
        isOver = true;
      }
    };
    const { url, logged } = await listen(t, routesFor(open));
    const opened = once(asked, 'opened');
    const client = get(`${url}/file`).on('error', () => undefined);
    await opened;
    client.destroy();
    await eventually(() => assert.ok(isOver));
    assert.deepEqual(logged, []);
  });

  it('is broken off when the server stops', async (t) => {
    const { state, open } = endless();
    const { response, hapi } = await connect(t, open);
    const broken = once(response, 'aborted');
    response.resume();
    await hapi.stop({ timeout: 10_000 });
    await broken;
    assert.equal(response.complete, false);
    await eventually(() => assert.ok(state.isOver));
  });
});
