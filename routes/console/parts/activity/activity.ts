import type { SessionEvent, SessionEvents } from '../../../../lib/client/client.ts';
import {
  type AgentText,
  baseOf,
  costOf,
  type Entry,
  type Of,
  type OperatorRequest,
} from './entry.ts';
import { describeEvent } from './event-text.ts';
import { addToolCall, appendOutput, isOutput, withOutput } from './tool-calls.ts';

/** A range of a session's events, as shown. */
export interface Activity {
  entries: Entry[];
  /** The ids of the first and the last event. */
  first: number;
  last: number;
  /** The last `waiting` event; null once it is over. */
  waiting?: SessionEvents['waiting'] | null;
  /** The usage of the current turn. */
  usage?: SessionEvents['usage'] | undefined;
  context?: SessionEvents['agent_state']['context'] | undefined;
  isOver: boolean;
}

/** An activity without events, whose next event has this id. */
export const emptyActivity = (first: number): Activity => ({
  entries: [],
  first,
  last: first - 1,
  isOver: false,
});

/** Appends events. Events that are already included are ignored. */
export const addEvents = (activity: Activity, events: readonly SessionEvent[]): Activity => {
  const now = { ...activity, entries: [...activity.entries] };
  for (const event of events) {
    if (event.id <= now.last) continue;
    now.last = event.id;
    const put = HANDLERS[event.event] as ((now: Activity, event: SessionEvent) => void) | undefined;
    (put ?? addNote)(now, event);
  }
  return now;
};

const addText = ({ entries }: Activity, event: Of<'message' | 'thought'>): void => {
  const { text } = event.data;
  const added = shortened({
    ...baseOf(event),
    kind: event.event,
    text,
    rest: '',
    length: text.length,
  });
  const last = entries.at(-1);
  if (last?.kind === event.event) entries[entries.length - 1] = joined(last, added);
  else entries.push(added);
};

const joined = (one: AgentText, next: AgentText): AgentText =>
  shortened({
    ...one,
    to: next.to,
    length: one.length + next.length,
    rest: one.rest + next.text + next.rest,
  });

/** The length kept of each end of a text, in characters. */
const MOST_SAID = 4000;

const shortened = (added: AgentText): AgentText => {
  const all = added.text + added.rest;
  return { ...added, text: all.slice(0, MOST_SAID), rest: all.slice(MOST_SAID).slice(-MOST_SAID) };
};

const addPermissionRequest = ({ entries }: Activity, event: Of<'permission_request'>): void => {
  const { request_id, title, command, other_arguments } = event.data;
  const text = `Requests permission: ${title}`;
  entries.push({ ...baseOf(event), kind: 'asked', request_id, text, command, other_arguments });
};

const addQuestion = ({ entries }: Activity, event: Of<'question_request'>): void => {
  const { question_id: request_id, message } = event.data;
  entries.push({ ...baseOf(event), kind: 'asked', request_id, text: `Asks: ${message}` });
};

type Answered = Pick<OperatorRequest, 'request_id' | 'text' | 'outcome'>;

const resolveRequest = ({ entries }: Activity, event: SessionEvent, added: Answered): void => {
  const at = entries.findLastIndex(
    (entry) => entry.kind === 'asked' && entry.request_id === added.request_id,
  );
  const before = entries[at] as OperatorRequest | undefined;
  const now: OperatorRequest = { ...baseOf(event), ...added, kind: 'asked' };
  if (before === undefined) entries.push(now);
  else entries[at] = { ...before, to: event.id, outcome: added.outcome };
};

const resolvePermission = (activity: Activity, event: Of<'permission_resolved'>): void => {
  const { request_id, title, option_id, by, prefix } = event.data;
  const how = option_id === null ? 'cancelled' : `answered ${option_id}`;
  const outcome = `${how}${prefix === undefined ? '' : ` (${prefix})`}, by ${by === 'operator' ? 'you' : `the ${by}`}`;
  resolveRequest(activity, event, { request_id, text: `Requests permission: ${title}`, outcome });
};

