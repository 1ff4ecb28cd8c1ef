import { visible } from '../../../../store/base/visible.ts';
import type { State } from '../../../../store/records/case.ts';
import type { CommandsMatter } from '../../../../store/records/commands.ts';
import type {
  PauseReason,
  Session,
  SessionMatter,
  Status,
  Usage,
} from '../../../../store/records/session.ts';
import type { WorkCommit } from '../../../../store/records/work-commit.ts';
import type { SessionChange, SessionRule } from '../../../../store/sessions/sessions.ts';
import type { Outage } from '../../../agents/outage.ts';
import type { RunResult } from '../../../agents/provider.ts';
import { addUsage } from '../../../agents/usage.ts';
import { invalidState, ServiceError } from '../../../errors.ts';
import { nextStatus } from './transitions.ts';

/** Plan mode begins: the session holds the lock and its agent reads. Undefined when it is no longer waiting. */
export const startPlanning =
  ({ at, ...start }: { at: string; run_marker: string; case_state_before: State }): SessionRule =>
  (session) => {
    const status = nextStatus(session, 'start');
    return status && { mode: 'plan', status, started_at: at, ...start };
  };

/** How a session, or for a while its turn, ends. */
export interface SessionEnding {
  at: string;
  /** For people: the body of session.md. */
  summary: string;
  turn?: FinishedTurn | undefined;
  /** What its approved commands came to so far. */
  commands?: CommandsMatter | undefined;
  /** What became of completed work in git. */
  commit?: WorkCommit | undefined;
}

/** What is remembered of a turn that is over. */
export type FinishedTurn = Pick<RunResult, 'usage' | 'native_session_id' | 'native_cost_usd'>;

export const planReady =
  (turn: FinishedTurn): SessionRule =>
  (session, matter) => {
    const status = nextStatus(session, 'plan_written');
    return (
      status && {
        status,
        ...(matter.feedback !== undefined && { feedback: null }),
        ...turnChange(session, matter, turn),
      }
    );
  };

// How a session ends, whatever becomes of it.
const endBy =
  (
    event: 'complete' | 'fail' | 'abort',
    { at, summary, turn, commands, commit }: SessionEnding,
  ): SessionRule =>
  (session, matter) => {
    const status = nextStatus(session, event);
    return (
      status && {
        status,
        ended_at: at,
        summary,
        ...(commands && { commands }),
        ...(commit && { commit }),
        ...turnChange(session, matter, turn),
      }
    );
  };

export const completeSession = (ending: SessionEnding): SessionRule => endBy('complete', ending);

/** Undefined when it has ended otherwise meanwhile. */
export const fail =
  ({ error, ...ending }: SessionEnding & { error: string }): SessionRule =>
  (session, matter) => {
    const change = endBy('fail', ending)(session, matter);
    return change && { ...change, error: visible(error) };
  };

export const abort =
  (ending: SessionEnding): SessionRule =>
  (session, matter) => {
    const change = endBy('abort', ending)(session, matter);
    if (change === undefined)
      throw invalidState(`The session is ${session.status} already; there is nothing to abort.`);
    return { ...change, ...clearedPause(matter) };
  };

/** The operator stops it for a while. What the agent called its session, and what it used, is remembered. */
export const pause =
  ({ summary, turn, commands }: Omit<SessionEnding, 'at'>): SessionRule =>
  (session, matter) => {
    const status = checkEvent(session, 'pause');
    return {
      status,
      error: null,
      ...pauseChange(matter, 'operator'),
      summary,
      ...(commands && { commands }),
      ...turnChange(session, matter, turn),
    };
  };

/** A session that should run does not. Nothing goes on by itself: the operator resumes or aborts. */
export const interrupt =
  (
    error: string,
    { summary, turn, outage, commands }: Partial<SessionEnding> & WithOutage = {},
  ): SessionRule =>
  (session, matter) => {
    const status = nextStatus(session, 'interrupt');
    return (
      status && {
        status,
        error: visible(error),
        ...pauseChange(matter, outage?.reason ?? 'interrupted', outage?.resume_at),
        ...(summary !== undefined && { summary }),
        ...(commands && { commands }),
        ...turnChange(session, matter, turn),
      }
    );
  };

