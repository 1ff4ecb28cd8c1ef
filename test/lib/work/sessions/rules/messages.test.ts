import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addMessage, markDelivered } from '../../../../../lib/work/sessions/rules/messages.ts';
import type { MessageMatter } from '../../../../../store/records/message.ts';
import {
  type Session,
  type SessionMatter,
  STATUSES,
} from '../../../../../store/records/session.ts';

const AT = '2026-11-25T10:00:00.000Z';

const messageOf = (id: string): Omit<MessageMatter, 'mode' | 'delivered_at'> => ({
  id,
  at: AT,
  file: 'message.md',
  sha256: 'a'.repeat(64),
});

const sessionIn = (status: Session['status'], messages?: MessageMatter[]) => {
  const mode = status === 'working' || status === 'completed' ? 'work' : 'plan';
  return [{ status, mode } as Session, { status, mode, messages } as SessionMatter] as const;
};

describe('addMessage', () => {
  it('keeps it in every session that has not ended, and moves none but one whose plan waits', () => {
    for (const status of STATUSES) {
      const change = addMessage(messageOf('one'), 'marker')(...sessionIn(status));
      const isOver = ['completed', 'failed', 'aborted'].includes(status);
      assert.equal(change === undefined, isOver, status);
      assert.equal(change?.status, status === 'plan_ready' ? 'planning' : undefined);
      assert.equal(change?.mode, undefined);
    }
  });

  it('keeps the same one once, and 100 at most', () => {
    const many = Array.from({ length: 100 }, (_, at) => ({
      ...messageOf(`m${at}`),
      mode: 'work' as const,
      delivered_at: null,
    }));
    assert.equal(addMessage(messageOf('m3'), 'marker')(...sessionIn('working', many)), undefined);
    assert.throws(() => addMessage(messageOf('more'), 'marker')(...sessionIn('working', many)), {
      code: 'invalid_state',
    });
  });

  it('is refused where the session was started elsewhere', () => {
    const [session, matter] = sessionIn('working');
    const unconfirmed = { ...session, id: 'x', case_id: 'y', unconfirmed: 'started' as const };
    assert.throws(() => addMessage(messageOf('one'), 'marker')(unconfirmed, matter), {
      code: 'approved_elsewhere',
    });
  });
});

describe('markDelivered', () => {
  it('marks each once, at its first time', () => {
    const message = { ...messageOf('one'), mode: 'work' as const, delivered_at: null };
    const change = markDelivered(['one'], AT)(...sessionIn('working', [message]));
    assert.deepEqual(change, { messages: [{ ...message, delivered_at: AT }] });
    const again = change?.messages as MessageMatter[];
    assert.equal(markDelivered(['one'], 'later')(...sessionIn('working', again)), undefined);
  });
});
