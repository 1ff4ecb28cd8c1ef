import { createInterface } from 'node:readline/promises';

/** Tells the operator one line. */
export type Say = (line: string) => void;

export const toStandardOutput: Say = (line) => process.stdout.write(`${line}\n`);

/** Whether somebody can be shown something and answer. */
export const isTerminal = (): boolean =>
  process.stdin.isTTY === true && process.stdout.isTTY === true;

/** Asks until there is an answer; anything but yes is no, and so is the end of the input, or of `signal`. */
export const askYesNo = async (question: string, signal?: AbortSignal): Promise<boolean> => {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  const asked = lines.question(`${question} [y/N] `, signal === undefined ? {} : { signal });
  try {
    const answer = await Promise.race([asked.catch(() => ''), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
};
