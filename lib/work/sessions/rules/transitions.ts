import type { Session, Status } from '../../../../store/records/session.ts';

/** Everything that can happen to a session. */
export type SessionEvent =
  | 'start'
  | 'requeue'
  | 'plan_written'
  | 'message'
  | 'request_changes'
  | 'approve'
  | 'complete'
  | 'pause'
  | 'interrupt'
  | 'resume'
  | 'fail'
  | 'abort'
  | 'dismiss';

/** The next status; by mode where it depends on whether the plan was approved. */
export type Next = Status | Readonly<Record<Session['mode'], Status>>;

/** The life of a session: the only place that says which event is legal in which status. */
export const TRANSITIONS: Readonly<Record<Status, Readonly<Partial<Record<SessionEvent, Next>>>>> =
  {
    queued: {
      start: 'planning',
      requeue: 'paused',
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
