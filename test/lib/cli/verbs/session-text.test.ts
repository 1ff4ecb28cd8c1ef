import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextText } from '../../../../lib/cli/verbs/session-text.ts';
import type { Session } from '../../../../lib/client/client.ts';

const next = (status: Session['status'], provider = 'runbook'): string =>
  nextText(
    { typed: (args) => `dossier ${args}` },
    { case_id: '3043939f-0000-4000-8000-000000000000', status, provider },
  );

describe('nextText', () => {
  const WORDS: Record<Session['status'], string> = {
    queued: 'Follow it with dossier tail 3043939f',
    planning: 'Follow it with dossier tail 3043939f',
    working: 'Follow it with dossier tail 3043939f',
    plan_ready: 'To read and approve its plan: dossier approve 3043939f',
    paused: 'To continue: dossier resume 3043939f',
    completed: 'See dossier diff 3043939f',
    failed: 'See dossier show 3043939f',
    aborted: 'See dossier show 3043939f',
  };
  for (const [status, words] of Object.entries(WORDS))
    it(`is "${words}" for a session that is ${status}`, () => {
      assert.equal(next(status as Session['status']), words);
    });

  it('names what the operator does in a session of the manual provider', () => {
    const own = (status: Session['status']) => next(status, 'manual');
    assert.equal(own('planning'), 'To write its plan: dossier edit 3043939f plan.md');
    assert.equal(own('working'), 'Once the work is done: dossier finish 3043939f');
    assert.equal(own('completed'), next('completed'));
  });
});
