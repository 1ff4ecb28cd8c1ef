import { shellQuoted } from '../../../store/base/text.ts';
import { Problem } from '../../client/client.ts';
import type { Config } from '../../config.ts';
import type { Call, Run } from '../args/command.ts';
import { Refusal } from '../args/refusal.ts';
import { shellCommand } from '../args/shell-command.ts';
import { type DaemonConnection, requireDaemon } from '../connection/daemon.ts';
import { toRefusal } from '../connection/refused.ts';
import { createOutput, type Out, type Words } from '../output/out.ts';

/** A call of a command with a connection to the daemon. */
export interface Verb extends Call, DaemonConnection {
  readonly out: Out;
  /** Prints the value with --json, else the line. */
  readonly report: (value: unknown, line: Words) => void;
  /** The words as a command to paste. */
  readonly typed: (words: string) => string;
}

type Sentence = string | ((problem: Problem) => string | Promise<string>);

/** Replaces problems with these codes by a Refusal that names commands instead of API calls. */
export const withRefusals = <T>(
  call: Promise<T>,
  sentences: Readonly<Partial<Record<Problem['code'], Sentence>>>,
): Promise<T> =>
  call.catch(async (error: unknown) => {
    if (!(error instanceof Problem)) throw error;
    const sentence = sentences[error.code];
    if (sentence === undefined) throw error;
    throw new Refusal(typeof sentence === 'string' ? sentence : await sentence(error));
  });

export const noWorktree = ({ typed }: Pick<Verb, 'typed'>, id: string): string =>
  `The Work item has no worktree. A session creates one: ${typed(`start ${id.slice(0, 8)}`)}`;

/** Flags with values, for a command to paste. Those without a value are left out. */
export const flagText = (flags: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(flags)
    .flatMap(([name, value]) => (value === undefined ? [] : [` --${name} ${shellQuoted(value)}`]))
    .join('');

/**
 * Creates a command that calls the daemon. `run` returns an exit code, or nothing for 0. `reach` finds the daemon:
 * `findOrStartDaemon` and `findOrStartInWorkspace` start one if none is running.
 */
export const verb =
  (
    run: (given: Verb) => Promise<number | undefined> | Promise<void>,
    reach: (config: Config) => Promise<DaemonConnection> = requireDaemon,
  ): Run =>
  async (call) => {
    const reached = await reach(call.config);
    const out = createOutput(process.stdout, call.config.env);
    const report = (value: unknown, line: Words): void =>
      call.values.json === true ? out.json(value) : out.say(line);
    const typed = (words: string): string => shellCommand(call.config, words);
    try {
      return (await run({ ...call, ...reached, out, report, typed })) || 0;
    } catch (error) {
      throw toRefusal(error, call.config, call.values);
    }
  };
