import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exitCodeSaid } from '../../../../../lib/agents/exit-code.ts';
import {
  commandsOf,
  failedEdits,
  hasFailed,
} from '../../../../../lib/work/sessions/rules/commands.ts';
import { failureSentence } from '../../../../../store/records/commands.ts';

const call = (title: string, status: string, exit_code?: number) => ({
  title,
  kind: 'execute',
  status,
  ...(exit_code !== undefined && { exit_code }),
});

describe('commandsOf', () => {
  it('counts what ran: neither what was refused, nor what was killed, nor other tools', () => {
    const refused = { ...call('rm -r .', 'failed'), refused: true };
    const read = { ...call('Read a.txt', 'failed'), kind: 'read' };
    assert.equal(commandsOf([refused, read, call('sleep 9', 'killed')]), undefined);
    const of = commandsOf([refused, call('make', 'failed')]);
    assert.deepEqual([of?.run, of?.failed_count], [1, 1]);
  });

  it('keeps the first ten, and counts all', () => {
    const calls = Array.from({ length: 12 }, (_, at) => call(`false ${at}`, 'failed', 1));
    const of = commandsOf(calls);
    assert.deepEqual([of?.failed_count, of?.failed.length], [12, 10]);
    assert.match(
      of === undefined ? '' : (failureSentence(of) ?? ''),
      /`false 2` \(exit 1\) and 9 more$/,
    );
  });
});

describe('hasFailed', () => {
  for (const [title, exit_code, failed] of [
    ['grep -r TODO lib', 1, false],
    ['git diff --exit-code', 1, false],
    ['grep -r TODO lib', 2, true],
    ['grep -q ok log && npm test', 1, true],
    ['npm test', 1, true],
    ['npm test', 0, false],
  ] as const)
    it(`is ${failed} for ${title} with exit code ${exit_code}`, () =>
      assert.equal(hasFailed(call(title, 'completed', exit_code)), failed));
});

describe('failedEdits', () => {
  const edit = (status: string) => ({ title: 'Edit a', kind: 'edit', status });

  it('names them where none worked, and nothing where one did, or none was tried', () => {
    assert.deepEqual(failedEdits([edit('failed')]), ['Edit a']);
    assert.equal(failedEdits([edit('failed'), edit('completed')]), undefined);
    assert.equal(failedEdits([call('make', 'failed')]), undefined);
  });
});

describe('exitCodeSaid', () => {
  for (const [output, code] of [
    ['Exit code 2\nno such file', 2],
    ['```console\nExit code 127\nsh: x', 127],
    ['Command exited with code: 3', 3],
    ['Command: x\nStderr: no\nExit Code: 4\nSignal: (none)', 4],
    ['Exit code 0', undefined],
    ['it printed: Exit code 2', undefined],
  ] as const)
    it(`reads ${code} in ${JSON.stringify(output)}`, () =>
      assert.equal(exitCodeSaid(output).exit_code, code));
});
