import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOutput } from '../../../../lib/cli/output/out.ts';
import { createEventPrinter } from '../../../../lib/cli/verbs/tail.ts';
import type { SessionEvent } from '../../../../lib/client/client.ts';

const call = (tool_call_id: string, kind: string, status: string, more: object = {}) => ({
  event: 'tool_call',
  data: { tool_call_id, title: `${kind} ${tool_call_id}`, kind, status, ...more },
});

const written = (tool_call_id: string, text: string) => ({
  event: 'tool_output',
  data: { tool_call_id, text },
});

/** What is told of these events, for people who do not look at a terminal. */
const told = (events: readonly object[]): string => {
  let text = '';
  const write = (piece: string): void => {
    text += piece;
  };
  const stream = { isTTY: false, write };
  const tell = createEventPrinter(
    createOutput(stream as unknown as NodeJS.WriteStream, {}),
    (word) => `dossier ${word} 3f2a`,
  );
  for (const event of events) tell(event as SessionEvent);
  return text;
};

describe('what tail tells', () => {
  it('counts reads in one line, without what they return, and once each', () => {
    const reads = ['a', 'b', 'a', 'c', 'd'].flatMap((name, at) => [
      call(String(at), 'read', 'in_progress', { locations: [`${name}.ts`] }),
      written(String(at), 'all of the file\n'),
      call(String(at), 'read', 'completed', { output: 'all of the file' }),
    ]);
    const text = told([...reads, { event: 'message', data: { text: 'I know now.\n' } }]);
    assert.equal(text, '* 5 reads: a.ts, b.ts, c.ts, …\nI know now.\n');
  });

  it('has the output of a command that failed, where it was not told or was cut meanwhile', () => {
    const failed = { exit_code: 1, output: 'no such test\n' };
    const one = [call('1', 'execute', 'in_progress'), call('1', 'execute', 'failed', failed)];
    const once = '* execute: execute 1\n* execute: execute 1 failed (exit 1)\nno such test\n';
    assert.equal(told(one), once);
    const gap = { event: 'gap', data: { message: 'Cut.', tool_call_id: '2' } };
    const cut = [written('2', 'begun\n'), gap, call('2', 'execute', 'failed', failed)];
    assert.equal(told(cut), 'begun\nCut.\n* execute: execute 2 failed (exit 1)\nno such test\n');
    const whole = [written('3', 'no such test\n'), call('3', 'execute', 'failed', failed)];
    assert.equal(told(whole), 'no such test\n* execute: execute 3 failed (exit 1)\n');
  });

  it('names no command for a diff of nothing', () => {
    const diff = { files: 0, additions: 0, deletions: 0 };
    assert.equal(told([{ event: 'diff', data: diff }]), 'No file changed\n');
  });

  it('says what a paused session waits for', () => {
    const paused = { event: 'status', data: { status: 'paused', message: 'The limit is used up' } };
    assert.equal(
      told([paused]),
      '-- paused: The limit is used up\nIt waits for you: dossier resume 3f2a\n',
    );
  });
});
