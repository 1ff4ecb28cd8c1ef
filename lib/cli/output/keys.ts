/** The keys of the terminal, one at a time. */
export interface Keys {
  /**
   * Asks, and answers the first of these keys that is pressed then: what was typed before all that was written is shown is
   * dropped, and so is what is typed together with the answer, behind it.
   */
  ask(question: string, wanted: readonly string[]): Promise<string>;
  /** Gives the terminal back. */
  close(): void;
}

/** Keys that leave what is shown: Ctrl-C and Ctrl-D, too. */
export const LEAVES = ['q', '\u0003', '\u0004'];
const ENDED = '\u0004';
const ESCAPE = '\u001b';

/** Takes the terminal: each key comes as it is pressed, Ctrl-C too, and none is shown. */
export const openKeys = (): Keys => {
  const { stdin } = process;
  let take: ((key: string) => void) | undefined;
  const hear = (typed: Buffer | string): void => {
    const text = typed.toString();
    // An arrow is many characters, and one key.
    for (const key of text.startsWith(ESCAPE) ? [text] : text) take?.(key);
  };
  const end = (): void => hear(ENDED);
  stdin.setRawMode(true);
  stdin.on('data', hear).on('end', end).resume();
  return {
    ask: async (question, wanted) => {
      await untilQuiet();
      process.stdout.write(question);
      return new Promise((resolve) => {
        take = (key) => {
          if (!wanted.includes(key)) return;
          take = undefined;
          resolve(key);
        };
      });
    },
    close: () => {
      stdin.off('data', hear).off('end', end).pause();
      stdin.setRawMode(false);
    },
  };
};

/** Drops what was typed before it was asked for: no line of it becomes an answer. */
export const dropTyped = async (): Promise<void> => {
  const keys = openKeys();
  await untilQuiet();
  keys.close();
};

// What the system has of it by now is read, and heard by nobody.
const untilQuiet = async (): Promise<void> => {
  await written();
  await turnOfTheLoop();
  await turnOfTheLoop();
};

const written = (): Promise<void> =>
  new Promise((resolve) => process.stdout.write('', () => resolve()));

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
