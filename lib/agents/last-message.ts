import { LONGEST_PLAN } from '../../store/sessions/session-texts.ts';

/** Collects an agent's text since its last tool call, up to the length of a plan. */
export const createLastMessage = () => {
  let text = '';
  let tooLong = false;
  return {
    add: (more: string): void => {
      if (tooLong) return;
      text += more;
      tooLong = text.length > LONGEST_PLAN;
    },
    /** Discards the text: a tool call has begun. */
    clear: (): void => {
      text = '';
      tooLong = false;
    },
    /** The trimmed text, cut to the longest plan. */
    read: (): string => text.slice(0, LONGEST_PLAN).trim(),
    tooLong: (): boolean => tooLong,
  };
};
export type LastMessage = ReturnType<typeof createLastMessage>;

export const PLAN_TOO_LONG = `The plan is longer than ${LONGEST_PLAN >> 20} Mi characters, which is too long to review. The stream has its text. Start another session and ask for a shorter plan.`;
