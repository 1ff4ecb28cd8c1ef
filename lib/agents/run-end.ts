import { messageOf } from '../../store/base/attempt.ts';
import type { Exit } from '../tools/process/spawn.ts';
import type { Run, RunResult } from './provider.ts';

/** How a program ended, as a predicate: `was killed by SIGKILL`. */
export const describeExit = (exit: Exit): string => `${howItEnded(exit)}${whatItMet(exit)}`;

// Nothing in the program's own error leads to the sandbox.
const whatItMet = ({ explained = [] }: Exit): string =>
  explained.length === 0 ? '' : ` (${explained.join('; ')})`;

// ANSWER_LIMITS, where a request waits for the answer.
const EXCEEDED: Partial<Record<Exit['ended_by'], string>> = {
  idle_limit:
    'the idle limit: it wrote nothing for longer than limits.idle_minutes in workspace.md, or than 5 minutes while a request waited for it',
  wall_limit:
    'the time limit: it ran for longer than limits.wall_hours in workspace.md, or than 15 minutes while a request waited for it',
  output_limit: 'the output limit: it wrote more than limits.output_mb in workspace.md',
};

const howItEnded = (exit: Exit): string => {
  if (exit.ended_by === 'not_started') return `could not be started: ${exit.stderr_tail.trim()}`;
  const limit = EXCEEDED[exit.ended_by];
  if (limit !== undefined) return `exceeded ${limit}`;
  if (exit.signal !== null) return `was killed by ${exit.signal}`;
  return `ended with exit code ${exit.code}`;
};

/** Whether a program has not begun, for example because bubblewrap failed. */
export const hasNotBegun = ({ ended_by }: Exit): boolean => ended_by === 'not_started';

/** A run without requests, for which `cancel` and `kill` are the same. */
export const plainRun = (done: Promise<RunResult>, stop: () => Promise<void>): Run => ({
  done,
  cancel: stop,
  kill: stop,
  answer: () => false,
  finish: () => false,
});

/** A run with a known result. */
export const endedRun = (result: RunResult): Run =>
  plainRun(Promise.resolve(result), async () => {});

/** A run that failed to start, with a reason for the operator. */
export const failedRun = (error: string): Run => endedRun({ outcome: 'failed', error });

/** A run that starts later: `cancel` and `kill` wait for the start. */
export const deferredRun = (starting: Promise<Run>): Run => {
  let run: Run | undefined;
  const started = starting.then((it) => {
    run = it;
  });
  return {
    done: started.then(
      () => run?.done as Run['done'],
      (error) => ({
        outcome: 'failed',
        error: `The agent could not be started: ${messageOf(error)}`,
        not_begun: true,
      }),
    ),
    cancel: () => started.then(() => run?.cancel(), ignore),
    kill: () => started.then(() => run?.kill(), ignore),
    answer: (...answer) => run?.answer(...answer) === true,
    reply: (...answer) => run?.reply?.(...answer) === true,
    // A run that has not started reads the message when it starts.
    interrupt: (now) => run === undefined || run.interrupt?.(now) === true,
    finish: () => run?.finish() === true,
  };
};

// `done` reports the error.
const ignore = (): void => undefined;
