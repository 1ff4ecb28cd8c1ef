import { StringDecoder } from 'node:string_decoder';
import { messageOf } from '../../store/base/attempt.ts';
import { type Capped, createCappedOutput } from '../text/cap-text.ts';
import type { Exit, Program } from '../tools/process/spawn.ts';
import type { LiveOutput } from './coalesce.ts';
import { type Launch, type Launchable, type LaunchDeps, launch, TOLD_OUTPUT } from './launch.ts';
import { describeExit } from './run-end.ts';

/** The result of a script. */
export interface Ran extends Capped {
  /** What went wrong, as a predicate after the script's name; undefined on success. */
  failure: string | undefined;
  /** Null if it was ended or never started. */
  exit_code: number | null;
  /** It never ran, for example because the sandbox could not be set up. */
  not_begun: boolean;
  /** What it met in the sandbox, as clauses. */
  explained: readonly string[];
}

// Between the list of files that are covered and bubblewrap's start, one can vanish.
const TRIES = 3;

/**
 * Runs a program unattended to its end and keeps the beginning and the end of its output, both streams together; `live` gets
 * the output as it arrives. Tries again where the sandbox has failed before the program began. Calls `started` with the
 * program, so that it can be ended. Never rejects.
 */
export const runScript = async (
  spec: Launchable,
  script: Script,
  deps: LaunchDeps,
  started: (program: Program) => void,
): Promise<Ran> => {
  let { exit, output, isEnded, wasLaunched } = await tryOnce(spec, script, deps, started);
  for (let tries = 1; tries < TRIES && hasNotBegun(exit) && !isEnded; tries += 1)
    ({ exit, output, isEnded, wasLaunched } = await tryOnce(spec, script, deps, started));
  script.live.end();
  const exit_code = exit instanceof Error || hasNotBegun(exit) ? null : exit.code;
  const explained = exit instanceof Error ? [] : (exit.explained ?? []);
  const not_begun = exit instanceof Error ? !wasLaunched : exit.ended_by === 'not_started';
  return { ...output, failure: whatFailed(exit, wasLaunched), exit_code, not_begun, explained };
};

type Script = Pick<Launch, 'argv' | 'onNetwork'> & { live: LiveOutput };

// A program that cannot be spawned has no code, and would not start the next time either.
const hasNotBegun = (exit: Exit | Error): boolean =>
  !(exit instanceof Error) && exit.ended_by === 'not_started' && exit.code !== null;

interface Attempt {
  exit: Exit | Error;
  output: Capped;
  /** By the caller. */
  isEnded: boolean;
  /** Else it was not spawned. What fails afterwards says nothing about what it did. */
  wasLaunched: boolean;
}

const tryOnce = async (
  spec: Launchable,
  { argv, onNetwork, live }: Script,
  deps: LaunchDeps,
  started: (program: Program) => void,
): Promise<Attempt> => {
  const output = createCappedOutput(TOLD_OUTPUT);
  const decoder = new StringDecoder('utf8');
  const onBytes = (chunk: Buffer): void => {
    const text = decoder.write(chunk);
    output.add(text);
    live.add(text);
  };
  let isEnded = false;
  let wasLaunched = false;
  try {
    const program = launch(spec, { argv, onBytes, ...(onNetwork && { onNetwork }) }, deps);
    wasLaunched = true;
    // A command that prompts gets the end of input instead of waiting for ever.
    program.stdin.end();
    // No idle limit: a build or test may run without output.
    program.idle(undefined, true);
    const end = (): Promise<Exit> => {
      isEnded = true;
      return program.end();
    };
    started({ ...program, end });
    const exit = await program.exited;
    return { exit, output: output.read(), isEnded, wasLaunched };
  } catch (error) {
    return { exit: new Error(messageOf(error)), output: output.read(), isEnded, wasLaunched };
  }
};

const whatFailed = (exit: Exit | Error, wasLaunched: boolean): string | undefined => {
  if (exit instanceof Error)
    return `${wasLaunched ? 'ran, but its result is unknown' : 'could not be started'}: ${exit.message.replace(/\.$/, '')}`;
  return exit.code === 0 && exit.ended_by === 'itself' ? undefined : describeExit(exit);
};

const LAST_LINES = 5;
const LAST_CHARACTERS = 1000;

/** The last lines of a script's output, as a sentence. */
export const lastWords = (output: string): string => {
  const lines = output.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
  return lines === ''
    ? ' It wrote nothing.'
    : ` Its last output:\n${lines.slice(-LAST_CHARACTERS)}`;
};
