import { createInterface } from 'node:readline/promises';
import { jsonText, visible } from '../../../store/base/visible.ts';

/** Tells the operator one line. */
export type Say = (line: string) => void;

/** With all that hides in it, such as in the name of a folder, shown. */
export const toStandardOutput: Say = (line) => process.stdout.write(`${visible(line)}\n`);

/** Tells the operator what is done all the same, where no program reads. */
export const warn: Say = (line) => process.stderr.write(`dossier: ${visible(line)}\n`);

/** Tells a program one value. */
export const sayJson = (say: Say, value: unknown): void => say(jsonText(value, 2));

/** Whether somebody can be shown something and answer. */
export const isTerminal = (): boolean =>
  process.stdin.isTTY === true && process.stdout.isTTY === true;

/** Asks for a line. What ends the input, or `signal`, is an empty answer. */
export const ask = async (question: string, signal?: AbortSignal): Promise<string> => {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  const asked = lines.question(question, signal === undefined ? {} : { signal });
  try {
    return (await Promise.race([asked.catch(() => ''), closed])).trim();
  } finally {
    lines.close();
  }
};

/** Anything but yes is no. */
export const askYesNo = async (question: string, signal?: AbortSignal): Promise<boolean> =>
  /^y(es)?$/i.test(await ask(`${question} [y/N] `, signal));
