/** Services of this machine that a run may reach all the same, and the one kind that it never reaches. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { createDaemonProbe } from '../../lib/sandbox/egress/network-environment.ts';
import { startHere } from '../helpers/daemon-here.ts';
import { CONNECT, echo, GET, listen, onPort, openEgress, worldWith } from '../helpers/egress.ts';
import { temporaryDirectory } from '../helpers/repository.ts';

const IPV6 = await new Promise<boolean>((resolve) => {
  const server = createServer()
    .listen(0, '::1', () => server.close(() => resolve(true)))
    .once('error', () => resolve(false));
});

const daemon = async (t: TestContext, more: string[] = []): Promise<number> => {
  const { url } = await startHere(t, ['--workspace', temporaryDirectory(t), ...more]);
  return Number(new URL(url).port);
};

describe('allow_local', () => {
  it('leads to a plain TCP service, by its own port and by the proxy', async (t) => {
    const port = await listen(t, echo);
    const egress = openEgress(t, { rules: { allow_local: [`localhost:${port}`] } });
    assert.equal(await egress.say('hello', '1'), 'hello');
    assert.match(await egress.say(`${CONNECT(`127.0.0.1:${port}`)}hello`), /200[\s\S]*hello$/);
    assert.match(await egress.say(CONNECT(`127.0.0.1:${port + 1}`)), /403/);
    assert.deepEqual(egress.told[0], { host: 'localhost', port, allowed: true });
    assert.ok(egress.own.relay.includes(`${port}=1`));
  });

  it('lists by itself what a variable of the agent leads to, and not its proxy', async (t) => {
    const port = await listen(t, echo);
    const given = { MODEL_URL: `http://127.0.0.1:${port}/v1` };
    assert.equal(await openEgress(t, { given }).say('hello', '1'), 'hello');
    const proxy = openEgress(t, { given: { HTTPS_PROXY: `http://127.0.0.1:${port}` } });
    assert.ok(!proxy.own.relay.some((word) => word.startsWith(`${port}=`)));
  });

  it('passes on what follows half of a conversation that has ended', async (t) => {
    const port = await listen(t, (socket) => {
      let heard = '';
      socket.on('data', (chunk: Buffer) => {
        heard += chunk.toString();
      });
      socket.once('end', () => socket.end(`heard ${heard}`));
    });
    const egress = openEgress(t, { rules: { allow_local: [`127.0.0.1:${port}`] } });
    assert.equal(await egress.say('all of it', '1'), 'heard all of it');
  });

  it('never leads to a Dossier daemon: not to another one, however it is listed', async (t) => {
    const port = await daemon(t);
    for (const host of ['127.0.0.1', 'localhost', '0.0.0.0']) {
      const egress = openEgress(t, { rules: { allow_local: [`${host}:${port}`] } });
      assert.equal(await egress.say(GET('/version'), '1'), '', host);
      assert.match(await egress.say(CONNECT(`127.0.0.1:${port}`)), /403[\s\S]*Dossier daemon/);
      assert.match(await egress.say(GET(`http://localhost:${port}/version`)), /403/);
      assert.ok(egress.told.length > 0 && egress.told.every(({ allowed }) => !allowed));
    }
    const given = { BASE_URL: `http://127.0.0.1:${port}/v1` };
    assert.equal(await openEgress(t, { given }).say(GET('/version'), '1'), '');
  });

  it('never leads to one that listens on ::1', { skip: !IPV6 && 'no IPv6' }, async (t) => {
    const server = createServer((_request, response) => {
      response.setHeader('x-dossier', '1');
      response.end('{}');
    });
    const port = await onPort(t, server, '::1');
    for (const target of [`[::1]:${port}`, `localhost:${port}`]) {
      const egress = openEgress(t, { rules: { allow_local: [target] } });
      assert.equal(await egress.say(GET('/version'), '1'), '', target);
    }
  });

  it('never leads to one that came where another service was, nor to our own', async (t) => {
    const probe = createDaemonProbe(() => 4870);
    assert.equal(await probe.ask('127.0.0.1', 4870), 'daemon');
    const first = createServer((_request, response) => response.end('other'));
    const port = await onPort(t, first);
    const world = worldWith({});
    const egress = openEgress(t, { world, rules: { allow_local: [`127.0.0.1:${port}`] } });
    assert.match(await egress.say(GET('/'), '1'), /other/);
    first.close();
    first.closeAllConnections();
    await once(first, 'close');
    const second = createServer((_request, response) => {
      response.setHeader('X-Dossier', '1');
      response.end('the API');
    });
    await onPort(t, second, '127.0.0.1', port);
    assert.equal(await egress.say(GET('/'), '1'), '');
  });

  it('waits for no service that says nothing, and does not lead to it unseen', {
    timeout: 30_000,
  }, async (t) => {
    const port = await listen(t, () => undefined);
    const egress = openEgress(t, { rules: { allow_local: [`127.0.0.1:${port}`] } });
    assert.equal(await egress.say('hello', '1'), '');
    assert.match(
      await egress.say(CONNECT(`127.0.0.1:${port}`)),
      /502[\s\S]*does not answer and may be a Dossier daemon/,
    );
  });
});
