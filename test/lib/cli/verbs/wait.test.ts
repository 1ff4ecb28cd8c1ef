import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { codeFor } from '../../../../lib/cli/verbs/wait.ts';

describe('codeFor', () => {
  for (const [status, kind] of [
    ['planning', 'plan'],
    ['working', 'done'],
    ['working', 'failed'],
    ['working', 'paused'],
    ['planning', 'waiting'],
    ['working', 'waiting'],
  ] as const)
    it(`looks again where the inbox has ${kind} and the session was read as ${status}`, () => {
      assert.equal(codeFor('plan', { status }, { kind }), undefined);
      assert.equal(codeFor('done', { status }, { kind }), undefined);
    });

  it('is 4 where a session that runs waits for the operator', () => {
    for (const kind of ['permission', 'question'] as const)
      assert.equal(codeFor('done', { status: 'working' }, { kind }), 4);
    assert.equal(codeFor('done', { status: 'plan_ready' }, { kind: 'plan' }), 4);
    assert.equal(codeFor('plan', { status: 'plan_ready' }, { kind: 'plan' }), 0);
  });
});
