import type { State } from '../../store/records/case.ts';
import { isEnded, type Session, type Usage } from '../../store/records/session.ts';
import type { SessionChange, SessionRule } from '../../store/sessions/sessions.ts';
import { ServiceError } from '../errors.ts';
import type { RunResult } from '../providers/provider.ts';
import { addUsage } from '../providers/usage.ts';

/** Plan mode begins: the session holds the lock and its agent reads. Undefined when it is no longer waiting. */
export const startPlanning =
  (start: { at: string; run_marker: string; case_state_before: State }): SessionRule =>
  (session) =>
    session.status !== 'queued'
      ? undefined
      : {
          mode: 'plan',
          status: 'planning',
          started_at: start.at,
          run_marker: start.run_marker,
          case_state_before: start.case_state_before,
        };

export const planReady =
  (result: { usage: Usage | undefined; native_session_id: string | undefined }): SessionRule =>
  ({ status, usage }, { feedback }) =>
    status !== 'planning'
      ? undefined
      : {
          status: 'plan_ready',
          ...(feedback !== undefined && { feedback: null }),
          usage: usedSoFar(usage, result.usage),
          ...native(result.native_session_id),
        };

/**
 * The operator gate: nothing else in the service leaves Plan mode. The approval binds to the plan's hash: `seen` is the
 * one the operator read, and what runs is the text of that hash.
 */
export const startWork =
  (approval: {
    plan: { sha256: string; content: string } | undefined;
    seen: string | undefined;
    run_marker: string;
  }): SessionRule =>
  (session) => {
    const { plan, seen } = approval;
    if (session.mode === 'work' && !isEnded(session.status)) throw workModeActive();
    if (session.status !== 'plan_ready' || plan === undefined) throw planNotReady(session);
    checkPlan(plan, seen);
    return {
      mode: 'work',
      status: 'working',
      plan_sha256: plan.sha256,
      run_marker: approval.run_marker,
    };
  };

const checkPlan = (plan: { sha256: string; content: string }, seen = plan.sha256): void => {
  if (plan.content.trim() === '') throw planEmpty();
  if (seen !== plan.sha256) throw planChanged(plan.sha256);
};

const planEmpty = (): ServiceError =>
  new ServiceError(
    'plan_empty',
    'plan.md is empty. Write what is to be done into it, then approve.',
  );

const workModeActive = (): ServiceError =>
  new ServiceError(
    'work_mode_active',
    'Work mode is already active in this session; follow it at …/stream.',
  );

const planNotReady = ({ status }: Session): ServiceError => {
  const hint = isEnded(status) ? 'Create a new session.' : 'Wait for plan_ready in …/stream.';
  return new ServiceError(
    'plan_not_ready',
    `The session is ${status}: there is no plan to approve. ${hint}`,
  );
};

const planChanged = (sha256: string): ServiceError =>
  new ServiceError(
    'plan_changed',
    'The plan changed since you read it. Read plan.md again, then approve what it says now.',
    {
      members: { plan_sha256: sha256 },
    },
  );

/** The operator wants another plan: the comment stays with the session until its next plan is there. */
export const sendBack =
  (revision: { comment: string; run_marker: string }): SessionRule =>
  (session) => {
    if (session.mode === 'work' && !isEnded(session.status)) throw workModeActive();
    if (session.status !== 'plan_ready') throw planNotReady(session);
    return { status: 'planning', feedback: revision.comment, run_marker: revision.run_marker };
  };

export const complete =
  (end: {
    at: string;
    summary: string;
    usage: Usage | undefined;
    native_session_id: string | undefined;
  }): SessionRule =>
  ({ status, usage }) =>
    status !== 'working'
      ? undefined
      : {
          status: 'completed',
          ended_at: end.at,
          usage: usedSoFar(usage, end.usage),
          summary: end.summary,
          ...native(end.native_session_id),
        };

/** Undefined when it has ended otherwise meanwhile. */
export const fail =
  (end: { at: string; error: string; usage?: Usage | undefined; summary?: string }): SessionRule =>
  ({ status, usage }) =>
    isEnded(status)
      ? undefined
      : {
          status: 'failed',
          ended_at: end.at,
          error: end.error,
          usage: usedSoFar(usage, end.usage),
          ...(end.summary !== undefined && { summary: end.summary }),
        };

export const abort =
  (at: string, used?: Usage): SessionRule =>
  ({ status, usage }): SessionChange | undefined => {
    if (!isEnded(status)) return { status: 'aborted', ended_at: at, usage: usedSoFar(usage, used) };
    throw new ServiceError(
      'invalid_state',
      `The session is ${status} already; there is nothing to abort.`,
    );
  };

/** The operator stops it for a while. What the agent called its session, and what it used, is remembered. */
export const pause = (session: Session, result: RunResult | undefined): SessionChange => {
  if (session.status !== 'planning' && session.status !== 'working') throw notNow(session, 'pause');
  return {
    status: 'paused',
    error: null,
    usage: usedSoFar(session.usage, result?.usage),
    ...native(result?.native_session_id),
  };
};

/** A session that should run does not. Nothing goes on by itself: the operator resumes or aborts. */
export const interrupt =
  (error: string): SessionRule =>
  ({ status }) =>
    status === 'planning' || status === 'working' ? { status: 'paused', error } : undefined;

/** What is asked of a session means nothing in its status. */
export const notNow = ({ status }: Pick<Session, 'status'>, what: string): ServiceError =>
  new ServiceError('invalid_state', `The session is ${status}; there is nothing to ${what}.`);

/** An ended daemon's sessions, as the next one finds them. */
export const INTERRUPTED =
  'The daemon stopped while the session ran. What was done so far is in the worktree.';

/** What a session used in all its turns so far; null where no agent told. */
export const usedSoFar = (before: Usage | null, more: Usage | undefined): Usage | null =>
  more === undefined ? before : addUsage(before, more);

const native = (id: string | undefined): { native_session_id?: string } =>
  id === undefined ? {} : { native_session_id: id };
