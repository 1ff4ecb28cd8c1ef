import { messageOf } from '../../../store/base/attempt.ts';
import { fenceOff } from '../../../store/base/text.ts';
import { asSentence } from '../../errors.ts';
import { reportOncePerTarget } from '../../sandbox/egress/doors.ts';
import { type ShellBlock, shellBlocks } from '../../text/markdown/fences.ts';
import type { Program } from '../../tools/process/spawn.ts';
import { liveOutput } from '../coalesce.ts';
import { boundaryOf, type Launch, type ProviderDeps } from '../launch.ts';
import type { PromptParts, Provider, Run, RunEvent, RunResult, RunSpec } from '../provider.ts';
import { endedRun, plainRun } from '../run-end.ts';
import { reportSandboxLimits } from '../sandbox-limits.ts';
import { lastWords, runScript } from '../script.ts';
import { hiddenBlock, titleOf } from './shell-blocks.ts';

type Tell = (event: RunEvent) => void;

/**
 * The embedded provider. In Plan mode it runs nothing and proposes the Work item's shell blocks as the plan. In Work mode it
 * runs the blocks of the approved plan one by one until one fails, each with `sh -eu -c` (a `bash` block with
 * `bash --norc -eu -c`): `-e` ends it at the first failing command, `-u` at the first unset variable. Background processes of a
 * block end with it.
 */
export const createRunbookProvider = (deps: ProviderDeps): Provider => ({
  isolation: 'enforced',
  plans_itself: true,
  own_network: deps.network.kind === 'own',
  boundary: () => boundaryOf('runbook', deps),
  missing: () => undefined,
  probe: async () => ({ id: 'runbook', kind: 'runbook', available: true, isolation: 'enforced' }),
  start: (spec, tell) => (spec.phase === 'plan' ? endedRun(propose(spec)) : work(spec, tell, deps)),
});

const propose = (spec: RunSpec): RunResult => {
  const plan = proposePlan(spec.prompt);
  const hidden = hiddenBlock(plan);
  return hidden === undefined ? { outcome: 'completed', plan } : refused(hidden);
};

const refused = (hidden: string): RunResult => ({
  outcome: 'failed',
  error: `${hidden} Nothing was run, because the plan must show exactly what runs. Remove it from its source (tasks.md or the description), then start another session.`,
});

interface Work {
  spec: RunSpec;
  tell: Tell;
  deps: ProviderDeps;
  onNetwork: NonNullable<Launch['onNetwork']>;
  stopped: boolean;
  program: Program | undefined;
}

const work = (spec: RunSpec, told: Tell, deps: ProviderDeps): Run => {
  const tell = reportSandboxLimits(spec, told, deps);
  const onNetwork = reportOncePerTarget((data) => tell({ type: 'network', data }));
  const state: Work = { spec, tell, deps, onNetwork, stopped: false, program: undefined };
  // An exception here is a bug, and must still end the run.
  const done = runBlocks(state).catch(
    (error: unknown): RunResult => ({ outcome: 'failed', error: messageOf(error) }),
  );
  const stop = async (): Promise<void> => {
    state.stopped = true;
    await state.program?.end();
    await done;
  };
  return plainRun(done, stop);
};

// Runs only the approved text; tasks.md and the description are not read again.
const runBlocks = async (state: Work): Promise<RunResult> => {
  const { plan = '' } = state.spec.prompt;
  const hidden = hiddenBlock(plan);
  if (hidden !== undefined) return refused(hidden);
  const blocks = shellBlocks(plan);
  if (blocks.length === 0) {
    const text = 'The approved plan contains no shell block, so nothing was run.';
    state.tell({ type: 'message', data: { text } });
  }
  const done = new Set(state.spec.prompt.partial?.done);
  const result = await runEach(state, blocks, done);
  // Otherwise the operator is asked about the last block that began.
  await state.spec.saveBlocks?.([...done]).catch(() => undefined);
  return result;
};

const runEach = async (
  state: Work,
  blocks: readonly ShellBlock[],
  done: Set<string>,
): Promise<RunResult> => {
  for (const [at, block] of blocks.entries()) {
    const id = idOf(at + 1);
    if (done.has(id)) continue;
    const failure = (await unsaved(state, done, at)) ?? (await runBlock(state, block, at + 1));
    // Also where a stop came when it had ended.
    if (failure === undefined) done.add(id);
    if (state.stopped) return { outcome: 'cancelled' };
    if (failure === undefined) continue;
    const { why, not_begun } = failure;
    return { outcome: 'failed', error: `Block ${at + 1} of ${blocks.length} ${why}`, not_begun };
  }
  return { outcome: 'completed' };
};

// A block whose begin cannot be noted, as on a full disk, does not run: after a kill the operator would not be asked about it.
const unsaved = async ({ spec }: Work, done: ReadonlySet<string>, at: number) => {
  try {
    await spec.saveBlocks?.([...done], idOf(at + 1));
    return undefined;
  } catch (error) {
    // Nor could the end of the one before, about which `resume` may ask.
    const before = done.has(idOf(at))
      ? ` Block ${at} ran to its end: resume with the next one.`
      : '';
    return { why: `was not run: ${asSentence(messageOf(error))}${before}`, not_begun: true };
  }
};

