import { sha256 } from '../../../../store/base/sha256.ts';
import type { SessionMatter } from '../../../../store/records/session.ts';
import { isEnded, type Session, type Status } from '../../../../store/records/session.ts';
import type { SessionRule } from '../../../../store/sessions/sessions.ts';
import { hiddenBlock } from '../../../agents/runbook/hidden-blocks.ts';
import { commandLines } from '../../../agents/runbook/shell-lines.ts';
import { badField, invalidState, ServiceError } from '../../../errors.ts';
import { nextStatus } from './transitions.ts';

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
    const status = checkPlanWaits(session, 'approve');
    if (plan === undefined) throw planNotReady(session);
    checkPlan(plan, seen);
    const commands = approvedCommands(plan, unasked);
    return {
      mode: 'work',
      status,
      plan_sha256: plan.sha256,
      approved_at: at,
      approved_by: by,
      approved_sha256: plan.sha256,
      ...unaskedChange(matter, commands),
      run_marker,
    };
  };

// A session in Work mode has a refusal of its own: its plan was approved already.
const checkPlanWaits = (session: Session, event: 'approve' | 'request_changes'): Status => {
  if (session.mode === 'work' && !isEnded(session.status)) throw workModeActive();
  const status = nextStatus(session, event);
  if (status === undefined) throw planNotReady(session);
  return status;
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
export const requestChanges =
  (revision: { comment: string; run_marker: string }): SessionRule =>
  (session) => {
    const status = checkPlanWaits(session, 'request_changes');
    checkComment(revision.comment);
    return { status, feedback: revision.comment, run_marker: revision.run_marker };
  };

/** In characters: the agent reads it beside the plan. */
const LONGEST_SAID = 100_000;

const checkComment = (comment: string): void => {
  if (comment === '')
    throw invalidState(
      'There is no comment that was not sent yet. Write one into comments.md of the session, or send `comment`.',
    );
  if (comment.length > LONGEST_SAID)
    throw invalidState(
      `The comments that were not sent yet have ${comment.length} characters; ${LONGEST_SAID} can be sent at once. Shorten comments.md of the session.`,
    );
};

/** What the operator approves besides the text of a plan: the commands of it that run without asking. */
export interface UnaskedApproval {
  /** Of the text and the commands that were shown; undefined where the text alone is approved. */
  approval_sha256?: string | undefined;
  /** Commands that were taken out. */
  ask?: readonly string[] | undefined;
  /** `permissions.execute` is `plan`, and its sandbox is enforced. */
  allowsPlanCommands: boolean;
}

/** Of who approves the text alone. */
export const NONE_UNASKED: UnaskedApproval = { allowsPlanCommands: false };

/** The commands that would run without asking. Throws `bad_request` where one that is taken out is not among them. */
export const commandsOffered = (plan: string, ask: readonly string[] = []): string[] => {
  const commands = commandLines(plan);
  const unknown = ask.find((line) => !commands.includes(line));
  if (unknown === undefined) return commands.filter((line) => !ask.includes(line));
  throw badField(
    '/ask',
    'names no command of the list',
    `The plan has no command ${JSON.stringify(unknown)} that would run without asking. GET …/boundary lists them.`,
  );
};

/** One hash for the text of a plan and for the commands of it that run without asking: each is one line of what is hashed. */
export const approvalHash = (plan_sha256: string, commands: readonly string[]): string =>
  sha256([plan_sha256, ...commands].map((line) => `${line}\n`).join(''));

/** Replaces what the record lists, which a file can claim. */
export const unaskedChange = (
  { unasked }: Pick<SessionMatter, 'unasked'>,
  commands: string[] = [],
): Pick<SessionMatter, 'unasked'> => {
  if (commands.length > 0) return { unasked: commands };
  return unasked === undefined ? {} : { unasked: null };
};

/** The commands that are approved. None without their hash; throws `plan_changed` where they, or the text, are others by now. */
export const approvedCommands = (
  plan: { sha256: string; content: string },
  { approval_sha256, ask, allowsPlanCommands }: UnaskedApproval,
): string[] => {
  if (approval_sha256 === undefined) return [];
  const commands = allowsPlanCommands ? commandsOffered(plan.content, ask) : [];
  if (approvalHash(plan.sha256, commands) === approval_sha256) return commands;
  throw new ServiceError(
    'plan_changed',
    'The plan, or the list of commands that run without asking, changed since you read it. Read both again, then approve them.',
    { members: { plan_sha256: plan.sha256 } },
  );
};
