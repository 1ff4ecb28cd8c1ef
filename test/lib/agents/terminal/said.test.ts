import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { saidIn } from '../../../../lib/agents/terminal/said.ts';

const lines = (...all: unknown[]): string => all.map((each) => JSON.stringify(each)).join('\n');
const user = (content: unknown, more: object = {}) => ({
  ...{ type: 'user', message: { role: 'user', content } },
  ...more,
});

describe('saidIn', () => {
  it("finds the operator's messages among what Claude Code stores as the user's", () => {
    const text = lines(
      user('As typed'),
      user([{ type: 'text', text: 'In parts' }, { type: 'image' }]),
      user([{ type: 'tool_result', content: 'a file' }]),
      user('A note', { isMeta: true }),
      user('To a subagent', { isSidechain: true }),
      user('What came before', { isCompactSummary: true }),
      user('<command-name>/exit</command-name>'),
      user('[Request interrupted by user]'),
      { type: 'assistant', message: { content: 'An answer' } },
      null,
    );
    assert.deepEqual(saidIn(`${text}\n{"type":"us`, 'claude'), ['As typed', 'In parts']);
  });

  it('takes from Codex only the events of the operator, at most fifty', () => {
    const event = (type: string, message: unknown) => ({
      type: 'event_msg',
      payload: { type, message },
    });
    const text = lines(
      event('user_message', ' As typed '),
      event('agent_message', 'An answer'),
      { type: 'response_item', payload: { type: 'message', role: 'user', content: [] } },
      event('user_message', 7),
      event('user_message', '  '),
    );
    assert.deepEqual(saidIn(text, 'codex'), ['As typed']);
    const many = lines(...Array.from({ length: 60 }, (_, at) => event('user_message', `${at}`)));
    assert.equal(saidIn(many, 'codex').length, 50);
  });
});
