import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { h } from 'preact';
import { render } from 'preact-render-to-string';
import type { Session, SessionEvent } from '../../../lib/client/client.ts';
import {
  addEvents,
  emptyActivity,
  prependEvents,
} from '../../../routes/console/parts/activity/activity.ts';
import { SessionStatus } from '../../../routes/console/parts/activity/status.tsx';
import { SessionPage } from '../../../routes/console/parts/frames.tsx';

describe('the activity of a session', () => {
  it('shows what else a command would run with', () => {
    const data = { request_id: 'a', title: 'ls', command: 'ls', other_arguments: '{"cwd":"/etc"}' };
    const asked = { id: 1, event: 'permission_request', data } as unknown as SessionEvent;
    const [entry] = addEvents(emptyActivity(1), [asked]).entries;
    assert.equal(entry?.kind === 'asked' && entry.other_arguments, '{"cwd":"/etc"}');
  });

  it('shows the output of a command that began before the loaded events', () => {
    const event = (id: number, name: string, data: object) =>
      ({ id, event: name, data: { tool_call_id: 'a', ...data } }) as SessionEvent;
    const call = { title: 'make', kind: 'execute', status: 'in_progress' };
    const later = addEvents(emptyActivity(3), [event(3, 'tool_output', { text: 'two\n' })]);
    const shown = ({ entries }: typeof later) =>
      entries.map((entry) => entry.kind === 'call' && [entry.title, entry.status, entry.output]);
    assert.deepEqual(shown(later), [
      ['Output of a command that began earlier', 'in_progress', 'two\n'],
    ]);
    const earlier = addEvents(emptyActivity(1), [
      event(1, 'tool_call', call),
      event(2, 'tool_output', { text: 'one\n' }),
    ]);
    const all = prependEvents(earlier, later);
    assert.deepEqual(shown(all), [['make', 'in_progress', 'one\ntwo\n']]);
    const ended = [event(4, 'tool_call', { ...call, status: 'completed', output: 'all' })];
    assert.deepEqual(shown(addEvents(all, ended)), [['make', 'completed', 'all']]);
    // Agents may call tools without a title.
    const failed = event(3, 'tool_call', { ...call, title: '', status: 'failed', output: 'no\n' });
    const known = prependEvents(earlier, addEvents(emptyActivity(3), [failed]));
    assert.deepEqual(shown(known), [['', 'failed', 'no\n']]);
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

describe('the page of a session', () => {
  it('says once what its work left uncommitted', () => {
    const message = '2 uncommitted files';
    const session = {
      ...{ id: 's', type: 'implementing', status: 'failed', mode: 'work', provider: 'runbook' },
      ...{ created_at: '2026-11-26T07:23:47Z', error: null, usage: null, branch: 'work' },
      commit: { id: null, files: 2, left_out: [], message },
    } as unknown as Session;
    const children = h(SessionStatus, { of: session, tail: undefined });
    const item = { id: 'i', title: 'Title' };
    const shown = render(h(SessionPage, { item, of: session, tab: 'Activity', children }));
    assert.equal(shown.split(message).length - 1, 1);
  });
});
