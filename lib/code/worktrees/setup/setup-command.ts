import { runLimits } from '../../../../store/records/applied.ts';
import type { Setup, WorktreeRecord } from '../../../../store/records/worktree.ts';
import { settingsOf } from '../../../../store/settings/globals.ts';
import { liveOutput } from '../../../agents/coalesce.ts';
import { type Launch, launchDeps } from '../../../agents/launch.ts';
import type { RunEvent } from '../../../agents/provider.ts';
import { type Ran, runScript } from '../../../agents/script.ts';
import type { WorktreeNeeds } from '../needs.ts';
import { type OpenTurn, viewOf } from '../turn/open.ts';
import { shareInstead } from './share.ts';
import type { ShareRun } from './share-key.ts';

/** Receives the events of each step: start, output, end and network access, in the format of session events. */
export type TellStep = (event: RunEvent) => void;

export interface SetupRun extends Omit<ShareRun, 'ask'> {
  tell: TellStep;
}

export interface CommandRun extends SetupRun {
  git: OpenTurn['view'];
  onNetwork: NonNullable<Launch['onNetwork']>;
}

interface Command extends CommandRun {
  command: string;
  /** Its place among the commands. */
  at: number;
}

interface Step extends Command {
  /** Receives sentences about what was kept for later worktrees. */
  note: (told: string) => void;
}

type Stepped = Omit<Setup['commands'][number], 'command'> & Pick<Ran, 'failure'>;

/** Runs a command, unless what it installs can be copied from a snapshot. */
export const runOrCopy = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  { note, ...step }: Step,
): Promise<Stepped> => {
  const { command, at, tell } = step;
  const ask = (asked: string) => askCommand(service, record, { ...step, command: asked });
  const shared = await shareInstead(service, record, command, { ...step, ask });
  const say = (told: string): void => {
    note(told);
    const data = { tool_call_id: 'setup-share', title: 'share', kind: 'other' };
    tell({ type: 'tool_call', data: { ...data, status: 'completed', output: told } });
  };
  if (shared.does === 'skip') return skipCommand(service, record, { ...step, ...shared });
  if (shared.told !== undefined) say(shared.told);
  const ran = await runCommand(service, record, { ...step, id: `setup-${at + 1}` });
  if (ran.failure !== undefined) return { ...ran, status: 'failed' };
  if (shared.keep !== undefined && !step.signal.aborted) say(await shared.keep());
  return { ...ran, status: 'completed' };
};

/** Reports a command as skipped, and runs what else it would have run. */
const skipCommand = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  { told, scripts, ...step }: Command & { told: string; scripts: string | undefined },
): Promise<Stepped> => {
  const { command, at, tell } = step;
  const skipped = { output: `${told}\n`, truncated: false };
  const id = { tool_call_id: `setup-${at + 1}`, title: command, kind: 'execute' };
  tell({ type: 'tool_call', data: { ...id, status: 'completed', ...skipped } });
  if (scripts === undefined)
    return { ...skipped, status: 'skipped', exit_code: null, failure: undefined };
  const own = { ...step, command: scripts, id: `setup-${at + 1}-scripts` };
  const { output, ...ran } = await runCommand(service, record, own);
  const status = ran.failure === undefined ? 'skipped' : 'failed';
  return { ...ran, status, output: `${told}, then ${scripts}:\n${output}` };
};

const runCommand = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  { id: tool_call_id, ...step }: Command & { id: string },
): Promise<Ran> => {
  const { command, tell, signal } = step;
  const id = { tool_call_id, title: command, kind: 'execute' };
  tell({ type: 'tool_call', data: { ...id, status: 'in_progress' } });
  const live = liveOutput(tell, id.tool_call_id);
  const ran = await runInSandbox(service, record, { ...step, phase: 'work', live });
  const { output, truncated, failure, exit_code } = ran;
  const ended = signal.aborted ? 'killed' : 'failed';
  const status = failure === undefined ? 'completed' : ended;
  const exit = exit_code === null ? {} : { exit_code };
  tell({ type: 'tool_call', data: { ...id, status, output, truncated, ...exit } });
  return ran;
};

// Asks a program for its version, where it cannot write.
const askCommand = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  step: Command,
): Promise<string | undefined> => {
  const quiet = { ...step, phase: 'plan' as const, live: liveOutput(() => undefined, 'setup-ask') };
  const { failure, output } = await runInSandbox(service, record, quiet);
  return failure === undefined ? output : undefined;
};

interface Sandboxed extends Command {
  phase: 'plan' | 'work';
  live: ReturnType<typeof liveOutput>;
}

const runInSandbox = (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  { command, marker, signal, git, onNetwork, phase, live }: Sandboxed,
): Promise<Ran> => {
  const view = viewOf(service.store, record, { phase, git });
  const spec = { ...view, run_marker: marker, limits: runLimits(settingsOf(service.store)) };
  const out = { argv: ['sh', '-c', command], onNetwork, live };
  return runScript(spec, out, launchDeps(service), (program) => {
    const end = (): void => void program.end();
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    program.exited.then(() => signal.removeEventListener('abort', end), end);
  });
};
