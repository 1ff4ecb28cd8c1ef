import { visible } from '../../../../store/base/visible.ts';
import type { State } from '../../../../store/records/case.ts';
import type { CommandsMatter } from '../../../../store/records/commands.ts';
import {
  isEnded,
  type PauseReason,
  type Session,
  type SessionMatter,
  type Usage,
} from '../../../../store/records/session.ts';
import type { WorkCommit } from '../../../../store/records/work-commit.ts';
import type { SessionChange, SessionRule } from '../../../../store/sessions/sessions.ts';
import type { Outage } from '../../../agents/outage.ts';
import type { RunResult } from '../../../agents/provider.ts';
import { hiddenBlock } from '../../../agents/runbook/shell-blocks.ts';
import { addUsage } from '../../../agents/usage.ts';
import { invalidState, ServiceError } from '../../../errors.ts';
import { approvedCommands, NONE_UNASKED, type UnaskedApproval, unaskedChange } from './unasked.ts';

/** Plan mode begins: the session holds the lock and its agent reads. Undefined when it is no longer waiting. */
export const startPlanning =
  ({ at, ...start }: { at: string; run_marker: string; case_state_before: State }): SessionRule =>
  ({ status }) =>
    status === 'queued'
      ? { mode: 'plan', status: 'planning', started_at: at, ...start }
      : undefined;

/** How a session, or for a while its turn, ends. */
export interface SessionEnding {
  at: string;
  /** For people: the body of session.md. */
  summary: string;
  turn?: RememberedTurn | undefined;
  /** What its approved commands came to so far. */
  commands?: CommandsMatter | undefined;
  /** What became of completed work in git. */
  commit?: WorkCommit | undefined;
}

/** What is remembered of a turn that is over. */
export type RememberedTurn = Pick<RunResult, 'usage' | 'native_session_id' | 'native_cost_usd'>;

export const planReady =
  (turn: RememberedTurn): SessionRule =>
  (session, matter) =>
    session.status !== 'planning'
      ? undefined
      : {
          status: 'plan_ready',
          ...(matter.feedback !== undefined && { feedback: null }),
          ...turnTold(session, matter, turn),
        };

/** What the operator says yes to, and who said it when. */
export interface Approval {
  plan: { sha256: string; content: string } | undefined;
  /** The hash of the plan that the operator read. */
  seen: string | undefined;
  unasked?: UnaskedApproval;
  run_marker: string;
  at: string;
  by: string;
}

/**
 * The operator gate: nothing else in the service leaves Plan mode. The approval binds to the plan's hash: `seen` is the
 * one the operator read, and what runs is the text of that hash.
 */
export const startWork =
  ({ plan, seen, unasked = NONE_UNASKED, run_marker, at, by }: Approval): SessionRule =>
  (session, matter) => {
    if (session.mode === 'work' && !isEnded(session.status)) throw workModeActive();
    if (session.status !== 'plan_ready' || plan === undefined) throw planNotReady(session);
    checkPlan(plan, seen);
    const commands = approvedCommands(plan, unasked);
    return {
      mode: 'work',
      status: 'working',
      plan_sha256: plan.sha256,
      approved_at: at,
      approved_by: by,
      approved_sha256: plan.sha256,
      ...unaskedChange(matter, commands),
      run_marker,
    };
  };

/** Throws where a plan is empty, hides text, or is not the one that the operator read. */
export const checkPlan = (plan: { sha256: string; content: string }, seen = plan.sha256): void => {
  if (plan.content.trim() === '') throw planEmpty();
  if (seen !== plan.sha256) throw planChanged(plan.sha256);
  const hidden = hiddenBlock(plan.content);
  if (hidden !== undefined) throw planHidesText(hidden);
};

const planHidesText = (hidden: string): ServiceError =>
  new ServiceError(
    'plan_hides_text',
    `${hidden} What is seen has to be what runs: take it out of plan.md, then approve. Nothing was run.`,
  );

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
    checkSaid(revision.comment);
    return { status: 'planning', feedback: revision.comment, run_marker: revision.run_marker };
  };

/** In characters: the agent reads it beside the plan. */
const LONGEST_SAID = 100_000;

