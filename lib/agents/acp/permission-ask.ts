import { list, record, text } from '../../../base/wire.ts';
import type { PermissionAsk } from '../permissions.ts';
import type { PermissionOption } from '../provider.ts';
import { commandOf, type ToolCall } from './tool-call.ts';

/** What an agent asks leave for: its tool call as it is known, and the options it offers that the protocol knows. */
export const askOf = (call: ToolCall, offered: unknown): PermissionAsk => {
  const command = commandOf(call);
  return {
    kind: call.kind,
    paths: call.paths,
    options: list(offered).flatMap(optionOf),
    ...(command !== undefined && { command }),
  };
};

const OPTION_KINDS: readonly string[] = [
  'allow_once',
  'allow_always',
  'reject_once',
  'reject_always',
];

const optionOf = (offered: unknown): PermissionOption[] => {
  const { optionId, kind, name } = record(offered);
  const option_id = text(optionId);
  if (option_id === undefined || !OPTION_KINDS.includes(text(kind) ?? '')) return [];
  return [{ option_id, kind: kind as PermissionOption['kind'], name: text(name) ?? option_id }];
};
