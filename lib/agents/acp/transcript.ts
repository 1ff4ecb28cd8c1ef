import { capRaw, capText } from '../../text/cap-text.ts';
import { list, number, record, text, type Wire } from '../../text/unknown-json.ts';
import { outputGap } from '../coalesce.ts';
import { createLastMessage, type LastMessage } from '../last-message.ts';
import { isLook } from '../permissions.ts';
import type { RunEvent } from '../provider.ts';
import { isOver, mergeToolCall, type ToolCall, toolCallEvent } from './tool-call.ts';

interface State {
  tell: (event: RunEvent) => void;
  outputLimit: number;
  live: boolean;
  /** The user's texts of the loaded conversation. */
  replayed: string[];
  acted: boolean;
  /** The agent sent something after its latest tool call. */
  answered: boolean;
  message: LastMessage;
  asked: boolean;
  planned: boolean;
  calls: Map<string, ToolCall>;
  /** The ids of the calls that run: asked with each update, of which there may be very many. */
  running: Set<string>;
  told: Map<string, string>;
  /** The last emitted state of the agent, by key. */
  said: Record<string, string>;
}

/** Converts an agent's updates into run events, and collects the facts for the verdict on the turn. */
export const createTranscript = (tell: (event: RunEvent) => void, outputLimit: number) => {
  const state: State = {
    tell,
    outputLimit,
    live: false,
    replayed: [],
    acted: false,
    answered: true,
    message: createLastMessage(),
    asked: false,
    planned: false,
    calls: new Map(),
    running: new Set(),
    told: new Map(),
    said: {},
  };
  return {
    /**
     * Handles a session update. Synchronous, so that updates keep their order and none is pending when the turn ends. True if
     * it belongs to the turn: text, a thought, a tool call or a plan.
     */
    hear: (update: unknown): boolean => hear(state, record(update)),
    /** The state of a tool call, merged with the one of a permission request. */
    toolCall: (piece: Wire): ToolCall => {
      state.asked = true;
      return mergeToolCall(state.calls.get(text(piece.toolCallId) ?? ''), piece);
    },
    /** The turn begins: earlier updates replayed former turns. */
    begin: (): void => {
      state.live = true;
    },
    /** The user's texts of the conversation, as its agent replayed them. */
    replayed: (): readonly string[] => state.replayed,
    /** Another prompt of the turn begins. Ends open calls of the previous one. */
    beginNext: (): void => {
      closeCalls(state, true);
      state.message.clear();
      state.acted = false;
      state.answered = true;
    },
    /** Separates text before and after a question to the operator. */
    breakOff: (): void => state.message.add('\n\n'),
    /** The turn has ended: emits open calls, as killed if they were. */
    close: (killed: boolean): void => closeCalls(state, killed),
    /** Whether the agent sent text or called a tool in this turn. */
    acted: (): boolean => state.acted,
    /** Whether it sent text, a thought or a plan after its latest tool call. */
    answered: (): boolean => state.answered,
    /** The message text after the last tool call: in Plan mode, the plan. */
    lastMessage: state.message.read,
    /** Whether the message is longer than a plan may be. */
    planTooLong: state.message.tooLong,
    /** Whether it called a tool in this turn, or asked to. */
    called: (): boolean => state.asked || state.calls.size > 0,
    /** Whether it called a tool that does more than look, besides the calls with these ids. */
    didMoreThan: (ids: { has: (id: string) => boolean }): boolean =>
      [...state.calls.values()].some((call) => !ids.has(call.id) && !isLook(call)),
    /** Whether a tool call runs. */
    calling: (): boolean => state.running.size > 0,
    /** Whether it sent a plan as a list. */
    planned: (): boolean => state.planned,
  };
};
export type AcpTranscript = ReturnType<typeof createTranscript>;

type Hear = (state: State, update: Wire) => void;

const hear = (state: State, update: Wire): boolean => {
  const kind = text(update.sessionUpdate) ?? 'unknown';
  const heard = TURN_UPDATES.get(kind);
  // A loaded session first replays its history, whose events exist already.
  if (!state.live && kind === 'user_message_chunk') {
    state.replayed.push(text(record(update.content).text) ?? '');
    return false;
  }
  if (heard === undefined) hearState(state, kind, update);
  if (state.live) heard?.(state, update);
  return state.live && heard !== undefined;
};