// The ids of finished blocks, which a resumed run skips.
const idOf = (number: number): string => `block-${number}`;

// Resolves with the error, if any, and whether the block never ran.
const runBlock = async (
  state: Work,
  { shell, script }: ShellBlock,
  number: number,
): Promise<{ why: string; not_begun: boolean } | undefined> => {
  const title = titleOf(script);
  const base = { tool_call_id: idOf(number), title, kind: 'execute' } as const;
  if (state.stopped) return { why: 'was stopped.', not_begun: true };
  state.tell({ type: 'tool_call', data: { ...base, status: 'in_progress' } });
  const argv = [...SHELLS[shell], script];
  const { spec, deps, onNetwork } = state;
  const live = liveOutput(state.tell, base.tool_call_id);
  const ran = await runScript(spec, { argv, onNetwork, live }, deps, (started) => {
    state.program = started;
    // The stop came while it was prepared.
    if (state.stopped) void started.end();
  });
  const { failure, output, truncated, exit_code, not_begun } = ran;
  const status = failure === undefined ? 'completed' : howItEnded(state);
  const exit = exit_code === null ? {} : { exit_code };
  state.tell({ type: 'tool_call', data: { ...base, status, output, truncated, ...exit } });
  return failure === undefined
    ? undefined
    : { why: `(${title}) ${failure}.${lastWords(output)}`, not_begun };
};

const howItEnded = ({ stopped }: Work) => (stopped ? 'killed' : 'failed');

// --norc, because bash takes a pipe on stdin for a remote login and would read its start-up files.
const SHELLS = { sh: ['sh', '-eu', '-c'], bash: ['bash', '--norc', '-eu', '-c'] } as const;

/** The plan that the runbook proposes: the shell blocks of tasks.md, else of the description, as numbered steps. */
export const proposePlan = (parts: PromptParts): string =>
  parts.reviews === undefined ? ofTasks(parts) : ofReviews(parts, parts.reviews);

const ofTasks = (parts: PromptParts): string => {
  const tasks = parts.memory.find(({ filename }) => filename === 'tasks.md');
  const [source, text] = tasks
    ? ['tasks.md', tasks.content]
    : ['the description', parts.description];
  const blocks = shellBlocks(text);
  const warning = tasks === undefined && blocks.length > 0 ? strangers(parts.issue) : [];
  const body = blocks.length === 0 ? nothingToRun(source) : [...warning, ...steps(source, blocks)];
  return `${[`# Plan: ${parts.title}`, ...asked(parts.feedback), ...body].join('\n\n')}\n`;
};

const strangers = (issue: string | undefined): string[] =>
  issue === undefined
    ? []
    : [
        `**Others wrote these commands:** the description came with the issue ${issue}. Read each before you approve.`,
      ];

// Text of reviewers is shown, but never becomes a step.
const ofReviews = ({ title, feedback }: PromptParts, reviews: string): string =>
  `${[`# Plan: ${title}`, ...asked(feedback), ...REVIEWED, reviews].join('\n\n')}\n`;

const REVIEWED = [
  'Nothing would be run: the runbook cannot act on reviews. They are quoted below for you.',
  'To run something for them, add fenced `sh` blocks to this plan before you approve it. They run one by one, in order, in ' +
    'the worktree of this Work item. Approved unchanged, this plan does nothing.',
];

const nothingToRun = (source: string): string[] => [
  `Nothing would be run: there is no fenced \`sh\` block in ${source}.`,
  'To run something, add fenced `sh` blocks to this plan before you approve it. They run one by one, in order, in the ' +
    'worktree of this Work item. Approved unchanged, this plan does nothing.',
];

const steps = (source: string, blocks: ShellBlock[]): string[] => [
  `${count(blocks.length)} from ${source}.`,
  ...blocks.flatMap((block, at) => [heading(block, at + 1), fenceOff(block.script, block.shell)]),
  `Approving this plan runs the shell blocks that it then contains, ${count(blocks.length)} as proposed here, one by one in ` +
    'the worktree of this Work item, each with `sh -eu` (blocks marked `bash` with `bash -eu`). The first that fails ends ' +
    'the session. Nothing else is run. If a kill interrupts a step, you decide when you resume whether it runs again; a step ' +
    'interrupted by your pause runs again from its start unless you skip it.',
];

const heading = ({ lead }: ShellBlock, number: number): string => {
  const text = lead.replace(/:$/, '');
  return text === '' ? `## Step ${number}` : `## Step ${number}: ${text}`;
};

const count = (blocks: number): string => (blocks === 1 ? '1 step' : `${blocks} steps`);

// The runbook cannot act on feedback: it shows it to the operator, who edits the plan.
const asked = (feedback: string | undefined): string[] =>
  feedback === undefined || feedback.trim() === ''
    ? []
    : [
        'This plan was sent back with the following comment. The runbook cannot act on it: edit the plan, or its source.',
        fenceOff(feedback, 'text'),
      ];
