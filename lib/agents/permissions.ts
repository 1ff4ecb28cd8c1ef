import { visible } from '../../store/base/visible.ts';
import type { Settings } from '../../store/records/settings.ts';
import type { Isolation, PermissionOption, Phase } from './provider.ts';

/** `permissions` of the settings: what an agent may do in Work mode without asking the operator. */
export type PermissionPolicy = Required<NonNullable<Settings['permissions']>>;

/** A permission request of an agent, merged with its tool call. */
export interface PermissionAsk {
  kind: string;
  /** Every path in the tool call, absolute or relative to the worktree. */
  paths: string[];
  /** The shell command of an `execute` request, if nothing else in the tool call changes what it does. */
  command?: string;
  /** The same, only if the shell reads exactly this line. */
  line?: string;
  options: PermissionOption[];
}

export interface PermissionScope {
  phase: Phase;
  policy: PermissionPolicy;
  /** Whether a path is in the worktree, links resolved. */
  inside: (path: string) => boolean;
  /** Command prefixes that the operator allowed in this session. */
  prefixes?: readonly string[];
  /** Commands of the plan that the operator approved to run without asking. */
  unasked?: readonly string[];
}

/** The effective policy: `execute: plan` needs an enforced sandbox, and becomes `ask` without one. */
export const policyWithin = (
  { execute, ...others }: PermissionPolicy,
  isolation: Isolation,
): PermissionPolicy => ({
  ...others,
  execute: execute === 'plan' && isolation !== 'enforced' ? 'ask' : execute,
});

type PermissionDecision =
  | { answer: 'ask' }
  /** `option_id` null: the agent offers no such option, so the answer is `cancelled`. */
  | { answer: 'allow' | 'refuse'; option_id: string | null; prefix?: string };

type Verdict = 'ask' | 'allow' | 'refuse';

/** Whether a tool call changes nothing by its kind. */
export const isLook = ({ kind }: { kind: string }): boolean => LOOKING.has(kind);

const LOOKING = new Set(['read', 'search', 'think']);
const CHANGING = new Set(['edit', 'delete', 'move']);

/**
 * Decides an agent's permission request. Only chooses `_once` options: `_always` options write rules into the agent's
 * settings, which outlive the session without the operator's approval.
 */
export const decidePermission = (
  ask: PermissionAsk,
  scope: PermissionScope,
): PermissionDecision => {
  const answer = judge(ask, scope);
  const prefix = answer === 'ask' ? allowedPrefix(ask, scope.prefixes) : undefined;
  if (prefix !== undefined)
    return { answer: 'allow', option_id: optionOfKind(ask, 'allow_once'), prefix };
  if (answer === 'ask') return canBeAsked(ask) ? { answer } : { answer: 'refuse', option_id: null };
  const option_id = optionOfKind(ask, answer === 'allow' ? 'allow_once' : 'reject_once');
  return { answer, option_id };
};

/** The options shown to the operator: those for this request only. */
export const onceOptions = (options: PermissionOption[]): PermissionOption[] =>
  options.filter(({ kind }) => kind === 'allow_once' || kind === 'reject_once');

/** The prefix that allows a command in this session, or undefined. */
export const allowedPrefix = (
  { kind, command }: Pick<PermissionAsk, 'kind' | 'command'>,
  prefixes: readonly string[] = [],
): string | undefined =>
  kind === 'execute' && command !== undefined
    ? prefixes.find((prefix) => isPlainCallOf(command, prefix))
    : undefined;

/** Whether a command can be allowed by prefix: without shell operators and invisible characters. */
export const isPlainCommand = ({ kind, command = '' }: PermissionAsk): boolean =>
  allowedPrefix({ kind, command }, [command]) !== undefined && visible(command) === command;

const judge = (ask: PermissionAsk, scope: PermissionScope): Verdict => {
  if (!ask.paths.every(scope.inside)) return 'refuse';
  if (isLook(ask)) return 'allow';
  if (scope.phase === 'plan') return 'refuse';
  if (CHANGING.has(ask.kind)) return ask.paths.length > 0 ? 'allow' : 'ask';
  if (ask.kind === 'execute') return judgeCommand(ask, scope);
  if (ask.kind === 'fetch') return scope.policy.fetch;
  return ask.kind === 'switch_mode' ? 'refuse' : 'ask';
};

const judgeCommand = (
  { command, line }: PermissionAsk,
  { policy: { execute }, unasked = [] }: PermissionScope,
): Verdict => {
  if (execute === 'plan') return line !== undefined && unasked.includes(line) ? 'allow' : 'ask';
  if (typeof execute === 'string') return execute;
  return command !== undefined && execute.some((prefix) => isPlainCallOf(command, prefix))
    ? 'allow'
    : 'ask';
};

// `npm test` must not allow `npm test && curl …`: the operator decides about commands with shell operators.
const SHELL_OPERATORS = /[;&|<>`$()\\\r\n]/;

const isPlainCallOf = (command: string, prefix: string): boolean => {
  const call = command.trim();
  const allowed = prefix.trim();
  if (allowed === '' || SHELL_OPERATORS.test(call)) return false;
  return call === allowed || call.startsWith(`${allowed} `);
};

const canBeAsked = (ask: PermissionAsk): boolean => optionOfKind(ask, 'allow_once') !== null;

/** The id of the first option of this kind, or null. */
export const optionOfKind = (
  { options }: Pick<PermissionAsk, 'options'>,
  kind: PermissionOption['kind'],
): string | null => options.find((option) => option.kind === kind)?.option_id ?? null;
