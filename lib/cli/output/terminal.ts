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

/** Asks for a line. Throws Interrupted after Ctrl-C and at the end of the input: neither takes a default. */
export const ask = async (question: string): Promise<string> => {
  const line = await readLine(question);
  if (line === undefined) throw new Interrupted();
  return line;
};

/** Asks for yes or no; anything but yes is no, also the end of the input and an abort of `signal`. Throws Interrupted after Ctrl-C. */
export const askYesNo = async (question: string, signal?: AbortSignal): Promise<boolean> =>
  /^y(es)?$/i.test((await readLine(`${question} [y/N] `, signal)) ?? '');

// Returns undefined at the end of the input and after an abort.
const readLine = async (question: string, signal?: AbortSignal): Promise<string | undefined> => {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<undefined>((resolve, reject) => {
    lines.once('close', () => resolve(undefined));
    lines.once('SIGINT', () => reject(new Interrupted()));
  });
  const asked = lines.question(question, signal === undefined ? {} : { signal });
  try {
    const line = await Promise.race([asked.catch(() => undefined), closed]);
    if (line === undefined) process.stdout.write('\n');
    return line?.trim();
  } catch (error) {
    process.stdout.write('\n');
    throw error;
  } finally {
    lines.close();
  }
};
