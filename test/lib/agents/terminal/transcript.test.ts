import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { STATE_RULES } from '../../../../lib/agents/state-rules.ts';
import { openTranscript } from '../../../../lib/agents/terminal/terminal.ts';
import { temporaryDirectory, writeFiles } from '../../../helpers/repository.ts';

const lines = (...all: object[]): string => all.map((each) => `${JSON.stringify(each)}\n`).join('');

/** Opens the transcript of a conversation in the copy of one place of an agent's state. */
const opened = async (
  t: TestContext,
  { agent, place, id }: { agent: 'gemini' | 'opencode'; place: string; id: string },
  files: Record<string, string>,
) => {
  const copy = temporaryDirectory(t);
  writeFiles(copy, files);
  const rules = STATE_RULES[place];
  const state = [{ path: `/home/me/${place}`, ...(rules && { rules }) }];
  const binds = [{ from: copy, to: `/home/me/${place}`, write: true }];
  const spec = { binds, cwd: '/work/tree', native_session_id: id } as never;
  const { said } = await openTranscript({ state, transcript: agent }, spec);
  return { said, copy };
};

describe('openTranscript', () => {
  it('finds the conversation of Gemini CLI, whose file has the beginning of its id', async (t) => {
    const id = 'fd84bb33-f9a6-4254-aefb-837a0e7064ff';
    const other = 'fd84bb33-0000-4254-aefb-837a0e7064ff';
    const file = (at: string) => `tmp/tree/chats/session-2026-11-27T08-1${at}-fd84bb33.jsonl`;
    const said = (text: string) => lines({ type: 'user', content: [{ text }] });
    const gemini = await opened(
      t,
      { agent: 'gemini', place: '.gemini', id },
      {
        [file('1')]: lines({ sessionId: other, kind: 'main' }),
        [file('2')]: `${lines({ sessionId: id, kind: 'main' })}${said('The prompt')}`,
      },
    );
    appendFileSync(join(gemini.copy, file('1')), said('To another'));
    appendFileSync(join(gemini.copy, file('2')), said('As typed'));
    assert.deepEqual(await gemini.said(), ['As typed']);
  });

  it("reads OpenCode's history of prompts, from before and from its first one", async (t) => {
    const place = { agent: 'opencode', place: '.local/state/opencode', id: 'ses_1' } as const;
    const prompt = (input: string) => lines({ input, parts: [], mode: 'normal' });
    const first = await opened(t, place, {});
    assert.deepEqual(await first.said(), []);
    writeFileSync(join(first.copy, 'prompt-history.jsonl'), prompt('As typed'));
    assert.deepEqual(await first.said(), ['As typed']);
    const later = await opened(t, place, { 'prompt-history.jsonl': prompt('Elsewhere') });
    appendFileSync(join(later.copy, 'prompt-history.jsonl'), prompt('As typed'));
    assert.deepEqual(await later.said(), ['As typed']);
  });
});