/** The session continues in its mode, in Work mode with the plan that was approved. */
export const resume =
  (run_marker: string): SessionRule =>
  (session, matter) => ({
    status: checkEvent(session, 'resume'),
    run_marker,
    error: null,
    ...clearedPause(matter),
  });

/** Throws 422 `invalid_state` where the event is not legal; returns the next status. */
export const checkEvent = (
  session: Pick<Session, 'status' | 'mode'>,
  event: 'pause' | 'resume',
): Status => {
  const status = nextStatus(session, event);
  if (status !== undefined) return status;
  throw invalidState(`The session is ${session.status}; there is nothing to ${event}.`);
};

interface WithOutage {
  /** The agent's model does not serve it for now. */
  outage?: Outage | undefined;
}

// A key that was never there is not written as null.
const pauseChange = (
  matter: SessionMatter,
  pause_reason: PauseReason,
  resume_at?: string,
): SessionChange => ({
  pause_reason,
  ...((resume_at !== undefined || matter.resume_at !== undefined) && {
    resume_at: resume_at ?? null,
  }),
});

/** Why it was paused, and until when, is told no more. */
const clearedPause = ({ pause_reason, resume_at }: SessionMatter): SessionChange => ({
  ...(pause_reason && { pause_reason: null }),
  ...(resume_at && { resume_at: null }),
});

/** An ended daemon's sessions, as the next one finds them. */
export const INTERRUPTED =
  'The daemon stopped while the session ran. What was done so far is in the worktree.';

/** What a session used in all its turns so far; null where no agent told. */
export const totalUsage = (before: Usage | null, more: Usage | undefined): Usage | null =>
  more === undefined ? before : addUsage(before, more);

/** Whether a turn of it goes on, or should. */
export const isRunning = (status: Session['status']): boolean =>
  status === 'planning' || status === 'working';

/** A run is over, and another one goes on with the turn. */
export const recordRun =
  (turn: FinishedTurn): SessionRule =>
  (session, matter) =>
    turnChange(session, matter, turn);

// A turn is counted as its session leaves `planning` or `working`: once, whoever ends it.
const turnChange = (
  { status, usage }: Session,
  matter: SessionMatter,
  turn: FinishedTurn | undefined,
): SessionChange => {
  if (!isRunning(status)) return {};
  const { native_session_id, native_cost_usd = 0 } = turn ?? {};
  const costs = native_cost_usd > 0 || matter.native_cost_usd !== undefined;
  return {
    usage: totalUsage(usage, turn?.usage),
    ...(native_session_id !== undefined && { native_session_id }),
    ...(native_session_id !== undefined && costs && { native_cost_usd }),
  };
};

/** Throws 409 for a session that was started, or approved, by what its files say alone. */
export const refuseUnconfirmed = ({ id, case_id, unconfirmed, approved_sha256 }: Session): void => {
  if (unconfirmed === 'started')
    throw new ServiceError(
      'approved_elsewhere',
      `Session ${id} was started elsewhere, not on this machine, or its record was changed since. Look at it with dossier trust, which asks whether it may run, or abort it.`,
    );
  if (unconfirmed === 'approved')
    throw new ServiceError(
      'approved_elsewhere',
      `The plan of session ${id} was approved elsewhere, not on this machine, or its record was changed since. Read approved.md and approve it again to run it: dossier approve ${case_id.slice(0, 8)} --session ${id.slice(0, 8)}, or POST …/sessions/${id}/approve with its plan_sha256. Or abort the session.`,
      { members: { plan_sha256: approved_sha256 } },
    );
};

/** Throws 422 for a session that another machine runs: its agent, its worktree and its lock are there. */
export const refuseElsewhere = ({ id, status, elsewhere }: Session): void => {
  if (elsewhere !== true) return;
  throw invalidState(
    `Session ${id} (${status}) was started on another machine, and goes on only there. If that machine, or its .dossier/, is gone for good, write status: aborted into its session.md.`,
  );
};
