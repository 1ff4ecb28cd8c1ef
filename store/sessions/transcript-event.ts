import { orElse } from '../base/attempt.ts';

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
