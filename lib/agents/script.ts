import { StringDecoder } from 'node:string_decoder';
import { messageOf } from '../../store/base/message-of.ts';
import { type Capped, createCappedOutput } from '../text/cap-text.ts';
import type { Exit, Program } from '../tools/process/spawn.ts';
import type { LiveOutput } from './coalesce.ts';
import { type Launch, type Launchable, type LaunchDeps, launch, TOLD_OUTPUT } from './launch.ts';
import { describeExit } from './run-end.ts';

/** What one script came to. */
export interface Ran extends Capped {
  /** What went wrong, in words that follow the script's name; undefined when nothing did. */
  failure: string | undefined;
  /** Null when it was ended, or never began. */
  exit_code: number | null;
}

/**
 * Runs a program to its end, unattended, and keeps the head and the tail of what it wrote on both streams
 * together; `live` hears it as it comes. Never rejects. `started` is handed the program, so that it can be ended.
 */
export const runScript = async (
  spec: Launchable,
  { argv, onNetwork, live }: Pick<Launch, 'argv' | 'onNetwork'> & { live: LiveOutput },
  deps: LaunchDeps,
  started: (program: Program) => void,
): Promise<Ran> => {
  const output = createCappedOutput(TOLD_OUTPUT);
  const decoder = new StringDecoder('utf8');
  const onBytes = (chunk: Buffer): void => {
    const text = decoder.write(chunk);
    output.add(text);
    live.add(text);
  };
  const env = deps.sandbox.kind === 'bubblewrap' ? OWN_CACHES : {};
  let exit: Exit | Error;
  try {
    const program = launch(spec, { argv, env, onBytes, ...(onNetwork && { onNetwork }) }, deps);
    // Nobody types: a command that asks gets the end of its input instead of waiting for ever.
    program.stdin.end();
    // A command may be silent for as long as it runs: a build, a test without output.
    program.idle(undefined, true);
    started(program);
    exit = await program.exited;
  } catch (error) {
    exit = new Error(messageOf(error));
  }
  live.end();
  const exit_code = exit instanceof Error ? null : exit.code;
  return { ...output.read(), failure: whatFailed(exit), exit_code };
};

// Inside, the home directory is read-only, and package managers want to keep what they fetch: in the private /tmp.
const OWN_CACHES = { XDG_CACHE_HOME: '/tmp/cache' };

const whatFailed = (exit: Exit | Error): string | undefined => {
  if (exit instanceof Error) return `could not be started: ${exit.message}`;
  return exit.code === 0 && exit.ended_by === 'itself' ? undefined : describeExit(exit);
};

const LAST_LINES = 5;
const LAST_CHARACTERS = 1000;

/** The last lines of what a script wrote, as sentences that follow what went wrong. */
export const lastWords = (output: string): string => {
  const lines = output.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
  return lines === ''
    ? ' It wrote nothing.'
    : ` Its last output:\n${lines.slice(-LAST_CHARACTERS)}`;
};
