import type { RunEvent } from './provider.ts';

const FLUSH_MS = 60;
const FLUSH_CHARACTERS = 4096;

type Speech = Extract<RunEvent, { type: 'message' | 'thought' | 'tool_output' }>;

/**
 * Makes events of a like size of the pieces in which an agent streams its text: at most one of a kind in 60 ms or 4,096
 * characters, none longer than that, and never out of order with other events.
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
    /** Tells what is held back. */
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

// The output of two commands is never mixed.
const isLike = (a: Speech, b: Speech): boolean =>
  a.type === b.type &&
  (a.type !== 'tool_output' || a.data.tool_call_id === (b as typeof a).data.tool_call_id);

// A character of two code units is not cut in two: each half alone would be lost in UTF-8.
const wholeCharacters = (text: string, length: number): number =>
  /[\uD800-\uDBFF]/.test(text[length - 1] ?? '') ? length - 1 : length;
