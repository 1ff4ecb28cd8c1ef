import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServiceError } from '../../../lib/errors.ts';
import {
  abort,
  complete,
  fail,
  interrupt,
  planReady,
  startPlanning,
  startWork,
} from '../../../lib/sessions/rules.ts';
import { caseStateFor } from '../../../lib/sessions/settle.ts';
import { milestones, runStateOf } from '../../../store/journal/milestones.ts';
import { STATES, type State } from '../../../store/records/case.ts';
import {
  isEnded,
  type Session,
  type SessionMatter,
  STATUSES,
  type Status,
} from '../../../store/records/session.ts';
import type { SessionRule } from '../../../store/sessions/sessions.ts';

const ID = '3f2b8c1e-0000-4000-8000-000000000001';
const AT = '2026-01-02T03:04:05.006Z';
const PLAN = { sha256: 'a'.repeat(64), content: 'Do it.' };

const MATTER: SessionMatter = {
  id: ID,
  type: 'implementing',
  mode: 'plan',
  status: 'queued',
  provider: 'runbook',
  created_at: AT,
};

const sessionIn = (status: Status, mode: 'plan' | 'work' = 'plan'): Session => ({
  id: ID,
  case_id: ID,
  type: 'implementing',
  mode,
  status,
  provider: 'runbook',
  branch: null,
  base_commit: null,
  plan_sha256: null,
  created_at: AT,
  started_at: null,
  ended_at: null,
  usage: null,
  error: null,
});

/** Per status what the rule makes of it: a status, the code of a refusal, or nothing. */
const tableOf = (rule: SessionRule, mode: 'plan' | 'work' = 'plan'): Record<string, string> =>
  Object.fromEntries(
    STATUSES.map((status) => [status, outcomeOf(rule, sessionIn(status, mode))] as const).filter(
      (row): row is readonly [Status, string] => row[1] !== undefined,
    ),
  );

const outcomeOf = (rule: SessionRule, session: Session): string | undefined => {
  try {
    return rule(session, MATTER)?.status;
  } catch (error) {
    assert.ok(error instanceof ServiceError);
    return error.code;
  }
};

const all = (statuses: readonly Status[], outcome: string): Record<string, string> =>
  Object.fromEntries(statuses.map((status) => [status, outcome]));

const OPEN = STATUSES.filter((status) => !isEnded(status));
const ENDED = STATUSES.filter((status) => isEnded(status));

describe('the rules of a session', () => {
  it('begin Plan mode from the queue only, and always in plan mode', () => {
    const rule = startPlanning({ at: AT, run_marker: ID, case_state_before: 'OPEN' });
    assert.deepEqual(tableOf(rule), { queued: 'planning' });
    assert.equal(rule(sessionIn('queued', 'work'), MATTER)?.mode, 'plan');
  });

  it('have a plan only from planning, and completed work only from working', () => {
    const result = { usage: undefined, native_session_id: undefined };
    assert.deepEqual(tableOf(planReady(result)), { planning: 'plan_ready' });
    const done = complete({ at: AT, summary: '', ...result });
    assert.deepEqual(tableOf(done), { working: 'completed' });
  });

  it('let nothing but a ready plan into Work mode', () => {
    const rule = startWork({ plan: PLAN, seen: undefined, run_marker: ID });
    assert.deepEqual(tableOf(rule), {
      ...all(STATUSES, 'plan_not_ready'),
      plan_ready: 'working',
    });
    assert.deepEqual(tableOf(rule, 'work'), {
      ...all(OPEN, 'work_mode_active'),
      ...all(ENDED, 'plan_not_ready'),
    });
  });

  it('bind the approval to the text that was read', () => {
    const approve = (content: string, seen?: string): string | undefined => {
      const rule = startWork({ plan: { ...PLAN, content }, seen, run_marker: ID });
      return outcomeOf(rule, sessionIn('plan_ready'));
    };
    assert.equal(approve('Do it.', PLAN.sha256), 'working');
    assert.equal(approve('Do it.', 'b'.repeat(64)), 'plan_changed');
    assert.equal(approve(' \n'), 'plan_empty');
    const none = startWork({ plan: undefined, seen: undefined, run_marker: ID });
    assert.equal(outcomeOf(none, sessionIn('plan_ready')), 'plan_not_ready');
  });

  it('fail and abort whatever has not ended; what has ended stays as it is', () => {
    assert.deepEqual(tableOf(fail({ at: AT, error: 'no' })), all(OPEN, 'failed'));
    assert.deepEqual(tableOf(abort(AT)), {
      ...all(OPEN, 'aborted'),
      ...all(ENDED, 'invalid_state'),
    });
  });

  it('pause only what should be running', () => {
    const expected = { planning: 'paused', working: 'paused' };
    assert.deepEqual(tableOf(interrupt('The daemon stopped.')), expected);
  });
});

describe('where a Work item goes with its session', () => {
  const FOLLOWS: Partial<Record<Status, State>> = {
    planning: 'INVESTIGATING',
    working: 'IMPLEMENTING',
    completed: 'VERIFYING',
    failed: 'BLOCKED',
    aborted: 'OPEN',
  };
  const CLOSED: readonly State[] = ['RESOLVED', 'NON_ISSUE'];

  it('is told by the status alone, but a closed one, and one with a rebase, stays as it is', () => {
    for (const status of STATUSES) {
      for (const state of STATES) {
        const expected = CLOSED.includes(state) ? undefined : FOLLOWS[status];
        const session = { status, type: 'implementing' };
        assert.equal(caseStateFor(session, { state }), expected, `${status}, ${state}`);
        assert.equal(caseStateFor({ status, type: 'conflict' }, { state }), undefined);
      }
    }
  });

  it('is where it was before, after an abort', () => {
    for (const before of STATES)
      assert.equal(
        caseStateFor(
          { status: 'aborted', type: 'implementing' },
          { state: 'IMPLEMENTING' },
          before,
        ),
        before,
      );
  });
});

describe('the milestones of a session', () => {
  const ways = (event: string): string[] =>
    [undefined, ...STATUSES].flatMap((before) =>
      STATUSES.filter((status) =>
        milestones(before, sessionIn(status), new Date(AT)).some(
          ({ event_type }) => event_type === event,
        ),
      ).map((status) => `${before} → ${status}`),
    );

  it('tell the start of Work mode at the approval only', () => {
    assert.deepEqual(ways('session_started'), ['plan_ready → working']);
  });

  it('tell the completion of work only', () => {
    assert.deepEqual(ways('session_completed'), ['working → completed']);
  });

  it('tell each end of an agent, and nothing of sessions without one', () => {
    const running: readonly Status[] = ['planning', 'working'];
    const still = STATUSES.filter((status) => !running.includes(status));
    assert.deepEqual(
      ways('agent_completed'),
      running.flatMap((before) => still.map((status) => `${before} → ${status}`)),
    );
  });

  it('are kept until the session has ended', () => {
    for (const status of OPEN)
      assert.deepEqual(runStateOf(sessionIn(status)), { case_id: ID, status });
    for (const status of ENDED) assert.equal(runStateOf(sessionIn(status)), null);
  });
});
