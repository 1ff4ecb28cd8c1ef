/** The longest plan that is taken, in characters: nobody approves more with open eyes. */
export const LONGEST_PLAN = 1_048_576;

/** What an agent said since its last tool call, as far as it can be a plan. */
export const createLastMessage = () => {
  let text = '';
  let tooLong = false;
  return {
    add: (more: string): void => {
      if (tooLong) return;
      text += more;
      tooLong = text.length > LONGEST_PLAN;
    },
    /** A tool call has begun: what was said before it is no plan. */
    clear: (): void => {
      text = '';
      tooLong = false;
    },
    /** Without the space around it; of one that is too long the beginning. */
    read: (): string => text.slice(0, LONGEST_PLAN).trim(),
    tooLong: (): boolean => tooLong,
  };
};
export type LastMessage = ReturnType<typeof createLastMessage>;

export const PLAN_TOO_LONG = `The agent wrote a plan of more than ${LONGEST_PLAN >> 20} Mi characters, which nobody could read before approving it. What it wrote is in the stream. Begin another session, and ask for a shorter plan.`;
