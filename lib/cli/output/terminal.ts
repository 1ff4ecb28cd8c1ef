import { createInterface } from 'node:readline/promises';
import { jsonText, visible } from '../../../store/base/visible.ts';
import { Interrupted } from '../args/refusal.ts';

/** Prints a line. */
export type Say = (line: string) => void;

/** Prints a line on standard output, with control and invisible characters made visible. */
export const toStandardOutput: Say = (line) => process.stdout.write(`${visible(line)}\n`);

/** Prints a line on standard error. */
export const warn: Say = (line) => process.stderr.write(`dossier: ${visible(line)}\n`);

/** Prints a value as JSON. */
export const sayJson = (say: Say, value: unknown): void => say(jsonText(value, 2));

/** Whether input and output are a terminal, so that the operator can be asked. */
export const isTerminal = (): boolean =>
  process.stdin.isTTY === true && process.stdout.isTTY === true;

/** Asks for a line. The end of the input, or an abort of `signal`, is an empty answer. Throws Interrupted after Ctrl-C. */
export const ask = async (question: string, signal?: AbortSignal): Promise<string> => {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<string>((resolve, reject) => {
    lines.once('close', () => resolve(''));
    lines.once('SIGINT', () => reject(new Interrupted()));
  });
  const asked = lines.question(question, signal === undefined ? {} : { signal });
  try {
    return (await Promise.race([asked.catch(() => ''), closed])).trim();
  } catch (error) {
    process.stdout.write('\n');
    throw error;
  } finally {
    lines.close();
  }
};

/** Asks for yes or no; anything but yes is no. */
export const askYesNo = async (question: string, signal?: AbortSignal): Promise<boolean> =>
  /^y(es)?$/i.test(await ask(`${question} [y/N] `, signal));