const resolveQuestion = (activity: Activity, event: Of<'question_resolved'>): void => {
  const { question_id: request_id, message, action, content, by, reason } = event.data;
  const words = [
    action,
    content && JSON.stringify(content),
    `by ${by === 'operator' ? 'you' : `the ${by}`}`,
  ];
  const outcome = [...words, reason].filter(Boolean).join(', ');
  resolveRequest(activity, event, { request_id, text: `Asks: ${message}`, outcome });
};

const addNote = ({ entries }: Activity, event: SessionEvent): void => {
  const words = describeEvent(event);
  if (words !== undefined) entries.push({ ...baseOf(event), kind: 'note', ...words });
};

const HANDLERS: { [E in keyof SessionEvents]?: (now: Activity, event: Of<E>) => void } = {
  message: addText,
  thought: addText,
  tool_call: addToolCall,
  tool_output: appendOutput,
  permission_request: addPermissionRequest,
  permission_resolved: resolvePermission,
  question_request: addQuestion,
  question_resolved: resolveQuestion,
  usage: (now, { data }) => {
    now.usage = data;
  },
  waiting: (now, { data }) => {
    now.waiting = data;
  },
  waiting_over: (now) => {
    now.waiting = null;
  },
  // Each turn begins and ends with a `status` event.
  status: (now, event) => {
    [now.waiting, now.usage] = [null, undefined];
    addNote(now, event);
  },
  agent_state: (now, event) => {
    now.context = event.data.context ?? now.context;
    addNote(now, event);
  },
  complete: (now, event) => {
    [now.isOver, now.waiting] = [true, null];
    addNote(now, event);
  },
};

/** Prepends earlier events. An entry that both parts have, such as a split message or a call in progress, is merged. */
export const prependEvents = (earlier: Activity, later: Activity): Activity => {
  const known = new Set(earlier.entries.map(keyOf));
  const newer = new Map(later.entries.map((one) => [keyOf(one), one]));
  const entries = earlier.entries.map((one) => {
    const [{ from, at }, now] = [one, newer.get(keyOf(one))];
    return isOutput(now) ? withOutput(one, now) : ({ ...one, ...now, from, at } as Entry);
  });
  const rest = later.entries.filter((one) => !known.has(keyOf(one)));
  const [last, next] = [entries.at(-1), rest[0]];
  if (last !== undefined && isText(last) && next?.kind === last.kind)
    entries.splice(-1, 1, joined(last, rest.shift() as AgentText));
  return { ...later, first: earlier.first, entries: [...entries, ...rest] };
};

/** The identity of an entry across updates. */
export const keyOf = (entry: Entry): string => {
  if (entry.kind === 'call') return `call ${entry.call_id}`;
  return entry.kind === 'asked' ? `asked ${entry.request_id}` : `${entry.kind} ${entry.from}`;
};

const isText = (entry: Entry): entry is AgentText =>
  entry.kind === 'message' || entry.kind === 'thought';

/** The most elements that a page renders for entries. */
export const MOST_ELEMENTS = 2400;

/** Limits the entries to what a page can show, from the end or from the start. */
export const trimmed = (
  activity: Activity,
  keep: 'end' | 'start',
  most = MOST_ELEMENTS,
): Activity => {
  const { entries } = activity;
  let left = most;
  const fits = (entry: Entry): boolean => {
    left -= costOf(entry);
    return left >= 0;
  };
  if (keep === 'start') {
    const end = entries.findIndex((entry) => !fits(entry));
    return end < 1 ? activity : { ...activity, entries: entries.slice(0, end) };
  }
  const start = entries.findLastIndex((entry) => !fits(entry)) + 1;
  const first = entries[start]?.from;
  return start === 0 || first === undefined
    ? activity
    : { ...activity, first, entries: entries.slice(start) };
};
