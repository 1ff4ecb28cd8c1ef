import type { RunEvent } from './provider.ts';

const FLUSH_MS = 60;
const FLUSH_CHARACTERS = 4096;

export interface Coalescer {
  tell(event: RunEvent): void;
  /** Tells what is held back. */
  flush(): void;
}

type Speech = Extract<RunEvent, { type: 'message' | 'thought' }>;

/**
 * Makes events of a like size of the pieces in which an agent streams its text: at most one of a kind in 60 ms or 4,096
 * characters, none longer than that, and never out of order with other events.
 */
export const coalesce = (tell: (event: RunEvent) => void): Coalescer => {
  let type: Speech['type'] = 'message';
  let held = '';
  let timer: NodeJS.Timeout | undefined;
  const tellFirst = (length: number): void => {
    const text = held.slice(0, length);
    held = held.slice(length);
    tell({ type, data: { text } });
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (held !== '') tellFirst(held.length);
  };
  return {
    flush,
    tell: (event) => {
      if (event.type !== 'message' && event.type !== 'thought') {
        flush();
        return tell(event);
      }
      if (event.type !== type) flush();
      type = event.type;
      held += event.data.text;
      while (held.length > FLUSH_CHARACTERS) tellFirst(wholeCharacters(held, FLUSH_CHARACTERS));
      if (held.length === FLUSH_CHARACTERS) return flush();
      timer ??= setTimeout(flush, FLUSH_MS);
    },
  };
};

// A character of two code units is not cut in two: each half alone would be lost in UTF-8.
const wholeCharacters = (text: string, length: number): number =>
  /[\uD800-\uDBFF]/.test(text[length - 1] ?? '') ? length - 1 : length;
