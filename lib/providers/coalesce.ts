import type { RunEvent } from './provider.ts';

const FLUSH_MS = 100;
const FLUSH_CHARACTERS = 4096;

export interface Coalescer {
  tell(event: RunEvent): void;
  /** Tells what is held back. */
  flush(): void;
}

/**
 * Joins the pieces in which an agent streams its text: told is at most one event in 100 ms or 4 KiB of a kind,
 * and never out of order with other events.
 */
export const coalesce = (tell: (event: RunEvent) => void): Coalescer => {
  let held: Extract<RunEvent, { type: 'message' | 'thought' }> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (held !== undefined) tell(held);
    held = undefined;
  };
  return {
    flush,
    tell: (event) => {
      if (held !== undefined && held.type !== event.type) flush();
      if (event.type !== 'message' && event.type !== 'thought') return tell(event);
      const text = (held?.data.text ?? '') + event.data.text;
      held = { type: event.type, data: { text } };
      if (text.length >= FLUSH_CHARACTERS) return flush();
      timer ??= setTimeout(flush, FLUSH_MS);
    },
  };
};