const checkSaid = (comment: string): void => {
  if (comment === '')
    throw invalidState(
      'There is no comment that was not sent yet. Write one into comments.md of the session, or send `comment`.',
    );
  if (comment.length > LONGEST_SAID)
    throw invalidState(
      `The comments that were not sent yet have ${comment.length} characters; ${LONGEST_SAID} can be sent at once. Shorten comments.md of the session.`,
    );
};

// How a session ends, whatever becomes of it.
const endedAs =
  (
    status: 'completed' | 'failed' | 'aborted',
    { at, summary, turn, commands, commit }: SessionEnding,
  ) =>
  (session: Session, matter: SessionMatter): SessionChange => ({
    ...{ status, ended_at: at, summary },
    ...(commands && { commands }),
    ...(commit && { commit }),
    ...turnTold(session, matter, turn),
  });

export const completeSession =
  (ending: SessionEnding): SessionRule =>
  (session, matter) =>
    session.status === 'working' ? endedAs('completed', ending)(session, matter) : undefined;

/** Undefined when it has ended otherwise meanwhile. */
export const fail =
  ({ error, ...ending }: SessionEnding & { error: string }): SessionRule =>
  (session, matter) =>
    isEnded(session.status)
      ? undefined
      : { ...endedAs('failed', ending)(session, matter), error: visible(error) };

export const abort =
  (ending: SessionEnding): SessionRule =>
  (session, matter) => {
    if (isEnded(session.status))
      throw invalidState(`The session is ${session.status} already; there is nothing to abort.`);
    return { ...endedAs('aborted', ending)(session, matter), ...pausedNoMore(matter) };
  };

/** The operator stops it for a while. What the agent called its session, and what it used, is remembered. */
export const pause =
  ({ summary, turn, commands }: Omit<SessionEnding, 'at'>): SessionRule =>
  (session, matter) => {
    if (!isRunning(session.status)) throw notNow(session, 'pause');
    return {
      status: 'paused',
      error: null,
      ...becauseOf(matter, 'operator'),
      summary,
      ...(commands && { commands }),
      ...turnTold(session, matter, turn),
    };
  };

/** A session that should run does not. Nothing goes on by itself: the operator resumes or aborts. */
export const interrupt =
  (
    error: string,
    { summary, turn, outage, commands }: Partial<SessionEnding> & WithOutage = {},
  ): SessionRule =>
  (session, matter) =>
    isRunning(session.status)
      ? {
          status: 'paused',
          error: visible(error),
          ...becauseOf(matter, outage?.reason ?? 'interrupted', outage?.resume_at),
          ...(summary !== undefined && { summary }),
          ...(commands && { commands }),
          ...turnTold(session, matter, turn),
        }
      : undefined;

interface WithOutage {
  /** The agent's model does not serve it for now. */
  outage?: Outage | undefined;
}

// A key that was never there is not written as null.
const becauseOf = (
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
export const pausedNoMore = ({ pause_reason, resume_at }: SessionMatter): SessionChange => ({
  ...(pause_reason && { pause_reason: null }),
  ...(resume_at && { resume_at: null }),
});

/** What is asked of a session means nothing in its status. */
export const notNow = ({ status }: Pick<Session, 'status'>, what: string): ServiceError =>
  invalidState(`The session is ${status}; there is nothing to ${what}.`);

/** An ended daemon's sessions, as the next one finds them. */
export const INTERRUPTED =
  'The daemon stopped while the session ran. What was done so far is in the worktree.';

/** What a session used in all its turns so far; null where no agent told. */
export const usedSoFar = (before: Usage | null, more: Usage | undefined): Usage | null =>
  more === undefined ? before : addUsage(before, more);

/** Whether a turn of it goes on, or should. */
export const isRunning = (status: Session['status']): boolean =>
  status === 'planning' || status === 'working';

/** A run is over, and another one goes on with the turn. */
export const runOver =
  (turn: RememberedTurn): SessionRule =>
  (session, matter) =>
    turnTold(session, matter, turn);

// A turn is counted as its session leaves `planning` or `working`: once, whoever ends it.
const turnTold = (
  { status, usage }: Session,
  matter: SessionMatter,
  turn: RememberedTurn | undefined,
): SessionChange => {
  if (!isRunning(status)) return {};
  const { native_session_id, native_cost_usd = 0 } = turn ?? {};
  const costs = native_cost_usd > 0 || matter.native_cost_usd !== undefined;
  return {
    usage: usedSoFar(usage, turn?.usage),
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
