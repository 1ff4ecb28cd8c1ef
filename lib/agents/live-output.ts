import { coalesce } from './coalesce.ts';
import { TOLD_OUTPUT } from './launch.ts';
import type { RunEvent } from './provider.ts';

/**
 * Tells what a call writes while it goes on: at most one event in 60 ms or 4,096 characters, and no more of it in all
 * than is told at its end. What it writes beyond that is told once, as a gap.
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
    /** Tells what is held back: before the end of the call is told. */
    end: joined.flush,
  };
};
export type LiveOutput = ReturnType<typeof liveOutput>;

/** Told once, where a call has written more than is told of it while it goes on. */
export const outputGap = (tool_call_id: string, limit: number): RunEvent => ({
  type: 'gap',
  data: {
    reason: 'output_long',
    tool_call_id,
    message: `This call has written more than ${limit.toLocaleString('en')} characters: what it goes on to write is not told meanwhile. Its end has head and tail of all.`,
  },
});
