import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServiceError } from '../../../../../lib/errors.ts';
import { caseStateFor } from '../../../../../lib/work/sessions/guards/decide.ts';
import {
  approvalHash,
  NONE_UNASKED,
  requestChanges,
  startWork,
  type UnaskedApproval,
} from '../../../../../lib/work/sessions/rules/approval.ts';
import {
  abort,
  completeSession,
  fail,
  interrupt,
  pause,
  planReady,
  refuseElsewhere,
  refuseUnconfirmed,
  resume,
  startPlanning,
} from '../../../../../lib/work/sessions/rules/rules.ts';
import { sha256 } from '../../../../../store/base/sha256.ts';
import { milestoneEvents, runStateOf } from '../../../../../store/journal/milestones.ts';
import { STATES, type State } from '../../../../../store/records/case.ts';
import type { CommandsMatter } from '../../../../../store/records/commands.ts';
import {
  isEnded,
  type Session,
  type SessionMatter,
  STATUSES,
  type Status,
} from '../../../../../store/records/session.ts';
import type { SessionRule } from '../../../../../store/sessions/sessions.ts';

const ID = '3f2b8c1e-0000-4000-8000-000000000001';
const AT = '2026-01-02T03:04:05.006Z';
const PLAN = { sha256: sha256('Do it.'), content: 'Do it.' };

const SUMMARY = { text: 'What was done.', onKept: () => undefined };
const ENDING = { at: AT, summary: SUMMARY };

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
  path: 'cases/a/sessions/b',
  type: 'implementing',
  mode,
  status,
  provider: 'runbook',
  branch: null,
  base_commit: null,
  plan_sha256: null,
  approved_at: null,
  approved_by: null,
  approved_sha256: null,
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
    assert.deepEqual(tableOf(planReady({})), { planning: 'plan_ready' });
    assert.deepEqual(tableOf(completeSession(ENDING)), { working: 'completed' });
  });

  it('let nothing but a ready plan into Work mode', () => {
    const rule = startWork({ plan: PLAN, seen: undefined, run_marker: ID, at: AT, by: 'operator' });
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
      const rule = startWork({
        plan: { ...PLAN, content },
        seen,
        run_marker: ID,
        at: AT,
        by: 'operator',
      });
      return outcomeOf(rule, sessionIn('plan_ready'));
    };
    assert.equal(approve('Do it.', PLAN.sha256), 'working');
    assert.equal(approve('Do it.', 'b'.repeat(64)), 'plan_changed');
    assert.equal(approve(' \n'), 'plan_empty');
    const none = startWork({
      plan: undefined,
      seen: undefined,
      run_marker: ID,
      at: AT,
      by: 'operator',
    });
    assert.equal(outcomeOf(none, sessionIn('plan_ready')), 'plan_not_ready');
  });

  it('fail and abort whatever has not ended; what has ended stays as it is', () => {
    assert.deepEqual(tableOf(fail({ ...ENDING, error: 'no' })), all(OPEN, 'failed'));
    assert.deepEqual(tableOf(abort(ENDING)), {
      ...all(OPEN, 'aborted'),
      ...all(ENDED, 'invalid_state'),
    });
  });

  it('pause only what should be running', () => {
    const expected = { planning: 'paused', working: 'paused' };
    assert.deepEqual(tableOf(interrupt('The daemon stopped.')), expected);
  });
});

describe('the commands of an approval', () => {
  const content = 'Do it.\n\n```sh\nnpm test\nnpm run lint\n```\n';
  const plan = { sha256: sha256(content), content };
  const approve = (unasked: UnaskedApproval, matter: Partial<SessionMatter> = {}, of = plan) => {
    const rule = startWork({
      ...{ plan: of, seen: undefined, run_marker: ID, at: AT, by: 'operator', unasked },
    });
    return rule(sessionIn('plan_ready'), { ...MATTER, ...matter });
  };
  const hashOf = (...commands: string[]) => approvalHash(plan.sha256, commands);
  const allowsPlanCommands = true;

  it('run unasked where just these were read, without those that were taken out', () => {
    const all = { approval_sha256: hashOf('npm test', 'npm run lint'), allowsPlanCommands };
    assert.deepEqual(approve(all)?.unasked, ['npm test', 'npm run lint']);
    const some = { approval_sha256: hashOf('npm run lint'), ask: ['npm test'], allowsPlanCommands };
    assert.deepEqual(approve(some)?.unasked, ['npm run lint']);
    assert.deepEqual(approve(some, { unasked: ['rm -rf ~'] })?.unasked, ['npm run lint']);
  });

  it('ask where the text alone was approved, or nothing runs unasked, whatever the record said', () => {
    assert.equal('unasked' in (approve({ allowsPlanCommands }) ?? {}), false);
    assert.equal(approve({ allowsPlanCommands }, { unasked: ['rm -rf ~'] })?.unasked, null);
    const none = { approval_sha256: hashOf(), allowsPlanCommands: false };
    assert.equal(approve(none, { unasked: ['npm test'] })?.unasked, null);
    assert.equal(NONE_UNASKED.allowsPlanCommands, false);
  });

  it('are refused where others were read', () => {
    const changed = { code: 'plan_changed', members: { plan_sha256: plan.sha256 } };
    for (const approval_sha256 of [hashOf('npm test'), hashOf(), plan.sha256])
      assert.throws(() => approve({ approval_sha256, allowsPlanCommands }), changed);
    const all = hashOf('npm test', 'npm run lint');
    assert.throws(() => approve({ approval_sha256: all, allowsPlanCommands: false }), changed);
    const unknown = { approval_sha256: all, ask: ['npm audit'], allowsPlanCommands };
    assert.throws(() => approve(unknown), { code: 'bad_request', message: /"npm audit"/ });
  });

  it('are refused where the plan is not UTF-8, so that other bytes were hashed than were read', () => {
    const of = { ...plan, content: `${content}\ufffd` };
    assert.throws(() => approve({ allowsPlanCommands }, {}, of), {
      ...{ code: 'plan_hides_text', message: /not UTF-8/ },
    });
  });

  it('are refused where the plan hides text', () => {
    const hiding = '```sh\nnpm test\u202e\n```\n';
    const of = { sha256: sha256(hiding), content: hiding };
    assert.throws(() => approve({ allowsPlanCommands }, {}, of), { code: 'plan_hides_text' });
  });
});

