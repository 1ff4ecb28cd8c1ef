import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addWaiting,
  noMessages,
  takeWaiting,
} from '../../../../../lib/work/sessions/live/messages.ts';

describe('addWaiting', () => {
  it('interrupts for no message that a run has loaded from the record and sent with its prompt', () => {
    const message = { id: 'one', text: 'One.' };
    const messages = { ...noMessages(), waiting: [message] };
    assert.deepEqual(takeWaiting(messages), ['One.']);
    assert.equal(addWaiting(messages, message), false);
    assert.deepEqual(takeWaiting(messages), []);
  });

  it('adds a message once, and interrupts for one that no prompt has', () => {
    const message = { id: 'one', text: 'One.' };
    const messages = { ...noMessages(), waiting: [message] };
    assert.equal(addWaiting(messages, message), true);
    assert.equal(addWaiting(messages, { id: 'two', text: 'Two.' }), true);
    assert.deepEqual(takeWaiting(messages), ['One.', 'Two.']);
  });
});
