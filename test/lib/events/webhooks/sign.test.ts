import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { receiveWebhook } from '../../../../examples/receive-webhook.ts';
import { signatures } from '../../../../lib/events/webhooks/sign.ts';
import { newSecret } from '../../../../store/webhooks/secrets.ts';

const ID = 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6';
const body = '{"event_type":"case_updated","title":"ä€😀"}';

interface Verifier {
  verify(body: string, headers: object): unknown;
}

// By their names at run time: their types want settings of the compiler that are not ours.
const [SVIX, OCTOKIT] = ['svix', '@octokit/webhooks-methods'];

describe('signatures', () => {
  for (const secret of [newSecret(), 'a secret of my own'])
    it(`satisfies svix and the library of GitHub's webhooks: ${secret.slice(0, 6)}`, async () => {
      const svix = await import(SVIX);
      const headers = signatures(secret, { id: ID, body, at: new Date() });
      const options = secret.startsWith('whsec_') ? {} : { format: 'raw' };
      const verifier: Verifier = new svix.Webhook(secret, options);
      assert.deepEqual(verifier.verify(body, headers), JSON.parse(body));
      assert.throws(() => verifier.verify(`${body} `, headers));
      const { verify } = await import(OCTOKIT);
      const signature = headers['X-Service-Signature'];
      assert.equal(await verify(secret, body, signature), true);
      assert.equal(await verify(secret, `${body} `, signature), false);
    });

  it('satisfies the example, whichever secret it is', async () => {
    for (const secret of [newSecret(), 'a secret of my own']) {
      const kept: string[] = [];
      const signed = signatures(secret, { id: ID, body, at: new Date() });
      const lower = Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value]);
      const request = Object.assign(Readable.from([Buffer.from(body)]), {
        headers: Object.fromEntries(lower),
      });
      const answers: number[] = [];
      const response = {
        writeHead: (status: number) => ({ end: () => answers.push(status) }),
      };
      await receiveWebhook(
        request as unknown as IncomingMessage,
        response as unknown as ServerResponse,
        secret,
        (_event, id) => void kept.push(id),
      );
      assert.deepEqual([answers, kept], [[204], [ID]]);
    }
  });

  it('covers the raw body with the secret as it is written', () => {
    const secret = newSecret();

    const headers = signatures(secret, { id: ID, body, at: new Date() });

    const expected = createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('hex');
    assert.equal(headers['X-Service-Signature'], `sha256=${expected}`);
  });

  it('satisfies a stock verifier with a secret that the daemon made', () => {
    const secret = newSecret();

    const headers = signatures(secret, { id: ID, body, at: new Date() });

    assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));
    assert.throws(() => new Webhook(secret).verify(`${body} `, headers));
    assert.throws(() => new Webhook(newSecret()).verify(body, headers));
  });

  for (const secret of ['plain words', 'whsec_not base64', 'whsec_abc', 'whsec_']) {
    it(`keys with the bytes of ${JSON.stringify(secret)}, which is no encoded key`, () => {
      const headers = signatures(secret, { id: ID, body, at: new Date() });

      const verifier = new Webhook(secret, { format: 'raw' });
      assert.deepEqual(verifier.verify(body, headers), JSON.parse(body));
    });
  }
});
