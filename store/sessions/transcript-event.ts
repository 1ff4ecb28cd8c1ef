import { orElse } from '../base/attempt.ts';

/** One execution event of a session, as stored and as streamed. */
export interface TranscriptEvent {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

export type NewTranscriptEvent = readonly [event: string, data: Record<string, unknown>];

/** The event of one line of events.ndjson; undefined for any other line, which readers skip. */
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

/** The event for a gap in the numbers: lines were edited by hand, or the file was replaced. */
export const gapEvent = (from: number, to: number, id = to): TranscriptEvent => ({
  id,
  event: 'gap',
  data: { reason: 'not_readable', from, to, message: NOT_READABLE },
});

const NOT_READABLE =
  'These events are not in events.ndjson: the file was edited, came from another branch, or belongs to a long session of another machine. The events that follow are complete.';

/** Bytes after which a session's log leaves out the text of agents and tools. */
export const LOG_LIMIT = 64 * 1024 * 1024;

/** Bytes after which events.ndjson, which is in git, leaves them out; the complete log continues below .dossier/. */
export const KEPT_LIMIT = 5 * 1024 * 1024;

/** The part of an event that a full log keeps: what happened, without texts. */
export const withoutText = (untold: NewTranscriptEvent): NewTranscriptEvent[] => {
  const [event, data] = untold;
  if (TEXT_EVENTS.has(event)) return [];
  if (event !== 'tool_call' || (data.output === undefined && data.diffs === undefined))
    return [untold];
  const { output: _, diffs: __, ...rest } = data;
  return [[event, { ...rest, truncated: true }]];
};

const TEXT_EVENTS = new Set(['message', 'thought', 'agent_event', 'tool_output']);

/** The last event before texts are left out. */
export const logFullEvent = (limit: number): NewTranscriptEvent => [
  'gap',
  {
    reason: 'log_full',
    message: `The log of this session has reached ${limit >> 20} MiB. From here on, agent text and tool output are not kept; all other events are.`,
  },
];

/** The last complete event of events.ndjson. */
export const keptElsewhereEvent = (limit: number): NewTranscriptEvent => [
  'gap',
  {
    reason: 'kept_elsewhere',
    message: `events.ndjson has reached ${limit >> 20} MiB. From here on, agent text and tool output are below .dossier/ on the machine that ran the session, not in git; all other events are here.`,
  },
];

/** The event with the same number in the file that continues the log. */
export const logContinuedEvent: NewTranscriptEvent = [
  'log_continued',
  { message: 'From here on, the complete log is only on this machine: events.ndjson is full.' },
];
