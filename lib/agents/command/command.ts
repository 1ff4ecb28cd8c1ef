import { messageOf } from '../../../store/base/attempt.ts';
import type { Offers } from '../../../store/records/provider.ts';
import { reportOncePerTarget } from '../../sandbox/egress/doors.ts';
import type { Environment } from '../../tools/process/environment.ts';
import type { Exit, Program } from '../../tools/process/spawn.ts';
import { coalesce } from '../coalesce.ts';
import { PLAN_TOO_LONG } from '../last-message.ts';
import {
  boundaryOf,
  isolationOf,
  LIMITS,
  launch,
  type ProviderDeps,
  whyUnavailable,
} from '../launch.ts';
import { createManualProvider } from '../manual.ts';
import { type ModelChoice, NO_OFFERS, notOffered } from '../model-choice.ts';
import { modelErrorIn, outageIn } from '../outage.ts';
import type { OwnPlaces } from '../presets.ts';
import { withPrivateState } from '../private-state.ts';
import { renderPrompt } from '../prompt.ts';
import type {
  Phase,
  Provider,
  ProviderInfo,
  Run,
  RunEvent,
  RunResult,
  RunSpec,
} from '../provider.ts';
import { describeExit, endedRun, failedRun, hasNotBegun, plainRun } from '../run-end.ts';
import { reportSandboxLimits } from '../sandbox-limits.ts';
import { atLeast } from '../usage.ts';
import { type Watch, watchQuiet } from '../waiting.ts';
import { type Format, hearLine } from './formats.ts';
import { createOutputReader, type OutputReader } from './output-reader.ts';
import type { Flags } from './presets.ts';

/** A program that takes a prompt, performs one turn, and exits. */
interface CommandProgram extends OwnPlaces {
  id: string;
  /** Argument vectors by phase. Without one for Plan mode, the operator writes the plan. */
  argv: Readonly<Partial<Record<Phase, readonly string[]>>>;
  output: Format;
  /** Absent: model and effort cannot be chosen. */
  flags?: Flags;
}

/**
 * A provider that runs a program once per turn, with the prompt on standard input and the exit code as the verdict. It cannot
 * ask for permission: in Work mode it may do what the sandbox and its own settings allow.
 */
export const createCommandProvider = (program: CommandProgram, deps: ProviderDeps): Provider => ({
  isolation: program.argv.plan === undefined ? 'operator' : isolationOf(deps),
  own_network: deps.network.kind === 'own',
  boundary: () => boundaryOf('command', deps, program.env),
  usual: program.usual,
  offers: () => offersOf(program),
  missing: () => missing(program, deps),
  probe: async () => {
    const isolation = isolationOf(deps);
    const login = program.loggedIn();
    const known = { id: program.id, kind: 'command', isolation, login } as const;
    const info: ProviderInfo = { ...known, available: true };
    const reason = missing(program, deps);
    return reason === undefined ? info : { ...info, available: false, reason };
  },
  start: (spec, tell) => {
    const argv = program.argv[spec.phase];
    if (argv === undefined && spec.phase === 'plan')
      return createManualProvider().start(spec, tell);
    if (argv === undefined)
      return failedRun(
        `The provider ${program.id} has no program for Work mode. Set providers.${program.id}.work.`,
      );
    const reason = whyUnavailable({ ...program, argv }, deps);
    if (reason !== undefined) return failedRun(reason);
    const { choice = program.usual } = spec;
    const refused = notOffered(program.id, offersOf(program), choice);
    if (refused !== undefined) return failedRun(refused.why);
    const chosen = withFlags(argv, program.flags, choice);
    return withPrivateState({ state: program.state, spec, tell, deps }, (own) =>
      startCommandRun({ ...program, argv: chosen }, own, { tell, deps }),
    );
  },
});

// The models are unknown: the program rejects a wrong one when it runs.
const offersOf = ({ flags }: CommandProgram): Offers => {
  if (flags === undefined) return NO_OFFERS;
  return flags.effort === undefined ? { efforts: [] } : {};
};

// Inserted before the placeholder of the prompt, which ends the flags.
const withFlags = (
  argv: readonly string[],
  flags: Flags | undefined,
  { model, effort }: ModelChoice,
): readonly string[] => {
  const words = [
    ...((model !== undefined && flags?.model(model)) || []),
    ...((effort !== undefined && flags?.effort?.(effort)) || []),
  ];
  const end = ENDS.has(argv.at(-1) ?? '') ? -1 : argv.length;
  return argv.toSpliced(end, 0, ...words);
};

const ENDS = new Set(['-', '{prompt}']);

const missing = (program: CommandProgram, deps: ProviderDeps): string | undefined =>
  Object.values(program.argv).flatMap(
    (argv) => whyUnavailable({ ...program, argv }, deps) ?? [],
  )[0];

