import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ERRORS, type ErrorCode, ServiceError } from '../../../../../lib/errors.ts';
import { dismiss } from '../../../../../lib/work/sessions/lifecycle/answers.ts';
import { requestChanges, startWork } from '../../../../../lib/work/sessions/rules/approval.ts';
import { addMessage } from '../../../../../lib/work/sessions/rules/messages.ts';
import {
  abort,
  completeSession,
  fail,
  interrupt,
  pause,
  pauseRequeued,
  planReady,
  resume,
  startPlanning,
} from '../../../../../lib/work/sessions/rules/rules.ts';
import {
  type Next,
  nextStatus,
  type SessionEvent,
  TRANSITIONS,
} from '../../../../../lib/work/sessions/rules/transitions.ts';
import { sha256 } from '../../../../../store/base/sha256.ts';
import {
  isEnded,
  Session,
  type SessionMatter,
  STATUSES,
  type Status,
} from '../../../../../store/records/session.ts';
import type { SessionRule } from '../../../../../store/sessions/sessions.ts';

interface EventRule {
  /** In the guide. */
  cause: string;
  /** The error of a call that has no transition; undefined for events that are then ignored. */
  refusal?: ErrorCode;
}

/** What the guide says of each event, and how it is refused. */
const EVENTS = {
  start: { cause: 'the session lock and a slot of `max_sessions` are free' },
  requeue: { cause: '`session.md` says so of a session that started before' },
  plan_written: { cause: 'the agent has written a plan' },
  message: { cause: 'you send a message' },
  request_changes: { cause: 'you send the plan back', refusal: 'plan_not_ready' },
  approve: { cause: 'you approve the plan', refusal: 'plan_not_ready' },
  complete: { cause: 'the work is done and its diff is on disk' },
  pause: { cause: 'you pause the session', refusal: 'invalid_state' },
  interrupt: { cause: 'the daemon stopped, or the model is unavailable' },
  resume: { cause: 'you resume the session', refusal: 'invalid_state' },
  fail: { cause: 'the agent, git or the disk failed' },
  abort: { cause: 'you abort the session', refusal: 'invalid_state' },
  dismiss: { cause: 'you dismiss the completed work', refusal: 'invalid_state' },
} as const satisfies Record<SessionEvent, EventRule>;

/** The whole table; `-` is an event that is not legal, `plan|work` depends on the mode. */
const TABLE = `
event            queued    planning    plan_ready  working    paused            completed  failed  aborted
start            planning  -           -           -          -                 -          -       -
requeue          paused    -           -           -          -                 -          -       -
plan_written     -         plan_ready  -           -          -                 -          -       -
message          queued    planning    planning    working    paused            -          -       -
request_changes  -         -           planning    -          -                 -          -       -
approve          -         -           working     -          -                 -          -       -
complete         -         -           -           completed  -                 -          -       -
pause            -         paused      -           paused     -                 -          -       -
interrupt        -         paused      -           paused     -                 -          -       -
resume           -         -           -           -          planning|working  -          -       -
fail             failed    failed      failed      failed     failed            -          -       -
abort            aborted   aborted     aborted     aborted    aborted           -          -       -
dismiss          -         -           -           -          -                 completed  -       -
`;

interface Transition {
  from: Status;
  event: SessionEvent;
  to: Status;
  /** Only in this mode. */
  mode?: Session['mode'];
}

/** Every transition, in the order of the table. */
const transitions = (): Transition[] =>
  STATUSES.flatMap((from) =>
    (Object.entries(TRANSITIONS[from]) as [SessionEvent, Next][]).flatMap(([event, next]) =>
      typeof next === 'object'
        ? [
            { from, event, to: next.plan, mode: 'plan' as const },
            { from, event, to: next.work, mode: 'work' as const },
          ]
        : [{ from, event, to: next }],
    ),
  );

const MODES = ['plan', 'work'] as const;
const NAMES = Object.keys(EVENTS) as SessionEvent[];
const OPEN = STATUSES.filter((status) => !isEnded(status));

const ID = '3f2b8c1e-0000-4000-8000-000000000001';
const AT = '2026-01-02T03:04:05.006Z';
const PLAN = { sha256: sha256('Do it.'), content: 'Do it.' };
const ENDING = { at: AT, summary: { text: 'What was done.', onKept: () => undefined } };

const MATTER = { id: ID, type: 'implementing', created_at: AT } as SessionMatter;

/** The rule that performs each event. */
const RULES: Record<SessionEvent, SessionRule> = {
  start: startPlanning({ at: AT, run_marker: ID, case_state_before: 'OPEN' }),
  requeue: pauseRequeued,
  plan_written: planReady({}),
  message: addMessage({ id: ID, at: AT, file: 'message.md', sha256: PLAN.sha256 }, ID),
  request_changes: requestChanges({ comment: 'Smaller.', run_marker: ID }),
  approve: startWork({ plan: PLAN, seen: undefined, run_marker: ID, at: AT, by: 'operator' }),
  complete: completeSession(ENDING),
  pause: pause(ENDING),
  interrupt: interrupt('The daemon stopped.'),
  resume: resume(ID),
  fail: fail({ ...ENDING, error: 'no' }),
  abort: abort(ENDING),
  dismiss: dismiss(AT),
};

const sessionIn = (status: Status, mode: 'plan' | 'work'): Session =>
  ({ id: ID, case_id: ID, status, mode, usage: null }) as Session;

/** The status that a rule leaves, the code of its refusal, or `ignored`. */
const outcomeOf = (rule: SessionRule, session: Session): string => {
  try {
    const change = rule(session, MATTER);
    return change === undefined ? 'ignored' : (change.status ?? session.status);
  } catch (error) {
    assert.ok(error instanceof ServiceError);
    return error.code;
  }
};

