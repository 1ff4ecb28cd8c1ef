import type { Untold } from './transcript-event.ts';

/** How large a session's events.ndjson may grow, in bytes, before what agents and tools say at length is left out. */
export const LOG_LIMIT = 64 * 1024 * 1024;

/** What is still kept of an event when the log is full: what happened, without what was said. */
export const withoutWords = (untold: Untold): Untold[] => {
  const [event, data] = untold;
  if (WORDS.has(event)) return [];
  if (event !== 'tool_call' || data.output === undefined) return [untold];
  const { output: _, ...rest } = data;
  return [[event, { ...rest, truncated: true }]];
};

const WORDS = new Set(['message', 'thought', 'agent_event']);

/** Told once, by the event after which words are left out. */
export const logIsFull = (limit: number): Untold => [
  'gap',
  {
    reason: 'log_full',
    message: `The log of this session has reached ${limit >> 20} MiB. From here on the text of the agent and the output of its tools are not kept; everything else is.`,
  },
];