describe('a plan that is sent back', () => {
  const rule = requestChanges({ comment: 'Smaller.', run_marker: 'm2' });

  it('is planned again with the comment, and nothing else is', () => {
    assert.deepEqual(rule(sessionIn('plan_ready'), MATTER), {
      status: 'planning',
      feedback: 'Smaller.',
      run_marker: 'm2',
    });
    const refused = STATUSES.filter((status) => status !== 'plan_ready');
    for (const status of refused)
      assert.throws(() => rule(sessionIn(status), MATTER), { code: 'plan_not_ready' }, status);
  });

  it('needs a comment, and no longer one than its record has room for', () => {
    const back = (comment: string) =>
      requestChanges({ comment, run_marker: 'm2' })(sessionIn('plan_ready'), MATTER);
    assert.throws(() => back(''), { code: 'invalid_state', message: /no unsent comment/ });
    const long = 'x'.repeat(100_000);
    assert.throws(() => back(long), { code: 'invalid_state', message: /have 100000 characters/ });
  });

  it('is not sent back once Work mode is active', () => {
    const working = sessionIn('working', 'work');
    assert.throws(() => rule(working, MATTER), { code: 'work_mode_active' });
    assert.throws(() => rule(sessionIn('failed', 'work'), MATTER), { code: 'plan_not_ready' });
  });
});

describe('what a turn used', () => {
  const USED = { input_tokens: 5, output_tokens: 1, cost_usd: 0.5 };
  const turn = { usage: USED, native_session_id: 'one', native_cost_usd: 0.75 };
  const told = (rule: SessionRule, status: Status, matter: Partial<SessionMatter> = {}) => {
    const session = { ...sessionIn(status), usage: USED };
    const { usage, native_session_id, native_cost_usd } =
      rule(session, { ...MATTER, ...matter }) ?? {};
    return [usage?.input_tokens, usage?.cost_usd, native_session_id, native_cost_usd];
  };
  const rules: [string, SessionRule, readonly Status[]][] = [
    ['planReady', planReady(turn), ['planning']],
    ['complete', completeSession({ ...ENDING, turn }), ['working']],
    ['fail', fail({ ...ENDING, turn, error: 'no' }), OPEN],
    ['abort', abort({ ...ENDING, turn }), OPEN],
    ['pause', pause({ ...ENDING, turn }), ['planning', 'working']],
    ['interrupt', interrupt('stopped', { turn }), ['planning', 'working']],
  ];

  it('is counted as its session leaves planning or working, and never again', () => {
    for (const [name, rule, from] of rules) {
      for (const status of from) {
        const running = status === 'planning' || status === 'working';
        const expected = running
          ? [10, 1, 'one', 0.75]
          : [undefined, undefined, undefined, undefined];
        assert.deepEqual(told(rule, status), expected, `${name}, ${status}`);
      }
    }
  });

  it('leaves no cost of an earlier conversation with one that tells none', () => {
    const free = planReady({ native_session_id: 'two', native_cost_usd: 0 });
    assert.equal(told(free, 'planning')[3], undefined);
    assert.equal(told(free, 'planning', { native_cost_usd: 0.75 })[3], 0);
  });
});

