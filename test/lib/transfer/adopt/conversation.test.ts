import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConversation } from '../../../../lib/transfer/adopt/conversation.ts';
import { transcriptOf } from '../../../helpers/conversations.ts';

const lines = (...all: unknown[]): string => all.map((each) => JSON.stringify(each)).join('\n');

describe('readConversation', () => {
  it('reads a plan of Claude Code, which nobody approved', () => {
    const read = readConversation('claude', transcriptOf('planned', '/home/me/app'));
    assert.deepEqual(
      { ...read, plan: read.plan?.split('\n')[0] },
      {
        said: ['Greet by name, not only the world'],
        answer: 'The plan is ready.',
        plan: '# Greet by name',
        files: [],
        title: undefined,
        directory: '/home/me/app',
        branch: 'main',
      },
    );
  });

  it('reads what Claude Code changed, and its last answer', () => {
    const read = readConversation('claude', transcriptOf('worked', '/home/me/app'));
    assert.deepEqual(read.files, ['/home/me/app/bye.sh']);
    assert.equal(read.answer, 'bye.sh says goodbye. Tests for it are still missing.');
  });

  it('reads a session of Codex, with its steps as a plan', () => {
    const read = readConversation('codex', transcriptOf('codex', '/home/me/app'));
    assert.deepEqual(read, {
      said: ['Count the words of greet.sh'],
      answer: 'greet.sh has 3 words. words.txt is not written yet.',
      plan: '- [ ] Count the words of greet.sh with wc\n- [ ] Write the count to words.txt',
      files: [],
      title: undefined,
      directory: '/home/me/app',
      branch: 'main',
    });
  });

  it('names the files of a patch of Codex, and the name that a session was given', () => {
    const patch = '*** Begin Patch\n*** Update File: a b.ts\n@@\n*** Add File: c.ts\n*** End Patch';
    const call = { type: 'custom_tool_call', name: 'apply_patch', input: patch };
    const inShell = { type: 'function_call', arguments: JSON.stringify({ cmd: patch }) };
    const read = readConversation(
      'codex',
      lines({ type: 'response_item', payload: call }, { type: 'response_item', payload: inShell }),
    );
    assert.deepEqual(read.files, ['a b.ts', 'c.ts']);
    const named = lines({ type: 'summary', summary: 'First' }, { customTitle: 'Mine' });
    assert.equal(readConversation('claude', named).title, 'Mine');
  });

  it('finds nothing in what is no transcript, and fails on none of it', () => {
    const nothing = {
      said: [],
      answer: undefined,
      plan: undefined,
      files: [],
      title: undefined,
      directory: undefined,
      branch: undefined,
    };
    for (const agent of ['claude', 'codex'] as const)
      for (const text of ['', '{', 'null\n7\n[]\n"x"', lines({ type: 'assistant', message: 7 })])
        assert.deepEqual(readConversation(agent, text), nothing, `${agent}: ${text}`);
  });
});