const hearState = (state: State, kind: string, update: Wire): void => {
  const told = stateIn(kind, update);
  if (told === undefined) tellUnknown(state, kind, update);
  const { said } = state;
  const news = Object.entries(told ?? {}).filter(
    ([key, value]) => said[key] !== JSON.stringify(value),
  );
  for (const [key, value] of news) said[key] = JSON.stringify(value);
  if (news.length > 0) state.tell({ type: 'agent_state', data: Object.fromEntries(news) });
};

const hearMessage: Hear = (state, update) => {
  const said = text(record(update.content).text);
  if (said === undefined) return tellUnknown(state, 'agent_message_chunk', update);
  if (said === '' || isModeNote(said)) return;
  state.acted = true;
  state.answered = true;
  state.message.add(said);
  state.tell({ type: 'message', data: { text: said } });
};

// Gemini CLI reports mode changes as message text.
const isModeNote = (said: string): boolean => /^\s*\[MODE_UPDATE\] \S+\s*$/.test(said);

const hearThought: Hear = (state, update) => {
  const thought = text(record(update.content).text);
  if (thought === undefined) return tellUnknown(state, 'agent_thought_chunk', update);
  if (thought === '') return;
  state.answered = true;
  state.tell({ type: 'thought', data: { text: thought } });
};

const hearToolCall: Hear = (state, update) => {
  const known = state.calls.get(text(update.toolCallId) ?? '');
  const call = mergeToolCall(known, update);
  // Only a new call ends the message: a late update of an old call must not split a plan.
  if (!state.calls.has(call.id)) {
    state.message.clear();
    state.answered = false;
  }
  state.acted = true;
  keepCall(state, call);
  tellOnce(state, call.id, toolCallEvent(call, state.outputLimit));
  tellOutput(state, call, known?.output ?? '');
};

const keepCall = ({ calls, running }: State, call: ToolCall): void => {
  calls.set(call.id, call);
  if (isOver(call)) running.delete(call.id);
  else running.add(call.id);
};

// Emits new output up to the limit; agents repeat the whole output or send deltas.
const tellOutput = (state: State, call: ToolCall, before: string): void => {
  if (isOver(call) || before.length > state.outputLimit) return;
  if (!call.output.startsWith(before)) return;
  const more = call.output.slice(before.length, state.outputLimit);
  if (more !== '') state.tell({ type: 'tool_output', data: { tool_call_id: call.id, text: more } });
  if (call.output.length > state.outputLimit) state.tell(outputGap(call.id, state.outputLimit));
};

const hearPlan: Hear = (state, update) => {
  const entries = list(update.entries).map((entry) => ({
    content: text(record(entry).content) ?? '',
    status: text(record(entry).status) ?? 'pending',
  }));
  state.planned ||= entries.length > 0;
  state.answered = true;
  state.tell({ type: 'plan', data: { entries } });
};

const TURN_UPDATES = new Map<string, Hear>([
  ['agent_message_chunk', hearMessage],
  ['agent_thought_chunk', hearThought],
  ['tool_call', hearToolCall],
  ['tool_call_update', hearToolCall],
  ['plan', hearPlan],
]);

const closeCalls = (state: State, killed: boolean): void => {
  for (const call of state.calls.values()) {
    if (isOver(call)) continue;
    const ended = killed ? { ...call, status: 'killed' as const } : call;
    keepCall(state, ended);
    tellOnce(state, call.id, toolCallEvent(ended, state.outputLimit, true));
  }
};

const tellOnce = (state: State, id: string, event: RunEvent): void => {
  const form = JSON.stringify(event);
  if (state.told.get(id) === form) return;
  state.told.set(id, form);
  state.tell(event);
};

const tellUnknown = (state: State, kind: string, update: Wire): void =>
  state.tell({ type: 'agent_event', data: { kind, raw: capRaw(update) } });

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
