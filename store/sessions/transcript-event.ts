import { orElse } from '../base/or-else.ts';

/** One execution event of a session, as it is kept and as it is streamed. */
export interface TranscriptEvent {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

export type Untold = readonly [event: string, data: Record<string, unknown>];

/** The event of one line of events.ndjson. Undefined for what somebody else wrote there: it is never in the way. */
export const parseEvent = (line: string): TranscriptEvent | undefined => {
  const value: unknown = orElse(() => JSON.parse(line), undefined);
  return isEvent(value) ? value : undefined;
};

const isEvent = (value: unknown): value is TranscriptEvent => {
  if (typeof value !== 'object' || value === null) return false;
  const { id, event, data } = value as Partial<TranscriptEvent>;
  return (
    Number.isSafeInteger(id) &&
    Number(id) > 0 &&
    typeof event === 'string' &&
    /^\w+$/.test(event) &&
    typeof data === 'object' &&
    data !== null
  );
};

/** Stands where events are missing: their lines were edited by hand, or the file is another one than the reader began with. */
export const gapEvent = (from: number, to: number, id = to): TranscriptEvent => ({
  id,
  event: 'gap',
  data: { reason: 'not_readable', from, to, message: NOT_READABLE },
});

const NOT_READABLE =
  'These events are not in events.ndjson: the file was edited, came from another branch, or is that of a long session of another machine. What follows is whole.';

/** How large a session's log may grow, in bytes, before what agents and tools say at length is left out. */
export const LOG_LIMIT = 64 * 1024 * 1024;

/** How much of it stands whole in events.ndjson, which git keeps: the rest is this machine's. */
export const KEPT_LIMIT = 5 * 1024 * 1024;

/** What is still kept of an event when the log is full: what happened, without what was said. */
export const withoutWords = (untold: Untold): Untold[] => {
  const [event, data] = untold;
  if (WORDS.has(event)) return [];
  if (event !== 'tool_call' || (data.output === undefined && data.diffs === undefined))
    return [untold];
  const { output: _, diffs: __, ...rest } = data;
  return [[event, { ...rest, truncated: true }]];
};

const WORDS = new Set(['message', 'thought', 'agent_event', 'tool_output']);

/** Told once, by the event after which words are left out. */
export const logIsFull = (limit: number): Untold => [
  'gap',
  {
    reason: 'log_full',
    message: `The log of this session has reached ${limit >> 20} MiB. From here on the text of the agent and the output of its tools are not kept; everything else is.`,
  },
];

/** Stands in events.ndjson where it no longer has all. */
export const keptElsewhere = (limit: number): Untold => [
  'gap',
  {
    reason: 'kept_elsewhere',
    message: `events.ndjson has ${limit >> 20} MiB. From here on the text of the agent and the output of its tools are below .dossier/ of the machine that ran the session, and not in git; everything else is here.`,
  },
];

/** Stands in its place in the file that goes on there: whoever reads along misses nothing. */
export const wholeHere: Untold = [
  'log_continued',
  { message: 'What follows is whole on this machine alone: events.ndjson has grown long.' },
];
