import { hasCode, messageOf } from '../../../../store/base/attempt.ts';
import { dossierCommand } from '../../../../store/base/text.ts';
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
import type { Summary } from '../../../../store/sessions/edited-summary.ts';
import type { SessionChange, SessionRule } from '../../../../store/sessions/sessions.ts';
import type { Outage } from '../../../agents/outage.ts';
import type { RunResult } from '../../../agents/provider.ts';
import { addUsage } from '../../../agents/usage.ts';
import { invalidState, ServiceError } from '../../../errors.ts';
import { shorten } from '../../../text/wording.ts';
import { nextStatus } from './transitions.ts';

/** Starts Plan mode. Undefined when the session is no longer queued. */
export const startPlanning =
  ({ at, ...start }: { at: string; run_marker: string; case_state_before: State }): SessionRule =>
  (session) => {
    const status = nextStatus(session, 'start');
    return status && { mode: 'plan', status, started_at: at, ...start };
  };

/** How a session ends, or pauses. */
export interface SessionEnding {
  at: string;
  /** The body of session.md. */
  summary: Summary;
  turn?: FinishedTurn | undefined;
  /** The results of its commands so far. */
  commands?: CommandsMatter | undefined;
  /** The commit of completed work, or what was left uncommitted. */
  commit?: WorkCommit | undefined;
}

/** What a session's record keeps of a finished turn. */
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

const endBy =
  (event: 'complete' | 'fail' | 'abort', ending: SessionEnding): SessionRule =>
  (session, matter) => {
    const status = nextStatus(session, event);
    return status && { status, ended_at: ending.at, ...workChange(session, matter, ending) };
  };

const workChange = (
  session: Session,
  matter: SessionMatter,
  { summary, turn, commands, commit }: Partial<SessionEnding>,
): SessionChange => ({
  ...(summary !== undefined && { summary }),
  ...(commands && { commands }),
  ...commitChange(matter, commit),
  ...turnChange(session, matter, turn),
});

// What an earlier pause left uncommitted is outdated.
const commitChange = ({ commit: before }: SessionMatter, commit?: WorkCommit): SessionChange => {
  if (commit !== undefined) return { commit };
  return before == null ? {} : { commit: null };
};

export const completeSession = (ending: SessionEnding): SessionRule => endBy('complete', ending);

/** Undefined when the session has ended meanwhile. */
export const fail =
  ({ error, ...ending }: SessionEnding & { error: string }): SessionRule =>
  (session, matter) => {
    const change = endBy('fail', ending)(session, matter);
    return change && { ...change, error: keptError(error) };
  };

// It may be all that a program printed, and the front matter has a limit.
const keptError = (error: string): string => shorten(visible(error), LONGEST_ERROR);

const LONGEST_ERROR = 4000;

export const abort =
  (ending: SessionEnding): SessionRule =>
  (session, matter) => {
    const change = endBy('abort', ending)(session, matter);
    if (change === undefined)
      throw invalidState(`The session is ${session.status} already; there is nothing to abort.`);
    return { ...change, ...clearedPause(matter) };
  };

/** Pauses a session at the operator's request. The agent's own session id and its usage are kept. */
export const pause =
  (ending: Omit<SessionEnding, 'at'>): SessionRule =>
  (session, matter) => ({
    status: checkEvent(session, 'pause'),
    error: null,
    ...pauseChange(matter, 'operator'),
    ...workChange(session, matter, ending),
  });

