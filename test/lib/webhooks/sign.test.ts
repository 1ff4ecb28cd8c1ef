import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { signatures } from '../../../lib/webhooks/sign.ts';
import { newSecret } from '../../../store/secrets.ts';

const ID = 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6';
const body = '{"event_type":"case_updated","title":"ä€😀"}';

describe('signatures', () => {
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
