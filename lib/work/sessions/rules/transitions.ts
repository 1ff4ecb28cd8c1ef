import { type Session, STATUSES, type Status } from '../../../../store/records/session.ts';
import type { ErrorCode } from '../../../errors.ts';

export interface EventRule {
  /** For the guide and the API description. */
  cause: string;
  /** The error of a call that has no transition; undefined for events that are then ignored. */
  refusal?: ErrorCode;
}

/** Everything that can happen to a session. */
export const EVENTS = {
  start: { cause: 'the session lock and a place of `max_sessions` are free' },
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
} as const satisfies Record<string, EventRule>;

export type SessionEvent = keyof typeof EVENTS;

/** The next status; by mode where it depends on whether the plan was approved. */
type Next = Status | Readonly<Record<Session['mode'], Status>>;

/** The life of a session: the only place that says which event is legal in which status. */
export const TRANSITIONS: Readonly<Record<Status, Readonly<Partial<Record<SessionEvent, Next>>>>> =
  {
    queued: {
      start: 'planning',
      message: 'queued',
      fail: 'failed',
      abort: 'aborted',
    },
    planning: {
      plan_written: 'plan_ready',
      message: 'planning',
      pause: 'paused',
      interrupt: 'paused',
      fail: 'failed',
      abort: 'aborted',
    },
    plan_ready: {
      approve: 'working',
      request_changes: 'planning',
      message: 'planning',
      fail: 'failed',
      abort: 'aborted',
    },
    working: {
      complete: 'completed',
      message: 'working',
      pause: 'paused',
      interrupt: 'paused',
      fail: 'failed',
      abort: 'aborted',
    },
    paused: {
      resume: { plan: 'planning', work: 'working' },
      message: 'paused',
      fail: 'failed',
      abort: 'aborted',
    },
    completed: { dismiss: 'completed' },
    failed: {},
    aborted: {},
  };

/** The status after an event; undefined where the event is not legal. */
export const nextStatus = (
  { status, mode }: Pick<Session, 'status' | 'mode'>,
  event: SessionEvent,
): Status | undefined => {
  const next = TRANSITIONS[status][event];
  return typeof next === 'object' ? next[mode] : next;
};

interface Transition {
  from: Status;
  event: SessionEvent;
  to: Status;
  /** Only in this mode. */
  mode?: Session['mode'];
}

/** Every transition, in the order of the table. */
export const transitions = (): Transition[] =>
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
