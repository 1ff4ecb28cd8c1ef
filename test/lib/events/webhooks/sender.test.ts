import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { createSender } from '../../../../lib/events/webhooks/sender.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { openReceiver } from '../../../helpers/receiver.ts';

const serve = async (t: TestContext, listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

const senderOf = (t: TestContext, timeoutMs?: number) => {
  const sender = createSender(undefined, timeoutMs);
  atEnd(t, () => sender.close());
  return sender;
};

describe('send', () => {
  it('answers the status', async (t) => {
    const receiver = await openReceiver(t);
    receiver.script(418);

    const answer = await senderOf(t).send({ url: receiver.url, headers: {}, body: '{}' });

    assert.equal(answer?.status, 418);
    assert.equal(answer?.error, null);
  });

  it('waits no longer than its time for an answer', async (t) => {
    const receiver = await openReceiver(t);
    receiver.script('silence');

    const answer = await senderOf(t, 50).send({ url: receiver.url, headers: {}, body: '{}' });

    assert.equal(answer?.status, null);
    assert.equal(answer?.error, 'No answer within 0.05 s');
  });

  it('throws a long body away, and one that never ends', async (t) => {
    const dropped: Promise<void>[] = [];
    const url = await serve(t, (request, response) => {
      request.resume();
      dropped.push(new Promise((resolve) => response.on('close', resolve)));
      response.writeHead(200).write(Buffer.alloc(request.url === '/long' ? 1_000_000 : 1));
    });
    const sender = senderOf(t, 1000);

    const answers = await Promise.all(
      ['long', 'endless'].map((path) => sender.send({ url: url + path, headers: {}, body: '' })),
    );

    assert.deepEqual(
      answers.map((answer) => answer?.status),
      [200, 200],
    );
    await Promise.all(dropped);
  });

  it('has one connection at a time with a receiver whose bodies do not end', async (t) => {
    let open = 0;
    const url = await serve(t, (request, response) => {
      open += 1;
      request.resume();
      response.on('close', () => {
        open -= 1;
      });
      response.writeHead(200).write('.');
    });
    const sender = senderOf(t, 600_000);
    for (let sent = 0; sent < 3; sent += 1)
      assert.equal((await sender.send({ url, headers: {}, body: '' }))?.status, 200);

    await eventually(() => assert.ok(open <= 1, `${open} connections are open`), 10_000);
  });

  it('says why a URL that a file had cannot be called', async (t) => {
    const answer = await senderOf(t).send({ url: 'http://h:99999/', headers: {}, body: '' });

    assert.match(answer?.error ?? '', /^ERR_INVALID_URL/);
  });

  it('sends nothing to the daemon itself, by whatever name', async (t) => {
    const receiver = await openReceiver(t);
    const sender = createSender(() => receiver.url);
    atEnd(t, () => sender.close());
    const { port } = new URL(receiver.url);

    for (const host of ['127.0.0.1', 'localhost', '0.0.0.0', '[::ffff:127.0.0.1]', '2130706433']) {
      const url = `http://${host}:${port}/cases`;
      const answer = await sender.send({ url, headers: {}, body: '{}' });
      assert.equal(answer?.status, null, host);
      assert.match(answer?.error ?? '', /address of this daemon/, host);
    }
    assert.deepEqual(receiver.received, []);
  });

  it('knows nothing of what was under way when it was closed', async (t) => {
    const receiver = await openReceiver(t);
    receiver.script('silence');
    const sender = senderOf(t);
    const sending = sender.send({ url: receiver.url, headers: {}, body: '' });
    await receiver.atLeast(1);

    await sender.close();

    assert.equal(await sending, undefined);
    assert.equal(await sender.send({ url: receiver.url, headers: {}, body: '' }), undefined);
  });
});
