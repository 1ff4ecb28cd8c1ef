/** A proxy of the operator's behind the way out of a run. */
import assert from 'node:assert/strict';
import { request as ask, createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { CONNECT, echo, GET, listen, onPort, openEgress, worldWith } from '../helpers/egress.ts';

interface Asked {
  method: string | undefined;
  url: string | undefined;
  authorization: string | undefined;
}

/** A small proxy that leads every name to loopback, and keeps what it was asked. */
const upstream = async (t: TestContext): Promise<{ port: number; asked: Asked[] }> => {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    asked.push(told(request));
    const { port } = new URL(request.url ?? '');
    const onward = ask({ host: '127.0.0.1', port, path: '/', method: request.method });
    onward.on('response', (answer) => answer.pipe(response)).end();
  });
  server.on('connect', (request, socket) => {
    asked.push(told(request));
    if (request.url?.startsWith('refused.'))
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const far = connect({ port: Number(request.url?.split(':').at(-1)), host: '127.0.0.1' });
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    return void far.pipe(socket).pipe(far);
  });
  return { port: await onPort(t, server), asked };
};

const told = ({ method, url, headers }: IncomingMessage): Asked => ({
  method,
  url,
  authorization: headers['proxy-authorization'],
});

const BASIC = `Basic ${Buffer.from('me:s3cret').toString('base64')}`;

describe("the operator's own proxy", () => {
  it('is what a run goes through, with credentials that the run does not see', async (t) => {
    const goal = await listen(t, echo);
    const web = await onPort(
      t,
      createServer((_request, response) => response.end('from the web')),
    );
    const { port, asked } = await upstream(t);
    const env = { https_proxy: `http://me:s3cret@127.0.0.1:${port}`, HTTP_PROXY: '' };
    const both = { ...env, HTTP_PROXY: env.https_proxy };
    const egress = openEgress(t, { env: both });
    assert.match(await egress.say(`${CONNECT(`far.example:${goal}`)}hello`), /200[\s\S]*hello$/);
    assert.match(await egress.say(GET(`http://web.example:${web}/`)), /200[\s\S]*from the web/);
    assert.deepEqual(asked, [
      { method: 'CONNECT', url: `far.example:${goal}`, authorization: BASIC },
      { method: 'GET', url: `http://web.example:${web}/`, authorization: BASIC },
    ]);
    assert.doesNotMatch(
      JSON.stringify([egress.environment({}), egress.own, egress.told]),
      /s3cret/,
    );
    assert.match(await egress.say(CONNECT('refused.example:1')), /502[\s\S]*answered 407/);
    const denied = await egress.say(CONNECT('refused.example:1'));
    assert.doesNotMatch(denied, /s3cret|proxy-auth/i);
  });

  it('is passed by where NO_PROXY says so, and never because it cannot be used', async (t) => {
    const goal = await listen(t, echo);
    const world = worldWith({ 'near.example': ['127.0.0.1'] }, { here: () => true });
    const env = { ALL_PROXY: 'socks5://127.0.0.1:9', NO_PROXY: 'near.example' };
    const egress = openEgress(t, { env, world });
    assert.match(await egress.say(`${CONNECT(`near.example:${goal}`)}hello`), /hello$/);
    for (const way of [CONNECT(`far.example:${goal}`), GET(`http://far.example:${goal}/`)])
      assert.match(await egress.say(way), /403[\s\S]*HTTPS_PROXY/);
  });

  it('leads back to nothing of this machine', async (t) => {
    const daemon = await onPort(
      t,
      createServer((_request, response) => {
        response.setHeader('x-dossier', '1');
        response.end('the API');
      }),
    );
    const other = await listen(t, echo);
    const { port, asked } = await upstream(t);
    const world = worldWith({ 'loops.example': ['127.0.0.1'] });
    const egress = openEgress(t, { env: { ALL_PROXY: `http://127.0.0.1:${port}` }, world });
    for (const [host, at] of [
      ['127.0.0.1', other],
      ['localhost', other],
      ['this-machine', other],
      ['loops.example', other],
      ['unknown.example', daemon],
      ['[::ffff:127.0.0.1]', other],
    ] as const) {
      for (const way of [CONNECT(`${host}:${at}`), GET(`http://${host}:${at}/`)])
        assert.match(await egress.say(way), /^HTTP\/1\.1 403/, way);
    }
    assert.deepEqual(asked, []);
  });
});
