import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linesAdded, saidIn } from '../../../../lib/agents/terminal/said.ts';

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

  it('takes from Gemini CLI what was typed, without results of tools and earlier messages', () => {
    const text = lines(
      { sessionId: 'a', kind: 'main' },
      { $set: { messages: [{ type: 'user', content: [{ text: 'Said before' }] }] } },
      { type: 'user', content: [{ text: 'As ' }, { text: 'typed' }] },
      { type: 'user', content: [{ functionResponse: { response: { output: 'a file' } } }] },
      {
        ...{ type: 'user', content: [{ text: 'Read @a.txt' }, { text: 'its content' }] },
        displayContent: [{ text: 'Read @a.txt' }],
      },
      { type: 'user', content: [{ text: 'System: Potential loop detected. Details: none' }] },
      { type: 'gemini', content: 'An answer' },
    );
    assert.deepEqual(saidIn(text, 'gemini'), ['As typed', 'Read @a.txt']);
  });

  it('takes from Qwen Code what was typed, without prompts of its own', () => {
    const message = (text: string) => ({ role: 'user', parts: [{ text }] });
    const text = lines(
      { type: 'user', message: message('As typed') },
      { type: 'user', subtype: 'cron', message: message('By the clock') },
      { type: 'tool_result', message: { role: 'user', parts: [{ functionResponse: {} }] } },
      { type: 'assistant', message: { role: 'model', parts: [{ text: 'An answer' }] } },
    );
    assert.deepEqual(saidIn(text, 'qwen'), ['As typed']);
  });

  it("takes from OpenCode's history prompts with what was pasted, without commands of a shell", () => {
    const source = { text: { start: 5, end: 22, value: '[Pasted ~3 lines]' } };
    const text = lines(
      { input: 'As typed', parts: [], mode: 'normal' },
      { input: 'Read [Pasted ~3 lines]!', parts: [{ type: 'text', text: '$& a', source }] },
      { input: 'See [Image 1]', parts: [{ type: 'file', source }], mode: 'normal' },
      { input: 'ls', parts: [], mode: 'shell' },
      { input: 7, parts: [{ type: 'text', text: 'a', source }] },
    );
    assert.deepEqual(saidIn(text, 'opencode'), ['As typed', 'Read $& a!', 'See [Image 1]']);
  });
});

describe('linesAdded', () => {
  it('finds what was appended', () => {
    assert.equal(linesAdded('a\nb\n', 'a\nb\nb\n'), 'b\n');
    assert.equal(linesAdded('', 'a\n'), 'a\n');
    assert.equal(linesAdded('a\n', 'a\n'), '');
  });

  it('finds it in a file that lost its oldest lines', () => {
    assert.equal(linesAdded('a\nb\nc\n', 'b\nc\na\nb\n'), 'a\nb\n');
    assert.equal(linesAdded('a\nb\n', 'c\nd\n'), 'c\nd\n');
    assert.equal(linesAdded('a\nodd\nb\n', 'a\nb\nc\n'), 'c\n');
    assert.equal(linesAdded('a\nb\n', ''), '');
  });
});