/** Pauses a session that cannot continue. It does not restart by itself: the operator resumes or aborts it. */
export const interrupt =
  (error: string, { outage, ...ending }: Partial<SessionEnding> & WithOutage = {}): SessionRule =>
  (session, matter) => {
    const status = nextStatus(session, 'interrupt');
    return (
      status && {
        status,
        error: keptError(error),
        ...pauseChange(matter, outage?.reason ?? 'interrupted', outage?.resume_at),
        ...workChange(session, matter, ending),
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
    ...commitChange(matter),
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

/**
 * Pauses a session that started before and whose record says that it is queued, because a file starts no agent. Undefined when
 * its record says otherwise by now.
 */
export const pauseRequeued: SessionRule = (session, matter) => {
  const status = nextStatus(session, 'requeue');
  return status && { status, error: REQUEUED, ...pauseChange(matter, 'interrupted') };
};

const REQUEUED =
  'session.md was set back to queued after the session had started, and a file starts no agent. Resume the session, or abort it.';

interface WithOutage {
  /** Set where the agent's model is unavailable for a while. */
  outage?: Outage | undefined;
}

// A key that the record does not have is left out instead of set to null.
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

const clearedPause = ({ pause_reason, resume_at }: SessionMatter): SessionChange => ({
  ...(pause_reason && { pause_reason: null }),
  ...(resume_at && { resume_at: null }),
});

/** The error of a session that was running when the daemon stopped. */
export const INTERRUPTED =
  'The daemon stopped while the session was running. The work so far is in the worktree.';

/** The same for one whose turn had not begun. */
export const INTERRUPTED_WAITING =
  'The daemon stopped while the session waited for one of the max_sessions slots, so nothing was run in this turn. Resume it, or abort it.';

/** The error of a session whose record was gone while it ran. */
export const TAKEN_AWAY =
  'The directory of the session was removed while it worked, for example by git switch. The work so far is in the worktree. Resume the session, or abort it.';

/** The error of a session whose worktree could not be compared. It stays true once the operator confirms the worktree. */
export const notCompared = (error: unknown): string => {
  const isUnknown = hasCode(error, 'worktree_elsewhere');
  const why = isUnknown ? 'its record was not written on this machine.' : messageOf(error);
  return `The worktree could not be compared with how it was before the turn: ${why} The comparison is repeated when the session is resumed.`;
};

/** The usage of a session over all its turns; null where no agent reported any. */
export const totalUsage = (before: Usage | null, more: Usage | undefined): Usage | null =>
  more === undefined ? before : addUsage(before, more);

/** Whether a session in this status has a turn that runs, or should. */
export const isRunning = (status: Session['status']): boolean =>
  status === 'planning' || status === 'working';

/** Records a run that another run of the same turn follows. */
export const recordRun =
  (turn: FinishedTurn): SessionRule =>
  (session, matter) =>
    turnChange(session, matter, turn);

// The usage of a turn is added when its session leaves `planning` or `working`, so once, however the turn ends.
const turnChange = (
  { status, usage }: Session,
  matter: SessionMatter,
  turn: FinishedTurn | undefined,
): SessionChange => {
  if (!isRunning(status)) return {};
  const { native_cost_usd = 0 } = turn ?? {};
  const native_session_id = keptId(turn?.native_session_id);
  const costs = native_cost_usd > 0 || matter.native_cost_usd !== undefined;
  return {
    usage: totalUsage(usage, turn?.usage),
    ...(native_session_id !== undefined && { native_session_id }),
    ...(native_session_id !== undefined && costs && { native_cost_usd }),
  };
};

// The agent makes it. A text that long is no id, and would not fit into the front matter.
const keptId = (id?: string): string | undefined =>
  id !== undefined && id.length <= LONGEST_ID ? id : undefined;

const LONGEST_ID = 1000;

/** Throws 409 `approved_elsewhere` for a session whose start or approval is known from its files only. */
export const refuseUnconfirmed = (
  { id, case_id, unconfirmed, approved_sha256 }: Session,
  workspace?: string,
): void => {
  if (unconfirmed === 'started')
    throw new ServiceError(
      'approved_elsewhere',
      `Session ${id} was not started on this machine, or its record was changed since. Review and confirm it with \`${dossierCommand('trust', workspace)}\`, or abort it.`,
    );
  if (unconfirmed === 'approved')
    throw new ServiceError(
      'approved_elsewhere',
      `The plan of session ${id} was not approved on this machine, or its record was changed since. Read approved.md, then approve it again with \`${dossierCommand(`approve ${case_id.slice(0, 8)} --session ${id.slice(0, 8)}`, workspace)}\`, or with POST …/sessions/${id}/approve and its plan_sha256; or abort the session.`,
      { members: { plan_sha256: approved_sha256 } },
    );
};

/** Throws 422 `invalid_state` for a session of another machine, which has its agent, worktree and lock. */
export const refuseElsewhere = ({ id, status, elsewhere, path }: Session): void => {
  if (elsewhere !== true) return;
  throw invalidState(
    `Session ${id} (${status}) was started on another machine and can continue only there. If that machine or its .dossier/ no longer exists, set \`status: aborted\` in ${path}/session.md.`,
  );
};
