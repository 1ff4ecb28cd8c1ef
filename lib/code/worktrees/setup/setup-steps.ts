import { readCase } from '../../../../store/cases/cases.ts';
import { runLimits } from '../../../../store/records/applied.ts';
import type { Reached, Setup, WorktreeRecord } from '../../../../store/records/worktree.ts';
import { settingsOf } from '../../../../store/settings/globals.ts';
import { liveOutput } from '../../../agents/coalesce.ts';
import type { Launch } from '../../../agents/launch.ts';
import type { RunEvent } from '../../../agents/provider.ts';
import { lastWords, type Ran, runScript } from '../../../agents/script.ts';
import { invalidState } from '../../../errors.ts';
import { reportOncePerTarget } from '../../../sandbox/egress/doors.ts';
import { type CopiedFiles, copyUntrackedFiles } from '../../../tools/git/write/copy-untracked.ts';
import type { ProjectNeeds } from '../../projects/project.ts';
import { repositoryFor } from '../../projects/project.ts';
import { worktreeConfig, wrongGlob } from '../config.ts';
import type { WorktreeNeeds } from '../needs.ts';
import type { TurnNotice } from '../turn/notices.ts';
import { type OpenTurn, openTurn, viewOf } from '../turn/open.ts';

/** Receives the events of each step: start, output, end and network access, in the format of session events. */
export type TellStep = (event: RunEvent) => void;

interface Run {
  marker: string;
  tell: TellStep;
  signal: AbortSignal;
}

/** Copies the files of `copy_files` from the main checkout of the Work item's project. Throws if that fails. */
export const copyFiles = async (
  service: ProjectNeeds,
  record: WorktreeRecord,
  { tell, signal }: Run,
): Promise<CopiedFiles> => {
  const { copy_files } = worktreeConfig(service.store);
  if (copy_files.length === 0 || signal.aborted) return { copied: [], skipped: [] };
  for (const glob of copy_files) {
    const wrong = wrongGlob(glob);
    if (wrong !== undefined)
      throw invalidState(`${glob}, in copy_files of workspace.md, ${wrong}.`);
  }
  const from = await mainCheckout(service, record);
  const brought = await copyUntrackedFiles(service.git, { from, to: record, globs: copy_files });
  const data = { tool_call_id: 'setup-copy', title: 'copy_files', kind: 'other' };
  tell({ type: 'tool_call', data: { ...data, status: 'completed', output: linesOf(brought) } });
  return brought;
};

const mainCheckout = async (service: ProjectNeeds, { case_id }: WorktreeRecord) => {
  const item = await readCase(service.store, case_id);
  const { root, bare, git_dir, common_dir } = await repositoryFor(
    service,
    item?.project ?? 'default',
  );
  return bare ? { git_dir, common_dir } : { git_dir, common_dir, path: root };
};

const linesOf = ({ copied, skipped }: CopiedFiles): string =>
  [
    ...copied.map((path) => `copied ${path}`),
    ...skipped.map(({ path, reason }) => `left ${path}: ${reason}`),
  ].join('\n');

/** Runs the commands of `setup` in the worktree, with the permissions of Work mode, until one fails. */
export const runCommands = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  run: Run,
): Promise<Pick<Setup, 'commands' | 'network' | 'error'>> => {
  const { setup } = worktreeConfig(service.store);
  if (setup.length === 0) return { commands: [], error: null };
  const turn = await openTurn(service, record, { session_id: null, marker: run.marker });
  const network: Reached = [];
  const onNetwork = reportOncePerTarget((data) => {
    network.push(data);
    run.tell({ type: 'network', data });
  });
  const running = runEach(service, record, { ...run, setup, git: turn.view, onNetwork });
  await running.catch(() => undefined);
  const { blocked = null } = await turn.close((told) => tellRefs(run.tell, told));
  const { commands, error } = await running;
  return { commands, ...(network.length > 0 && { network }), error: error ?? blocked };
};

const tellRefs = (tell: TellStep, told: readonly TurnNotice[]): void => {
  const data = { tool_call_id: 'setup-git', title: 'git', kind: 'other' };
  const output = told.map(({ message }) => message).join('\n');
  if (output !== '') tell({ type: 'tool_call', data: { ...data, status: 'completed', output } });
};

interface Commands extends Run {
  setup: readonly string[];
  git: OpenTurn['view'];
  onNetwork: NonNullable<Launch['onNetwork']>;
}

const runEach = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  { setup, ...run }: Commands,
): Promise<Pick<Setup, 'commands' | 'error'>> => {
  const commands: Setup['commands'] = [];
  for (const [at, command] of setup.entries()) {
    if (run.signal.aborted) break;
    const { failure, ...ran } = await runCommand(service, record, { ...run, command, at });
    const status = failure === undefined ? 'completed' : 'failed';
    commands.push({ command, status, ...ran });
    if (failure === undefined) continue;
    const which = `Setup command ${at + 1} of ${setup.length} (${command.split('\n', 1)[0]})`;
    return { commands, error: `${which} ${failure}.${lastWords(ran.output)}` };
  }
  return { commands, error: null };
};

interface Command extends Omit<Commands, 'setup'> {
  command: string;
  at: number;
}

const runCommand = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  { command, at, marker, tell, signal, git, onNetwork }: Command,
): Promise<Ran> => {
  const id = { tool_call_id: `setup-${at + 1}`, title: command, kind: 'execute' };
  tell({ type: 'tool_call', data: { ...id, status: 'in_progress' } });
  const view = viewOf(service.store, record, { phase: 'work', git });
  const spec = { ...view, run_marker: marker, limits: runLimits(settingsOf(service.store)) };
  const deps = {
    env: service.config.env,
    sandbox: service.sandbox(),
    runs: service.runs,
    network: service.network(),
  };
  const argv = ['sh', '-c', command];
  const live = liveOutput(tell, id.tool_call_id);
  const ran = await runScript(spec, { argv, onNetwork, live }, deps, (program) => {
    const end = (): void => void program.end();
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    program.exited.then(() => signal.removeEventListener('abort', end), end);
  });
  const { output, truncated, failure, exit_code } = ran;
  const ended = signal.aborted ? 'killed' : 'failed';
  const status = failure === undefined ? 'completed' : ended;
  const exit = exit_code === null ? {} : { exit_code };
  tell({ type: 'tool_call', data: { ...id, status, output, truncated, ...exit } });
  return ran;
};
