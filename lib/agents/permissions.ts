import { visible } from '../../store/base/visible.ts';
import type { Settings } from '../../store/records/settings.ts';
import type { Isolation, PermissionOption, Phase } from './provider.ts';

/** `permissions` of the settings: what an agent may do in Work mode without the operator being asked. */
export type PermissionPolicy = Required<NonNullable<Settings['permissions']>>;

/** One request of an agent, read from the wire and already merged with what is known of its tool call. */
export interface PermissionAsk {
  kind: string;
  /** Every path the tool call names, absolute or relative to the worktree. */
  paths: string[];
  /** The shell command of an `execute` request, where the agent tells it as data. */
  command?: string;
  /** The same, where the shell reads just these characters, in the worktree and with the variables that all commands have. */
  line?: string;
  options: PermissionOption[];
}

export interface PermissionScope {
  phase: Phase;
  policy: PermissionPolicy;
  /** Whether a path, links resolved, lies in the worktree. */
  inside: (path: string) => boolean;
  /** What commands may begin with for this session, as the operator answered. */
  prefixes?: readonly string[];
  /** The commands of the plan that the operator approved to run without asking. */
  unasked?: readonly string[];
}

/** The policy that applies: `plan` needs a sandbox that is enforced, and is `ask` without one. */
export const policyWithin = (
  { execute, ...others }: PermissionPolicy,
  isolation: Isolation,
): PermissionPolicy => ({
  ...others,
  execute: execute === 'plan' && isolation !== 'enforced' ? 'ask' : execute,
});

type PermissionDecision =
  | { answer: 'ask' }
  /** `option_id` null: the agent offered no fitting option, so the request is answered `cancelled`. */
  | { answer: 'allow' | 'refuse'; option_id: string | null; prefix?: string };

type Verdict = 'ask' | 'allow' | 'refuse';

const LOOKING = new Set(['read', 'search', 'think']);
const CHANGING = new Set(['edit', 'delete', 'move']);

/**
 * What becomes of an agent's request. Only `_once` options are ever chosen: the `_always` ones write rules into the
 * agent's own settings, which outlive the session and which no operator approved.
 */
export const decidePermission = (
  ask: PermissionAsk,
  scope: PermissionScope,
): PermissionDecision => {
  const answer = judge(ask, scope);
  const prefix = answer === 'ask' ? allowedPrefix(ask, scope.prefixes) : undefined;
  if (prefix !== undefined)
    return { answer: 'allow', option_id: optionOf(ask, 'allow_once'), prefix };
  if (answer === 'ask') return canBeAsked(ask) ? { answer } : { answer: 'refuse', option_id: null };
  const option_id = optionOf(ask, answer === 'allow' ? 'allow_once' : 'reject_once');
  return { answer, option_id };
};

/** The options an operator is shown: those that hold for this one request. */
export const onceOptions = (options: PermissionOption[]): PermissionOption[] =>
  options.filter(({ kind }) => kind === 'allow_once' || kind === 'reject_once');

/** The prefix by which a command is allowed in this session; undefined where none does. */
export const allowedPrefix = (
  { kind, command }: Pick<PermissionAsk, 'kind' | 'command'>,
  prefixes: readonly string[] = [],
): string | undefined =>
  kind === 'execute' && command !== undefined
    ? prefixes.find((prefix) => isPlainCallOf(command, prefix))
    : undefined;

/** Whether a command can be allowed by its beginning: a plain one of which all is seen. */
export const isPlainCommand = ({ kind, command = '' }: PermissionAsk): boolean =>
  allowedPrefix({ kind, command }, [command]) !== undefined && visible(command) === command;

const judge = (ask: PermissionAsk, scope: PermissionScope): Verdict => {
  if (!ask.paths.every(scope.inside)) return 'refuse';
  if (LOOKING.has(ask.kind)) return 'allow';
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

// `npm test` must not let `npm test && curl …` through: with any shell operator in it the operator decides.
const SHELL_OPERATORS = /[;&|<>`$()\\\r\n]/;

const isPlainCallOf = (command: string, prefix: string): boolean => {
  const call = command.trim();
  const allowed = prefix.trim();
  if (allowed === '' || SHELL_OPERATORS.test(call)) return false;
  return call === allowed || call.startsWith(`${allowed} `);
};

const canBeAsked = (ask: PermissionAsk): boolean => optionOf(ask, 'allow_once') !== null;

const optionOf = ({ options }: PermissionAsk, kind: PermissionOption['kind']): string | null =>
  options.find((option) => option.kind === kind)?.option_id ?? null;