describe('what the record of a session keeps', () => {
  const COMMIT = { id: 'c1', files: 1, left_out: [] };
  const COMMANDS: CommandsMatter = { run: 1, failed_count: 0, failed: [] };
  const more = { commands: COMMANDS, commit: COMMIT };
  const before: Partial<SessionMatter> = {
    feedback: 'Smaller.',
    commit: COMMIT,
    pause_reason: 'usage_limit',
    resume_at: AT,
  };
  const of = (rule: SessionRule, status: Status, matter: Partial<SessionMatter> = {}) =>
    rule(sessionIn(status), { ...MATTER, ...matter });

  it('of a plan: that what it was sent back with is answered', () => {
    const ready = { status: 'plan_ready', usage: null };
    assert.deepEqual(of(planReady({}), 'planning'), ready);
    assert.deepEqual(of(planReady({}), 'planning', before), { ...ready, feedback: null });
  });

  it('of an end: its summary, commands and commit, and none of an earlier pause', () => {
    const ended = { ended_at: AT, summary: SUMMARY };
    const completed = { status: 'completed', usage: null, ...ended };
    assert.deepEqual(of(completeSession(ENDING), 'working'), completed);
    assert.deepEqual(of(completeSession({ ...ENDING, ...more }), 'working'), {
      ...{ ...completed, ...more },
    });
    assert.deepEqual(of(completeSession(ENDING), 'working', before), {
      ...{ ...completed, commit: null },
    });
    const failed = { status: 'failed', ...ended };
    assert.deepEqual(of(fail({ ...ENDING, error: 'n\u001bo' }), 'paused'), {
      ...{ ...failed, error: 'n␛o' },
    });
    assert.equal(of(fail({ ...ENDING, error: 'no' }), 'completed'), undefined);
    assert.deepEqual(of(abort(ENDING), 'paused', { pause_reason: 'login', resume_at: AT }), {
      ...{ status: 'aborted', ...ended, pause_reason: null, resume_at: null },
    });
    assert.deepEqual(of(abort(ENDING), 'paused'), { status: 'aborted', ...ended });
    assert.throws(() => of(abort(ENDING), 'failed'), /is failed already/);
  });

  it('of a pause: its reason, and when it may go on', () => {
    const paused = { status: 'paused', usage: null };
    const told = { ...paused, summary: SUMMARY, error: null, pause_reason: 'operator' };
    assert.deepEqual(of(pause({ summary: SUMMARY }), 'working'), told);
    assert.deepEqual(of(pause({ summary: SUMMARY, ...more }), 'working', before), {
      ...{ ...told, ...more, resume_at: null },
    });
    assert.throws(
      () => of(pause({ summary: SUMMARY }), 'paused'),
      /is paused; .* nothing to pause/,
    );
    const stopped = { ...paused, error: 'Gone.', pause_reason: 'interrupted' };
    assert.deepEqual(of(interrupt('Gone.'), 'working'), stopped);
    const outage = { reason: 'usage_limit', resume_at: AT } as const;
    const kept = { summary: SUMMARY, ...more };
    assert.deepEqual(of(interrupt('Gone.', { ...kept, outage }), 'working'), {
      ...{ ...stopped, ...kept, pause_reason: 'usage_limit', resume_at: AT },
    });
    assert.equal(of(interrupt('Gone.'), 'paused'), undefined);
  });

  it('of going on: nothing of the pause', () => {
    const on = { status: 'planning', run_marker: 'm2', error: null };
    assert.deepEqual(of(resume('m2'), 'paused'), on);
    assert.deepEqual(of(resume('m2'), 'paused', before), {
      ...{ ...on, commit: null, pause_reason: null, resume_at: null },
    });
    assert.throws(() => of(resume('m2'), 'working'), /is working; .* nothing to resume/);
  });
});

describe('a session that this machine does not know', () => {
  const session = sessionIn('paused', 'work');

  it('is refused where its start or its approval is in its files only', () => {
    refuseUnconfirmed(session);
    const started: Session = { ...session, unconfirmed: 'started' };
    assert.throws(() => refuseUnconfirmed(started), {
      ...{ code: 'approved_elsewhere', message: /was not started on this machine/ },
    });
    const approved: Session = { ...session, unconfirmed: 'approved', approved_sha256: 'b' };
    assert.throws(() => refuseUnconfirmed(approved), {
      ...{ code: 'approved_elsewhere', message: /was not approved on this machine/ },
      members: { plan_sha256: 'b' },
    });
  });

  it('is refused where another machine has it', () => {
    refuseElsewhere(session);
    refuseElsewhere({ ...session, elsewhere: false });
    assert.throws(() => refuseElsewhere({ ...session, elsewhere: true }), {
      ...{ code: 'invalid_state', message: /started on another machine/ },
    });
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
        milestoneEvents(before, sessionIn(status), new Date(AT)).some(
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

  it('tell where a session waits for the operator, and that it has failed', () => {
    for (const [event, status] of [
      ['session_plan_ready', 'plan_ready'],
      ['session_paused', 'paused'],
      ['session_failed', 'failed'],
    ] as const)
      assert.deepEqual(
        ways(event),
        [undefined, ...STATUSES].map((before) => `${before} → ${status}`),
      );
  });

  it('are kept until the session has ended', () => {
    for (const status of OPEN)
      assert.deepEqual(runStateOf(sessionIn(status), new Date(AT)), {
        case_id: ID,
        status,
        since: AT,
      });
    for (const status of ENDED) assert.equal(runStateOf(sessionIn(status), new Date(AT)), null);
  });
});
