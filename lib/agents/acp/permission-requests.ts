import { randomUUID } from 'node:crypto';
import { badField } from '../../errors.ts';
import { capText } from '../../text/cap-text.ts';
import { list, record, text } from '../../text/unknown-json.ts';
import { TOLD_OUTPUT } from '../launch.ts';
import {
  allowedPrefix,
  decidePermission,
  isLook,
  isPlainCommand,
  onceOptions,
  optionOfKind,
  type PermissionAsk,
  type PermissionScope,
} from '../permissions.ts';
import type { AllowedInProject, PermissionOption, PrefixOption, RunEvent } from '../provider.ts';
import { commandOf, lineOf, otherArgumentsOf, plainCommandOf } from './call-command.ts';
import type { ToolCall } from './tool-call.ts';

interface DeskDeps {
  /** Prefixes that the operator allows are added to its `prefixes`. */
  scope: PermissionScope & { prefixes: string[]; cwd: string };
  /** Prefixes that are allowed in all sessions of the project. */
  project?: AllowedInProject;
  tell: (event: RunEvent) => void;
  /** Called with true for the first pending request and with false after the last. */
  onWaiting: (waiting: boolean) => void;
}

interface Parked {
  call: ToolCall;
  ask: PermissionAsk;
  options: readonly PermissionOption[];
  settle: (outcome: unknown) => void;
}

interface Answer {
  option_id: string | null;
  by: 'operator' | 'policy' | 'agent' | 'daemon';
  prefix?: string;
}

/** Each open request is shown to the operator, and waits in memory. */
const MOST_OPEN = 100;

const CANCELLED = { outcome: { outcome: 'cancelled' } };

/** Answers an agent's permission requests: by the policy at once, or pending until the operator answers. */
export const createPermissionRequests = (deps: DeskDeps) => {
  const { scope } = deps;
  const state: State = { ...deps, parked: new Map(), refusals: new Map() };
  let closed = false;
  return {
    /** Resolves with the answer for the agent; `signal`: the agent withdrew the request. */
    ask: async (call: ToolCall, offered: unknown, signal: AbortSignal): Promise<unknown> => {
      if (closed) return CANCELLED;
      const ask = askOf(call, offered, scope.cwd);
      const decision = decidePermission(ask, { ...scope, prefixes: allowedNow(deps) });
      if (decision.answer !== 'ask') {
        const { answer, ...chosen } = decision;
        return decide(state, call, { ...chosen, isAllowed: answer === 'allow', by: 'policy' });
      }
      if (state.parked.size < MOST_OPEN) return park(state, { ask, call }, signal);
      const option_id = optionOfKind(ask, 'reject_once');
      return decide(state, call, { option_id, isAllowed: false, by: 'daemon' });
    },
    /** The operator's answer; false if there is no such request or option. Throws `bad_request` for a wrong prefix. */
    answer: (request_id: string, option_id: string, prefix?: string): boolean => {
      const request = state.parked.get(request_id);
      if (request === undefined) return false;
      if (ownOptions(state, request.ask).some((own) => own.option_id === option_id)) {
        allowPrefix(state, { request_id, option_id }, fitting(request.ask, prefix));
        return true;
      }
      if (!request.options.some((option) => option.option_id === option_id)) return false;
      resolve(state, request_id, { option_id, by: 'operator' });
      return true;
    },
    /** The title of the last refused request, or undefined. */
    refused: (): string | undefined => [...state.refusals.values()].at(-1)?.title,
    /** The refused calls by id, if the operator refused one and none was allowed that does more than look. */
    onlyRefused: (): ReadonlyMap<string, ToolCall> | undefined =>
      state.was_refused && !state.was_allowed ? state.refusals : undefined,
    /** Cancels pending and later requests: the turn is over, stopped, or interrupted. */
    close: (): void => {
      closed = true;
      for (const request_id of [...state.parked.keys()])
        resolve(state, request_id, { option_id: null, by: 'daemon' });
    },
    /** Accepts requests again, for another prompt. */
    open: (): void => {
      closed = false;
    },
  };
};
export type PermissionRequests = ReturnType<typeof createPermissionRequests>;

// Builds the request from the tool call and the offered options of known kinds.
const askOf = (call: ToolCall, offered: unknown, cwd: string): PermissionAsk => {
  const command = plainCommandOf(call, cwd);
  const line = lineOf(call, cwd);
  return {
    kind: call.kind,
    paths: call.paths,
    options: list(offered).flatMap(optionOf),
    ...(command !== undefined && { command }),
    ...(line !== undefined && { line }),
  };
};

const OPTION_KINDS = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;

const optionOf = (offered: unknown): PermissionOption[] => {
  const { optionId, kind: told, name } = record(offered);
  const option_id = text(optionId);
  const kind = OPTION_KINDS.find((known) => known === told);
  return option_id === undefined || kind === undefined
    ? []
    : [{ option_id, kind, name: text(name) ?? option_id }];
};

interface State extends DeskDeps {
  parked: Map<string, Parked>;
  /** The refused calls, by id. */
  refusals: Map<string, ToolCall>;
  /** The operator refused one. */
  was_refused?: true;
  /** One was allowed that does more than look. */
  was_allowed?: true;
}

