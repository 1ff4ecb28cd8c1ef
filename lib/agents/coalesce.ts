import { TOLD_OUTPUT } from './launch.ts';
import type { RunEvent } from './provider.ts';

const FLUSH_MS = 60;
const FLUSH_CHARACTERS = 4096;

type Speech = Extract<RunEvent, { type: 'message' | 'thought' | 'tool_output' }>;

/**
 * Joins the pieces of streamed text into larger events: at most one per kind in 60 ms or 4,096 characters, none longer, and
 * in order with other events.
 */
export const coalesce = (tell: (event: RunEvent) => void) => {
  let kind: Speech = { type: 'message', data: { text: '' } };
  let held = '';
  let timer: NodeJS.Timeout | undefined;
  const tellFirst = (length: number): void => {
    const text = held.slice(0, length);
    held = held.slice(length);
    tell({ ...kind, data: { ...kind.data, text } } as Speech);
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (held !== '') tellFirst(held.length);
  };
  return {
    /** Emits the buffered text. */
    flush,
    tell: (event: RunEvent) => {
      if (!isSpeech(event)) {
        flush();
        return tell(event);
      }
      if (!isLike(event, kind)) flush();
      kind = event;
      held += event.data.text;
      while (held.length > FLUSH_CHARACTERS) tellFirst(wholeCharacters(held, FLUSH_CHARACTERS));
      if (held.length === FLUSH_CHARACTERS) return flush();
      timer ??= setTimeout(flush, FLUSH_MS);
    },
  };
};

const isSpeech = (event: RunEvent): event is Speech =>
  event.type === 'message' || event.type === 'thought' || event.type === 'tool_output';

// The output of different commands is never joined.
const isLike = (a: Speech, b: Speech): boolean =>
  a.type === b.type &&
  (a.type !== 'tool_output' || a.data.tool_call_id === (b as typeof a).data.tool_call_id);

// Never splits a surrogate pair: UTF-8 cannot encode half of one.
const wholeCharacters = (text: string, length: number): number =>
  /[\uD800-\uDBFF]/.test(text[length - 1] ?? '') ? length - 1 : length;

/**
 * Emits the output of a running tool call, at most one event in 60 ms or 4,096 characters, up to `limit` characters. Beyond
 * the limit it emits one gap event.
 */
export const liveOutput = (
  tell: (event: RunEvent) => void,
  tool_call_id: string,
  limit = TOLD_OUTPUT,
) => {
  const joined = coalesce(tell);
  let left = limit;
  let isFull = false;
  return {
    add: (text: string): void => {
      if (isFull || text === '') return;
      joined.tell({ type: 'tool_output', data: { tool_call_id, text: text.slice(0, left) } });
      isFull = text.length > left;
      left -= text.length;
      if (isFull) joined.tell(outputGap(tool_call_id, limit));
    },
    /** Emits the buffered output. Call it before the end of the call is emitted. */
    end: joined.flush,
  };
};
export type LiveOutput = ReturnType<typeof liveOutput>;

/** The event for output beyond the limit. */
export const outputGap = (tool_call_id: string, limit: number): RunEvent => ({
  type: 'gap',
  data: {
    reason: 'output_long',
    tool_call_id,
    message: `This call has written more than ${limit.toLocaleString('en')} characters. Further output is not streamed; the completed call has the beginning and the end.`,
  },
});
