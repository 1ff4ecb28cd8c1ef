import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SessionEvent } from '../../../lib/client/client.ts';
import { addEvents, emptyActivity } from '../../../routes/console/parts/activity/activity.ts';

describe('the activity of a session', () => {
  it('shows what else a command would run with', () => {
    const data = { request_id: 'a', title: 'ls', command: 'ls', other_arguments: '{"cwd":"/etc"}' };
    const asked = { id: 1, event: 'permission_request', data } as unknown as SessionEvent;
    const [entry] = addEvents(emptyActivity(1), [asked]).entries;
    assert.equal(entry?.kind === 'asked' && entry.other_arguments, '{"cwd":"/etc"}');
  });

  it('says how a permission was decided, and by whom', () => {
    const resolved = (id: number, data: object) =>
      ({ id, event: 'permission_resolved', data }) as SessionEvent;
    const { entries } = addEvents(emptyActivity(1), [
      resolved(1, { request_id: 'a', title: 'ls', option_id: 'allow', by: 'operator' }),
      resolved(2, { request_id: 'b', title: 'ls', option_id: null, by: 'policy' }),
      resolved(3, { request_id: 'c', title: 'ls', option_id: null, by: 'daemon' }),
    ]);
    assert.deepEqual(
      entries.map((entry) => entry.kind === 'asked' && entry.outcome),
      ['answered allow, by you', 'cancelled, by the policy', 'cancelled, by the daemon'],
    );
  });
});