interface Started {
  argv: readonly string[];
  output: Format;
  env: Environment;
}

interface RunContext {
  tell: (event: RunEvent) => void;
  deps: ProviderDeps;
}

/** Runs a program for one turn. The prompt is written to standard input, or replaces `{prompt}` in the arguments. */
const startCommandRun = (
  { argv, output, env }: Started,
  spec: RunSpec,
  { tell, deps }: RunContext,
): Run => {
  const messages = spec.takeMessages?.() ?? [];
  const prompt = renderPrompt(spec.phase, { ...spec.prompt, messages });
  const given = argv.map((word) => (word === PLACE ? prompt : word));
  if (given.some((word) => Buffer.byteLength(word) > LONGEST_ARGUMENT)) return failedRun(TOO_LONG);
  const joined = coalesce(reportSandboxLimits(spec, tell, deps));
  const reader = createOutputReader(joined.tell);
  const hear = hearLine(output);
  const onNetwork = reportOncePerTarget((data) => joined.tell({ type: 'network', data }));
  let stopped = false;
  let watch: Watch | undefined;
  const onLine = (line: string): void => {
    watch?.heard();
    hear(reader, line);
    wind();
  };
  let isCalling = false;
  // No idle limit during a tool call.
  const wind = (): void => {
    if (started instanceof Error || reader.calling() === isCalling) return;
    isCalling = reader.calling();
    started.idle(isCalling ? undefined : spec.limits.idle_ms, true);
  };
  const started = attempt(() => launch(spec, { argv: given, env, onNetwork, onLine }, deps));
  if (started instanceof Error)
    return endedRun({ outcome: 'failed', error: messageOf(started), not_begun: true });
  started.stdin.end(argv.includes(PLACE) ? '' : prompt);
  watch = quietly(spec, started, { tell: joined.tell, busy: reader.calling });
  const done = started.exited
    .then((exit): RunResult => (stopped ? cancelled(reader) : resultOf(spec.phase, exit, reader)))
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
  { tell, busy }: { tell: RunContext['tell']; busy: () => boolean },
): Watch => {
  const quiet_ms = spec.limits.quiet_ms ?? LIMITS.quiet_ms;
  const watch = watchQuiet({ quiet_ms, tell, stderr: program.stderr, busy });
  watch.asked();
  return watch;
};

const PLACE = '{prompt}';
// The longest argument in Linux (MAX_ARG_STRLEN, 32 pages).
const LONGEST_ARGUMENT = 131_071;
const TOO_LONG =
  'The prompt is longer than 128 KiB, the limit of an argument. Use a program that reads it from standard input, or shorten the memory files.';

const attempt = (start: () => Program): Program | Error => {
  try {
    return start();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
};

const cancelled = (reader: OutputReader): RunResult => {
  reader.killed();
  return { ...cutOff(reader), outcome: 'cancelled' };
};

const cutOff = (reader: OutputReader): Pick<RunResult, 'usage'> => {
  const { usage } = reader.result();
  return usage === undefined ? {} : { usage: atLeast(usage) };
};

const resultOf = (phase: Phase, exit: Exit, reader: OutputReader): RunResult => {
  const { usage, error } = reader.result();
  const used = usage === undefined ? {} : { usage };
  const failed = (why: string): RunResult => {
    const outage = outageIn(why, new Date());
    return { ...used, outcome: 'failed', error: why, ...(outage && { outage }) };
  };
  if (exit.code !== 0 || exit.ended_by !== 'itself') {
    const why = `The program ${describeExit(exit)}.${lastWords(exit, error)}`;
    return { ...failed(why), ...cutOff(reader), not_begun: hasNotBegun(exit) };
  }
  const reported = error ?? modelErrorIn(reader.lastMessage());
  if (reported !== undefined) return failed(`The program reported an error: ${reported}`);
  if (phase === 'work') {
    tellErrors(exit, reader);
    return { ...used, outcome: 'completed' };
  }
  if (reader.planTooLong()) return failed(PLAN_TOO_LONG);
  const plan = reader.lastMessage();
  if (plan === '') return failed('The program ended without writing a plan.');
  return { ...used, outcome: 'completed', plan };
};

// Of a program that printed nothing else, the record has these as its last words.
const tellErrors = ({ stderr_tail }: Exit, reader: OutputReader): void => {
  const errors = stderr_tail.trim();
  if (reader.lastMessage() === '' && errors !== '') reader.message(errors);
};

const lastWords = ({ stderr_tail, ended_by }: Exit, error = ''): string => {
  const words = [error, ended_by === 'not_started' ? '' : stderr_tail.trim()].filter(Boolean);
  return words.length === 0 ? '' : ` Its last output:\n${words.join('\n')}`;
};
