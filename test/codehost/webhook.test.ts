import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { deliveryOf, exampleEvents, webhookDelivery } from './webhook.ts';

describe('webhookDelivery', () => {
  it('signs the bytes of an example of GitHub, with the fields that are set', () => {
    const { body, headers, payload } = webhookDelivery('geheim', {
      event: 'pull_request',
      action: 'closed',
      set: { 'repository.full_name': 'acme/app', 'pull_request.number': 7, number: 7 },
    });
    assert.deepEqual(JSON.parse(body), payload);
    assert.equal(payload.action, 'closed');
    assert.equal(payload.number, 7);
    assert.equal((payload.repository as { full_name: string }).full_name, 'acme/app');
    assert.equal(headers['x-github-event'], 'pull_request');
    const digest = createHmac('sha256', 'geheim').update(Buffer.from(body)).digest('hex');
    assert.equal(headers['x-hub-signature-256'], `sha256=${digest}`);
  });

  it('gives each its own id, and leaves the examples as they are', () => {
    const make = (number: number) =>
      webhookDelivery('s', { event: 'issues', set: { 'issue.number': number } });
    const [one, two] = [make(1), make(2)];
    assert.match(one.headers['x-github-delivery'] ?? '', /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    assert.notEqual(one.headers['x-github-delivery'], two.headers['x-github-delivery']);
    assert.notEqual(webhookDelivery('s', { event: 'issues' }).body, two.body);
  });

  it('knows what GitHub sends', () => {
    const events = exampleEvents();
    for (const event of ['ping', 'issues', 'pull_request', 'pull_request_review', 'check_run']) {
      assert.ok(events.includes(event), event);
    }
    assert.throws(() => webhookDelivery('s', { event: 'no_such_event' }), /no example/);
    assert.equal(deliveryOf('s', 'ping', { zen: 'x' }).body, '{"zen":"x"}');
  });
});
