import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Verb } from '../../../../lib/cli/verbs/verb.ts';
import { codeFor, waitForSession } from '../../../../lib/cli/verbs/wait.ts';
import { connect, NoConnection } from '../../../../lib/client/client.ts';
import { configOf } from '../../../../lib/config.ts';
import { withPlan } from '../../../helpers/with-plan.ts';

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

describe('waitForSession', () => {
  // What a command has left of a daemon that ended.
  const after = (workspace: string): Verb =>
    ({
      dossier: connect({ url: 'http://127.0.0.1:9' }),
      config: configOf({ workspace }, process.env),
      typed: (words: string) => words,
      values: {},
    }) as unknown as Verb;
  const soon = () => performance.now() + 20_000;

  it('goes on with the daemon that came back, at another address', async (t) => {
    const { workspace, at } = await withPlan(t);
    const found = await waitForSession(after(workspace), { ...at, goal: 'plan', until: soon() });
    assert.deepEqual([found.code, found.session.id], [0, at.sid]);
  });

  it('throws NoConnection where none came back in the time', async () => {
    const until = performance.now() + 600;
    await assert.rejects(
      waitForSession(after('/nowhere'), { id: 'any', goal: 'done', until }),
      NoConnection,
    );
  });
});
