import { capText } from '../../text/cap-text.ts';
import { list, number, record, text, type Wire } from '../../text/unknown-json.ts';
import type { RunEvent } from '../provider.ts';

type AgentState = Extract<RunEvent, { type: 'agent_state' }>['data'];

const MOST = 100;
const LONGEST = 200;

/**
 * Reads the agent's state from a session update: mode, context, commands, options or title. `{}` if there is nothing to
 * show; undefined for another kind of update.
 */
export const stateIn = (kind: string, update: Wire): AgentState | undefined =>
  READERS.get(kind)?.(update);

const READERS = new Map<string, (update: Wire) => AgentState | undefined>([
  ['current_mode_update', ({ currentModeId }) => some('mode', text(currentModeId))],
  ['usage_update', contextOf],
  ['available_commands_update', commandsOf],
  ['config_option_update', optionsOf],
  ['session_info_update', titleOf],
]);

// The cost is reported as usage.
function contextOf({ used, size }: Wire): AgentState | undefined {
  const context = { used: number(used), size: number(size) };
  return context.used === undefined || context.size === undefined
    ? undefined
    : { context: { used: context.used, size: context.size } };
}

function commandsOf({ availableCommands }: Wire): AgentState {
  const names = list(availableCommands).flatMap((command) => text(record(command).name) ?? []);
  return { commands: names.slice(0, MOST).map(short) };
}

function optionsOf({ configOptions }: Wire): AgentState {
  const options = list(configOptions)
    .map(record)
    .flatMap(({ id, name, category, currentValue }) => {
      const key = text(id);
      const value =
        text(currentValue) ?? (currentValue === undefined ? undefined : String(currentValue));
      if (key === undefined || value === undefined) return [];
      const kind = text(category);
      const named = { id: short(key), name: short(text(name) ?? key), value: short(value) };
      return [{ ...named, ...(kind !== undefined && { category: short(kind) }) }];
    });
  return { options: options.slice(0, MOST) };
}

// Codex also sends its thread status this way, which needs no event.
function titleOf({ title, _meta }: Wire): AgentState | undefined {
  if (title === null || text(title) !== undefined) return some('title', text(title) ?? '');
  return record(record(_meta).codex).threadStatus === undefined ? undefined : {};
}

const some = (key: 'mode' | 'title', value: string | undefined): AgentState | undefined =>
  value === undefined ? undefined : { [key]: short(value) };

const short = (value: string): string => capText(value, LONGEST).output;
