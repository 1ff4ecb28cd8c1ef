import { sha256 } from '../../../../store/base/sha256.ts';
import { refuseConflict } from '../../../../store/front-matter/text-file.ts';
import {
  isEnded,
  type Session,
  type SessionMatter,
  type Status,
} from '../../../../store/records/session.ts';
import { charactersOver } from '../../../../store/sessions/session-file.ts';
import type { SessionRule } from '../../../../store/sessions/sessions.ts';
import { commandLines, hiddenBlock } from '../../../agents/runbook/shell-blocks.ts';
import { badField, invalidState, ServiceError } from '../../../errors.ts';
import { nextStatus } from './transitions.ts';

/** An approval by the operator. */
export interface Approval {
  plan: { sha256: string; content: string } | undefined;
  /** The hash of the plan that the operator read, where it was sent. */
  seen: string | undefined;
  unasked?: UnaskedApproval;
  run_marker: string;
  at: string;
  by: string;
  /** The name of the approver, a label. */
  name?: string | null;
}

/**
 * The operator gate: the only rule that leaves Plan mode. The approval binds to the plan's hash: `seen` is the hash of
 * the text that the operator read, and exactly that text runs.
 */
export const startWork =
  ({
    plan,
    seen,
    unasked = NONE_UNASKED,
    run_marker,
    at,
    by,
    name = null,
  }: Approval): SessionRule =>
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
      approved_name: name,
      approved_sha256: plan.sha256,
      ...unaskedChange(matter, commands),
      run_marker,
    };
  };

// In Work mode the refusal is `work_mode_active`, because the plan was approved already.
const checkPlanWaits = (session: Session, event: 'approve' | 'request_changes'): Status => {
  if (session.mode === 'work' && !isEnded(session.status)) throw workModeActive(session);
  const status = nextStatus(session, event);
  if (status === undefined) throw planNotReady(session);
  return status;
};

/**
 * Throws `plan_empty`, `plan_changed` where the operator read another text, `unreadable_record` where both sides of a merge
 * conflict would run, or `plan_hides_text`, also where the bytes that were hashed are not UTF-8: the text that was read is then
 * not what the file has.
 */
export const checkPlan = (plan: { sha256: string; content: string }, seen = plan.sha256): void => {
  if (plan.content.trim() === '') throw planEmpty();
  if (seen !== plan.sha256) throw planChanged(plan.sha256);
  if (sha256(plan.content) !== plan.sha256) throw planHidesText('The plan is not UTF-8.');
  refuseConflict({ ...plan, filename: 'plan.md' });
  const hidden = hiddenBlock(plan.content);
  if (hidden !== undefined) throw planHidesText(hidden);
};

const planHidesText = (hidden: string): ServiceError =>
  new ServiceError(
    'plan_hides_text',
    `${hidden} Change that in plan.md, then approve. Nothing was run.`,
  );

const planEmpty = (): ServiceError =>
  new ServiceError('plan_empty', 'plan.md is empty. Write a plan, then approve it.');

const workModeActive = ({ status }: Session): ServiceError =>
  new ServiceError(
    'work_mode_active',
    status === 'paused'
      ? 'Work mode is already active in this session, which is paused. Resume it with POST /api/cases/…/session/resume.'
      : 'Work mode is already active in this session. Follow it at …/stream.',
  );

const planNotReady = ({ status }: Session): ServiceError => {
  const hint = isEnded(status) ? 'Create a new session.' : 'Wait until its status is plan_ready.';
  return new ServiceError(
    'plan_not_ready',
    `The session is ${status}: there is no plan to approve. ${hint}`,
  );
};

const planChanged = (sha256: string): ServiceError =>
  new ServiceError(
    'plan_changed',
    'The plan changed since you read it. Read plan.md again, then approve the new text.',
    {
      members: { plan_sha256: sha256 },
    },
  );

/** Sends the plan back. The comment stays with the session until the next plan is written. */
export const requestChanges =
  (revision: { comment: string; run_marker: string }): SessionRule =>
  (session, matter) => {
    const status = checkPlanWaits(session, 'request_changes');
    checkComment(revision.comment, matter);
    return { status, feedback: revision.comment, run_marker: revision.run_marker };
  };

const checkComment = (comment: string, matter: SessionMatter): void => {
  if (comment === '')
    throw invalidState(
      'There is no unsent comment. Add one to comments.md of the session, or send `comment`.',
    );
  const over = charactersOver({ ...matter, feedback: comment });
  if (over > 0)
    throw invalidState(
      `The comments have ${comment.length} characters, ${over} more than session.md has room for. Shorten comments.md of the session, or \`comment\`.`,
    );
};

/** The commands of a plan that the operator allows to run without asking. */
export interface UnaskedApproval {
  /** The hash of the text and the commands that were shown; undefined where the text alone is approved. */
  approval_sha256?: string | undefined;
  /** Commands that the operator removed from the list. */
  ask?: readonly string[] | undefined;
  /** True where `permissions.execute` is `plan` and the sandbox is enforced. */
  allowsPlanCommands: boolean;
}

/** The approval of the text alone. */
export const NONE_UNASKED: UnaskedApproval = { allowsPlanCommands: false };

/**
 * Those of the commands that would run without asking. Throws `bad_request` where `ask` names a command that is not among them.
 */
export const commandsOffered = (
  commands: readonly string[],
  ask: readonly string[] = [],
): string[] => {
  const unknown = ask.find((line) => !commands.includes(line));
  if (unknown === undefined) return commands.filter((line) => !ask.includes(line));
  throw badField(
    '/ask',
    'is not in the list of commands',
    `The plan has no command ${JSON.stringify(unknown)} that would run without asking. List them with GET …/boundary.`,
  );
};

/** One hash over the plan's text and its commands that run without asking. Each is hashed as one line. */
export const approvalHash = (plan_sha256: string, commands: readonly string[]): string =>
  sha256([plan_sha256, ...commands].map((line) => `${line}\n`).join(''));

/** Overwrites the list in the record, which may come from an edited file. */
export const unaskedChange = (
  { unasked }: Pick<SessionMatter, 'unasked'>,
  commands: string[] = [],
): Pick<SessionMatter, 'unasked'> => {
  if (commands.length > 0) return { unasked: commands };
  return unasked === undefined ? {} : { unasked: null };
};

/**
 * The approved commands, none without `approval_sha256`. Throws `plan_changed` where the commands or the text differ
 * from what was approved.
 */
export const approvedCommands = (
  plan: { sha256: string; content: string },
  { approval_sha256, ask, allowsPlanCommands }: UnaskedApproval,
): string[] => {
  if (approval_sha256 === undefined) return [];
  const commands = allowsPlanCommands ? commandsOffered(commandLines(plan.content), ask) : [];
  if (approvalHash(plan.sha256, commands) === approval_sha256) return commands;
  throw new ServiceError(
    'plan_changed',
    'The plan, or the list of commands that run without asking, changed since you read it. Read both again, then approve.',
    { members: { plan_sha256: plan.sha256 } },
  );
};