const noteAnswer = (
  state: State,
  call: ToolCall,
  { isAllowed, by }: Pick<Answer, 'by'> & { isAllowed: boolean },
): void => {
  if (isAllowed && !isLook(call)) state.was_allowed = true;
  if (isAllowed) return;
  // The newest is the last.
  state.refusals.delete(call.id);
  state.refusals.set(call.id, call);
  if (by === 'operator') state.was_refused = true;
};

const park = (
  state: State,
  { ask, call }: Pick<Parked, 'ask' | 'call'>,
  signal: AbortSignal,
): Promise<unknown> => {
  const { parked, tell, onWaiting } = state;
  const request_id = randomUUID();
  const options = onceOptions(ask.options);
  const offered = [...options, ...ownOptions(state, ask)];
  tell({
    type: 'permission_request',
    data: { request_id, ...shown(call, state.scope.cwd), options: offered },
  });
  if (parked.size === 0) onWaiting(true);
  signal.addEventListener('abort', () =>
    resolve(state, request_id, { option_id: null, by: 'agent' }),
  );
  return new Promise((settle) => {
    parked.set(request_id, { call, ask, options, settle });
  });
};

const resolve = (state: State, request_id: string, answer: Answer): void => {
  const { parked, tell, onWaiting } = state;
  const request = parked.get(request_id);
  if (request === undefined) return;
  parked.delete(request_id);
  if (parked.size === 0) onWaiting(false);
  const { title, kind } = request.call;
  const chosen = request.options.find(({ option_id }) => option_id === answer.option_id);
  if (chosen !== undefined)
    noteAnswer(state, request.call, { isAllowed: chosen.kind === 'allow_once', by: answer.by });
  tell({ type: 'permission_resolved', data: { request_id, title, kind, ...answer } });
  request.settle(outcomeOf(answer.option_id));
};

// Also answers other pending requests with this prefix.
const allowPrefix = (
  state: State,
  { request_id, option_id }: { request_id: string; option_id: string },
  prefix: string,
): void => {
  const { scope, parked, project } = state;
  const asked = parked.get(request_id);
  if (option_id === ALLOW_PROJECT) project?.allow(prefix);
  else scope.prefixes.push(prefix);
  resolve(state, request_id, {
    option_id: asked ? optionOfKind(asked.ask, 'allow_once') : null,
    by: 'operator',
    prefix,
  });
  for (const [id, other] of [...parked])
    if (allowedPrefix(other.ask, [prefix]) !== undefined)
      resolve(state, id, {
        option_id: optionOfKind(other.ask, 'allow_once'),
        by: 'policy',
        prefix,
      });
};

// Read for each request, because prefixes can be revoked.
const allowedNow = ({ scope, project }: DeskDeps): string[] => [
  ...scope.prefixes,
  ...(project?.prefixes() ?? []),
];

const ALLOW_PROJECT = 'allow_project';

// Left out if the agent has an option with the same id.
const ownOptions = ({ project }: DeskDeps, ask: PermissionAsk): PrefixOption[] => {
  if (!isPlainCommand(ask) || optionOfKind(ask, 'allow_once') === null) return [];
  return OWN_OPTIONS.filter(
    ({ option_id }) =>
      (project !== undefined || option_id !== ALLOW_PROJECT) &&
      !ask.options.some((option) => option.option_id === option_id),
  );
};

const OWN_OPTIONS: readonly PrefixOption[] = [
  {
    option_id: 'allow_prefix',
    kind: 'allow_prefix',
    name: 'Allow in this session: this and every simple command that begins with `prefix`',
  },
  {
    option_id: ALLOW_PROJECT,
    kind: ALLOW_PROJECT,
    name: 'Always allow in this project: every simple command that begins with `prefix`',
  },
];

const fitting = (ask: PermissionAsk, prefix = ask.command ?? ''): string => {
  if (allowedPrefix(ask, [prefix]) !== undefined) return prefix.trim();
  throw badField('/prefix', 'is not a prefix of the command', PREFIX);
};

const PREFIX =
  'The prefix must be the first words of the requested command. Send these words, or no prefix for the whole command.';

// The title is the agent's text: the operator also sees the command, what else the call has, and the paths.
const shown = (call: ToolCall, cwd: string) => {
  const { title, kind, paths } = call;
  const command = commandOf(call);
  const other_arguments = otherArgumentsOf(call, cwd);
  return {
    title,
    kind,
    ...(command !== undefined && { command: capText(command, TOLD_OUTPUT).output }),
    ...(other_arguments !== undefined && { other_arguments }),
    ...(paths.length > 0 && { locations: paths }),
  };
};

// Answers a request at once, without the operator.
const decide = (
  state: State,
  call: ToolCall,
  { isAllowed, ...answer }: Answer & { isAllowed: boolean },
): unknown => {
  const { title, kind } = call;
  noteAnswer(state, call, { isAllowed, by: answer.by });
  state.tell({
    type: 'permission_resolved',
    data: { request_id: randomUUID(), title, kind, ...answer },
  });
  return outcomeOf(answer.option_id);
};

const outcomeOf = (option_id: string | null): unknown =>
  option_id === null ? CANCELLED : { outcome: { outcome: 'selected', optionId: option_id } };