const refusalOf = (event: SessionEvent, status: Status, mode: 'plan' | 'work'): string => {
  const known: EventRule = EVENTS[event];
  const isPlanDecision = known.refusal === 'plan_not_ready';
  if (isPlanDecision && mode === 'work' && !isEnded(status)) return 'work_mode_active';
  return known.refusal ?? 'ignored';
};

/** Every combination of status, mode and event. */
const eachCell = (check: (event: SessionEvent, status: Status, mode: 'plan' | 'work') => void) => {
  for (const event of NAMES)
    for (const status of STATUSES) for (const mode of MODES) check(event, status, mode);
};

describe('the transitions of a session', () => {
  it('are those of the table, for every status and event', () => {
    const rows = TABLE.trim()
      .split('\n')
      .map((line) => line.split(/\s+/));
    assert.deepEqual(rows[0], ['event', ...STATUSES]);
    const printed = NAMES.map((event) => [
      event,
      ...STATUSES.map((status) => {
        const [plan = '-', work = '-'] = MODES.map((mode) => nextStatus({ status, mode }, event));
        return plan === work ? plan : `${plan}|${work}`;
      }),
    ]);
    assert.deepEqual(printed, rows.slice(1));
  });

  it('are all that the rules do, and each refusal has its error', () => {
    eachCell((event, status, mode) => {
      const next = nextStatus({ status, mode }, event);
      const isActive = mode === 'work' && !isEnded(status);
      const expected =
        (event === 'approve' || event === 'request_changes') && isActive
          ? 'work_mode_active'
          : (next ?? refusalOf(event, status, mode));
      const outcome = outcomeOf(RULES[event], sessionIn(status, mode));
      assert.equal(outcome, expected, `${event} in ${status}, ${mode} mode`);
    });
  });

  it('answer a refused call with the HTTP status of its error', () => {
    const codes = NAMES.flatMap((event) => {
      const { refusal }: EventRule = EVENTS[event];
      return refusal === undefined ? [] : [[event, refusal, ERRORS[refusal].status]];
    });
    assert.deepEqual(codes, [
      ['request_changes', 'plan_not_ready', 422],
      ['approve', 'plan_not_ready', 422],
      ['pause', 'invalid_state', 422],
      ['resume', 'invalid_state', 422],
      ['abort', 'invalid_state', 422],
      ['dismiss', 'invalid_state', 422],
    ]);
  });

  it('reach every status from queued, and leave none that has ended', () => {
    const reached = new Set<Status>(['queued']);
    const after = (status: Status): Status[] =>
      transitions().flatMap(({ from, to }) => (from === status ? [to] : []));
    for (const status of reached) for (const next of after(status)) reached.add(next);
    assert.deepEqual([...reached].toSorted(), [...STATUSES].toSorted());
    for (const status of STATUSES.filter(isEnded))
      assert.ok(after(status).every((next) => next === status));
  });

  it('let every session that has not ended fail and be aborted', () => {
    for (const status of OPEN)
      assert.deepEqual(
        [TRANSITIONS[status].fail, TRANSITIONS[status].abort],
        ['failed', 'aborted'],
      );
  });
});

const MODE_NAMES = { plan: 'Plan mode', work: 'Work mode' };
const code = (text: string): string => `\`${text}\``;
const changing = transitions().filter(({ from, to }) => from !== to);

describe('what is written about the transitions', () => {
  it('is in the API description of the status', () => {
    const parts = STATUSES.filter((status) => !isEnded(status)).map((status) => {
      const next = changing.filter(({ from }) => from === status).map(({ to }) => code(to));
      return `${code(status)} → ${[...new Set(next)].join(', ')}`;
    });
    const final = STATUSES.filter((status) => isEnded(status)).map(code);
    assert.equal(
      (Session.properties.status as { description?: string }).description,
      `Transitions: ${parts.join('; ')}. Final: ${final.join(', ')}`,
    );
  });

  it('is in the guide, as a table', () => {
    const rows = changing
      .filter(({ event }) => event !== 'fail' && event !== 'abort')
      .map(({ from, event, to, mode }) => [
        code(from),
        `${EVENTS[event].cause}${mode === undefined ? '' : ` in ${MODE_NAMES[mode]}`}`,
        code(to),
      ]);
    const [heads, ...cells] = [['Status', 'What happens', 'Next status'], ...rows];
    const widths = [0, 1, 2].map((at) =>
      Math.max(...[heads ?? [], ...cells].map((row) => row[at]?.length ?? 0)),
    );
    const line = (row: readonly string[]): string =>
      `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
    const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
    const table = [line(heads ?? []), rule, ...cells.map(line)].join('\n');
    assertContains('lib/work/sessions/GUIDE.md', table);
  });

  it('is in the README, as a diagram', () => {
    const arrows = new Map<string, Set<string>>();
    for (const { from, event, to, mode } of changing) {
      const arrow = `${from} --> ${to}`;
      const label = mode === undefined ? event : `${event} (${MODE_NAMES[mode]})`;
      arrows.set(arrow, (arrows.get(arrow) ?? new Set()).add(label));
    }
    const lines = [...arrows].map(([arrow, events]) => `    ${arrow}: ${[...events].join(', ')}`);
    const diagram = ['stateDiagram-v2', '    [*] --> queued', ...lines].join('\n');
    assertContains('lib/work/sessions/README.md', `\`\`\`mermaid\n${diagram}\n\`\`\``);
  });
});

const assertContains = (file: string, expected: string): void =>
  assert.ok(readFileSync(file, 'utf8').includes(expected), `${file} has to contain:\n${expected}`);
