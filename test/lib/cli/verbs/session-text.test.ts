import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextText } from '../../../../lib/cli/verbs/session-text.ts';
import type { Session } from '../../../../lib/client/client.ts';

const next = (status: Session['status']): string =>
  nextText(
    { typed: (args) => `dossier ${args}` },
    { case_id: '3043939f-0000-4000-8000-000000000000', status },
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
});
