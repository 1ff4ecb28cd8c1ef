import { StringDecoder } from 'node:string_decoder';
import type { Exit, Program } from '../../tools/spawn.ts';
import { createCappedOutput } from '../cap-text.ts';
import { launch, type ProviderDeps, TOLD_OUTPUT } from '../launch.ts';
import type { Provider, Run, RunEvent, RunResult, RunSpec } from '../provider.ts';
import { describeExit, messageOf } from '../run-end.ts';
import { proposePlan } from './plan.ts';
import { firstLine, type ShellBlock, shellBlocks } from './shell-blocks.ts';

type Tell = (event: RunEvent) => void;

/**
 * The embedded provider. It proposes the Work item's own shell blocks as the plan, running nothing, and in Work mode
 * runs the blocks that stand in the approved plan, one by one, until one fails. Each is run by `sh -eu -c` (a `bash`
 * block by `bash --norc -eu -c`): `-e` ends it at the first command that fails, `-u` at the first unset variable. What a
 * block leaves running in the background ends with it.
 */
export const createRunbookProvider = (deps: ProviderDeps): Provider => ({
  probe: async () => ({ id: 'runbook', kind: 'runbook', available: true, isolation: 'enforced' }),
  start: (spec, tell) => (spec.phase === 'plan' ? plan(spec) : work(spec, tell, deps)),
});

const plan = (spec: RunSpec): Run => ({
  done: Promise.resolve<RunResult>({ outcome: 'completed', plan: proposePlan(spec.prompt) }),
  cancel: async () => {},
  kill: async () => {},
  answer: () => false,
  finish: () => false,
});

interface Work {
  spec: RunSpec;
  tell: Tell;
  deps: ProviderDeps;
  stopped: boolean;
  program: Program | undefined;
}

const work = (spec: RunSpec, tell: Tell, deps: ProviderDeps): Run => {
  const state: Work = { spec, tell, deps, stopped: false, program: undefined };
  // What is thrown here is a bug of ours, and must still end the run.
  const done = runBlocks(state).catch(
    (error: unknown): RunResult => ({ outcome: 'failed', error: messageOf(error) }),
  );
  const stop = async (): Promise<void> => {
    state.stopped = true;
    await state.program?.end();
    await done;
  };
  return { done, cancel: stop, kill: stop, answer: () => false, finish: () => false };
};

// Only the approved text counts: neither tasks.md nor the description is looked at again.
const runBlocks = async (state: Work): Promise<RunResult> => {
  const blocks = shellBlocks(state.spec.prompt.plan ?? '');
  if (blocks.length === 0) {
    const text = 'The approved plan holds no shell block, so nothing was run.';
    state.tell({ type: 'message', data: { text } });
  }
  const done = new Set(state.spec.prompt.partial?.done);
  for (const [at, block] of blocks.entries()) {
    if (done.has(idOf(at + 1))) continue;
    const failure = await runBlock(state, block, at + 1);
    if (state.stopped) return { outcome: 'cancelled' };
    if (failure !== undefined) {
      return { outcome: 'failed', error: `Block ${at + 1} of ${blocks.length} ${failure}` };
    }
  }
  return { outcome: 'completed' };
};

// What a run that was stopped has finished is not run again.
const idOf = (number: number): string => `block-${number}`;

// Resolves with what went wrong, if anything did.
const runBlock = async (
  state: Work,
  block: ShellBlock,
  number: number,
): Promise<string | undefined> => {
  const title = firstLine(block.script);
  const base = { tool_call_id: idOf(number), title, kind: 'execute' } as const;
  const output = createCappedOutput(TOLD_OUTPUT);
  if (state.stopped) return undefined;
  state.tell({ type: 'tool_call', data: { ...base, status: 'in_progress' } });
  const failure = whatFailed(await runScript(state, block, output.add));
  const told = output.read();
  const status = failure === undefined ? 'completed' : 'failed';
  state.tell({ type: 'tool_call', data: { ...base, status, ...told } });
  return failure && `(${title}) ${failure}.${lastWords(told.output)}`;
};

// bash takes our pipe for a remote login and would read its start-up files.
const SHELLS = { sh: ['sh', '-eu', '-c'], bash: ['bash', '--norc', '-eu', '-c'] } as const;

const runScript = async (
  state: Work,
  { shell, script }: ShellBlock,
  add: (text: string) => void,
): Promise<Exit | Error> => {
  const decoder = new StringDecoder('utf8');
  const onBytes = (chunk: Buffer): void => add(decoder.write(chunk));
  try {
    state.program = launch(state.spec, { argv: [...SHELLS[shell], script], onBytes }, state.deps);
    // Nobody types: a command that asks gets the end of its input instead of waiting for ever.
    state.program.stdin.end();
    return await state.program.exited;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
};

const whatFailed = (exit: Exit | Error): string | undefined => {
  if (exit instanceof Error) return `could not be started: ${exit.message}`;
  return exit.code === 0 && exit.ended_by === 'itself' ? undefined : describeExit(exit);
};

const LAST_LINES = 5;
const LAST_CHARACTERS = 1000;

const lastWords = (output: string): string => {
  const lines = output.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
  return lines === ''
    ? ' It wrote nothing.'
    : ` Its last output:\n${lines.slice(-LAST_CHARACTERS)}`;
};
