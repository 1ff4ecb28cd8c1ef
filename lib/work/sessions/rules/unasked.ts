import { sha256 } from '../../../../store/base/sha256.ts';
import type { SessionMatter } from '../../../../store/records/session.ts';
import { commandLines } from '../../../agents/runbook/shell-lines.ts';
import { badField, ServiceError } from '../../../errors.ts';

/** What the operator approves besides the text of a plan: the commands of it that run without asking. */
export interface UnaskedApproval {
  /** Of the text and the commands that were shown; undefined where the text alone is approved. */
  approval_sha256?: string | undefined;
  /** Commands that were taken out. */
  ask?: readonly string[] | undefined;
  /** `permissions.execute` is `plan`, and its sandbox is enforced. */
  isListed: boolean;
}

/** Of who approves the text alone. */
export const NONE_UNASKED: UnaskedApproval = { isListed: false };

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
  { approval_sha256, ask, isListed }: UnaskedApproval,
): string[] => {
  if (approval_sha256 === undefined) return [];
  const commands = isListed ? commandsOffered(plan.content, ask) : [];
  if (approvalHash(plan.sha256, commands) === approval_sha256) return commands;
  throw new ServiceError(
    'plan_changed',
    'The plan, or the list of commands that run without asking, changed since you read it. Read both again, then approve them.',
    { members: { plan_sha256: plan.sha256 } },
  );
};
