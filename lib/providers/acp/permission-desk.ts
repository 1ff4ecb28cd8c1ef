import { randomUUID } from 'node:crypto';
import { list, record, text } from '../../wire.ts';
import { capText } from '../cap-text.ts';
import { TOLD_OUTPUT } from '../launch.ts';
import {
  decidePermission,
  onceOptions,
  type PermissionAsk,
  type PermissionScope,
} from '../permissions.ts';
import type { PermissionOption, RunEvent } from '../provider.ts';
import { commandOf, type ToolCall } from './tool-call.ts';

/** Where an agent's permission requests are answered: by the policy at once, or parked until the operator answers. */
export interface PermissionDesk {
  /** Resolves with the answer for the agent; `signal` is the agent taking its question back. */
  ask(call: ToolCall, options: unknown, signal: AbortSignal): Promise<unknown>;
  /** The operator's answer; false when there is no such request or option. */
  answer(request_id: string, option_id: string): boolean;
  /** The title of what was refused last; undefined when nothing was. */
  refused(): string | undefined;
  /** Answers all that is parked, and all that still comes, with "cancelled". */
  close(): void;
}

interface DeskDeps {
  scope: PermissionScope;
  tell: (event: RunEvent) => void;
  /** Called with true when the first request is parked and with false when none is left. */
  onWaiting: (waiting: boolean) => void;
}

interface Parked {
  title: string;
  kind: string;
  options: PermissionOption[];
  settle: (outcome: unknown) => void;
}

type By = 'operator' | 'policy';

const OPTION_KINDS: readonly string[] = [
  'allow_once',
  'allow_always',
  'reject_once',
  'reject_always',
];
const CANCELLED = { outcome: { outcome: 'cancelled' } };

export const createPermissionDesk = ({ scope, tell, onWaiting }: DeskDeps): PermissionDesk => {
  const parked = new Map<string, Parked>();
  let closed = false;
  let refused: string | undefined;

  const resolve = (request_id: string, option_id: string | null, by: By = 'operator'): void => {
    const request = parked.get(request_id);
    if (request === undefined) return;
    parked.delete(request_id);
    if (parked.size === 0) onWaiting(false);
    const { title, kind } = request;
    if (isRefusal(request, option_id)) refused = title;
    tell({ type: 'permission_resolved', data: { request_id, title, kind, option_id, by } });
    request.settle(outcomeOf(option_id));
  };

  const park = (ask: PermissionAsk, title: string, signal: AbortSignal): Promise<unknown> => {
    const request_id = randomUUID();
    const options = onceOptions(ask.options);
    tell({ type: 'permission_request', data: { request_id, title, ...shown(ask), options } });
    if (parked.size === 0) onWaiting(true);
    signal.addEventListener('abort', () => resolve(request_id, null, 'policy'));
    return new Promise((settle) => {
      parked.set(request_id, { title, kind: ask.kind, options, settle });
    });
  };

  return {
    ask: async (call, offered, signal) => {
      if (closed) return CANCELLED;
      const ask = askOf(call, offered);
      const decision = decidePermission(ask, scope);
      if (decision.answer === 'ask') return park(ask, call.title, signal);
      if (decision.answer === 'refuse') refused = call.title;
      tell(decided(call, decision.option_id));
      return outcomeOf(decision.option_id);
    },
    answer: (request_id, option_id) => {
      const offered = parked.get(request_id)?.options ?? [];
      if (!offered.some((option) => option.option_id === option_id)) return false;
      resolve(request_id, option_id);
      return true;
    },
    refused: () => refused,
    close: () => {
      closed = true;
      for (const request_id of [...parked.keys()]) resolve(request_id, null);
    },
  };
};

// A title is the agent's own words: who decides sees what would be done.
const shown = ({ kind, command, paths }: PermissionAsk) => ({
  kind,
  ...(command !== undefined && { command: capText(command, TOLD_OUTPUT).output }),
  ...(paths.length > 0 && { locations: paths }),
});

const decided = ({ title, kind }: ToolCall, option_id: string | null): RunEvent => ({
  type: 'permission_resolved',
  data: { request_id: randomUUID(), title, kind, option_id, by: 'policy' },
});

const isRefusal = ({ options }: Parked, option_id: string | null): boolean =>
  options.some((option) => option.option_id === option_id && option.kind === 'reject_once');

const outcomeOf = (option_id: string | null): unknown =>
  option_id === null ? CANCELLED : { outcome: { outcome: 'selected', optionId: option_id } };

const askOf = (call: ToolCall, offered: unknown): PermissionAsk => {
  const command = commandOf(call);
  return {
    kind: call.kind,
    paths: call.paths,
    options: list(offered).flatMap(optionOf),
    ...(command !== undefined && { command }),
  };
};

const optionOf = (offered: unknown): PermissionOption[] => {
  const { optionId, kind, name } = record(offered);
  const option_id = text(optionId);
  if (option_id === undefined || !OPTION_KINDS.includes(text(kind) ?? '')) return [];
  return [{ option_id, kind: kind as PermissionOption['kind'], name: text(name) ?? option_id }];
};
