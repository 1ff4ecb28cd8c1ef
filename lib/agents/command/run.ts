import { messageOf } from '../../../store/base/attempt.ts';
import { onceEach } from '../../sandbox/egress/once-each.ts';
import type { Environment } from '../../tools/process/environment.ts';
import type { Exit, Program } from '../../tools/process/spawn.ts';
import { coalesce } from '../coalesce.ts';
import { PLAN_TOO_LONG } from '../last-message.ts';
import { LIMITS, launch, type ProviderDeps } from '../launch.ts';
import { outageIn } from '../outage.ts';
import { renderPrompt } from '../prompt.ts';
import type { Phase, Run, RunEvent, RunResult, RunSpec } from '../provider.ts';
import { describeExit, failedRun, plainRun } from '../run-end.ts';
import { atLeast } from '../usage.ts';
import { type Watch, watchQuiet } from '../waiting.ts';
import { type Format, hearLine } from './formats.ts';
import { createTold, type OutputReading } from './output-reading.ts';

interface Started {
  argv: readonly string[];
  output: Format;
  env: Environment;
}

interface Surroundings {
  tell: (event: RunEvent) => void;
  deps: ProviderDeps;
}

/** Runs a program for one turn. The prompt goes to its standard input, or where `{prompt}` stands in its arguments. */
export const startCommandRun = (
  { argv, output, env }: Started,
  spec: RunSpec,
  { tell, deps }: Surroundings,
): Run => {
  const messages = spec.takeMessages?.() ?? [];
  const prompt = renderPrompt(spec.phase, { ...spec.prompt, messages });
  const given = argv.map((word) => (word === PLACE ? prompt : word));
  if (given.some((word) => Buffer.byteLength(word) > LONGEST_ARGUMENT)) return failedRun(TOO_LONG);
  const joined = coalesce(tell);
  const told = createTold(joined.tell);
  const hear = hearLine(output);
  const onNetwork = onceEach((data) => joined.tell({ type: 'network', data }));
  let stopped = false;
  let watch: Watch | undefined;
  const onLine = (line: string): void => {
    watch?.heard();
    hear(told, line);
    wind();
  };
  let isCalling = false;
  // A tool call may be silent.
  const wind = (): void => {
    if (started instanceof Error || told.calling() === isCalling) return;
    isCalling = told.calling();
    started.idle(isCalling ? undefined : spec.limits.idle_ms, true);
  };
  const started = attempt(() => launch(spec, { argv: given, env, onNetwork, onLine }, deps));
  if (started instanceof Error) return failedRun(messageOf(started));
  started.stdin.end(argv.includes(PLACE) ? '' : prompt);
  watch = quietly(spec, started, { tell: joined.tell, busy: told.calling });
  const done = started.exited
    .then((exit): RunResult => (stopped ? cancelled(told) : resultOf(spec.phase, exit, told)))
    .finally(() => {
      watch?.end();
      joined.flush();
    });
  const stop = async (): Promise<void> => {
    stopped = true;
    await started.end();
    await done;
  };
  return plainRun(done, stop);
};

const quietly = (
  spec: RunSpec,
  program: Program,
  { tell, busy }: { tell: Surroundings['tell']; busy: () => boolean },
): Watch => {
  const quiet_ms = spec.limits.quiet_ms ?? LIMITS.quiet_ms;
  const watch = watchQuiet({ quiet_ms, tell, stderr: program.stderr, busy });
  watch.asked();
  return watch;
};

const PLACE = '{prompt}';
// The kernel takes no longer argument (MAX_ARG_STRLEN, 32 pages).
const LONGEST_ARGUMENT = 131_071;
const TOO_LONG =
  'The prompt is longer than an argument may be (128 KiB). Use a program that reads it from standard input, or shorten the memory files.';

const attempt = (start: () => Program): Program | Error => {
  try {
    return start();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
};

const cancelled = (told: OutputReading): RunResult => {
  told.killed();
  return { ...cutOff(told), outcome: 'cancelled' };
};

const cutOff = (told: OutputReading): Pick<RunResult, 'usage'> => {
  const { usage } = told.result();
  return usage === undefined ? {} : { usage: atLeast(usage) };
};

const resultOf = (phase: Phase, exit: Exit, told: OutputReading): RunResult => {
  const { usage, error } = told.result();
  const used = usage === undefined ? {} : { usage };
  const failed = (why: string): RunResult => {
    const outage = outageIn(why, new Date());
    return { ...used, outcome: 'failed', error: why, ...(outage && { outage }) };
  };
  if (exit.code !== 0 || exit.ended_by !== 'itself') {
    const why = `The program ${describeExit(exit)}.${lastWords(exit, error)}`;
    return { ...failed(why), ...cutOff(told) };
  }
  if (error !== undefined) return failed(`The program says that it failed: ${error}`);
  if (phase === 'work') return { ...used, outcome: 'completed' };
  if (told.planTooLong()) return failed(PLAN_TOO_LONG);
  const plan = told.lastMessage();
  if (plan === '') return failed('The program ended without writing a plan.');
  return { ...used, outcome: 'completed', plan };
};

const lastWords = ({ stderr_tail, ended_by }: Exit, error = ''): string => {
  const words = [error, ended_by === 'not_started' ? '' : stderr_tail.trim()].filter(Boolean);
  return words.length === 0 ? '' : ` Its last words:\n${words.join('\n')}`;
};
