import { messageOf } from '../../store/base/attempt.ts';
import type { Exit } from '../tools/process/spawn.ts';
import type { Run, RunResult } from './provider.ts';

/** How a program came to its end, to be put after its name: `was ended by signal SIGKILL`. */
export const describeExit = (exit: Exit): string => `${howItEnded(exit)}${whatItMissed(exit)}`;

// Nobody shall search for hours for a file that is plainly there.
const whatItMissed = ({ unseen = [] }: Exit): string =>
  unseen.length === 0
    ? ''
    : ` (not shown in the sandbox, though it is there: ${unseen.join(', ')}; sandbox_readable in workspace.md shows it)`;

const howItEnded = (exit: Exit): string => {
  if (exit.ended_by === 'not_started') return `could not be started: ${exit.stderr_tail}`;
  if (exit.ended_by === 'idle_limit')
    return 'wrote nothing for longer than the idle limit and was ended';
  if (exit.ended_by === 'wall_limit') return 'went on for longer than a turn may and was ended';
  if (exit.ended_by === 'output_limit') return 'wrote more than the output limit and was ended';
  if (exit.signal !== null) return `was ended by signal ${exit.signal}`;
  return `ended with exit code ${exit.code}`;
};

/** A run that asks nobody, and is stopped in one way alone. */
export const plainRun = (done: Promise<RunResult>, stop: () => Promise<void>): Run => ({
  ...{ done, cancel: stop, kill: stop },
  ...{ answer: () => false, finish: () => false },
});

/** The run of what is over before it has begun. */
export const endedRun = (result: RunResult): Run =>
  plainRun(Promise.resolve(result), async () => {});

/** The run of what cannot run: for a reason that the operator can act on. */
export const failedRun = (error: string): Run => endedRun({ outcome: 'failed', error });

/** The run of what is still being loaded: what is asked of it meanwhile waits, and nothing of it is alive before. */
export const lateRun = (starting: Promise<Run>): Run => {
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
      }),
    ),
    cancel: () => started.then(() => run?.cancel(), ignore),
    kill: () => started.then(() => run?.kill(), ignore),
    answer: (...answer) => run?.answer(...answer) === true,
    reply: (...answer) => run?.reply?.(...answer) === true,
    // What has not started reads the message as it starts.
    interrupt: (now) => run === undefined || run.interrupt?.(now) === true,
    finish: () => run?.finish() === true,
  };
};

// That it could not be started is told by `done`.
const ignore = (): void => undefined;
