import { readCase } from '../../../../store/cases/cases.ts';
import type { Reached, Setup, WorktreeRecord } from '../../../../store/records/worktree.ts';
import { lastWords } from '../../../agents/script.ts';
import { invalidState } from '../../../errors.ts';
import { reportOncePerTarget } from '../../../sandbox/egress/doors.ts';
import { type CopiedFiles, copyUntrackedFiles } from '../../../tools/git/write/copy-untracked.ts';
import type { ProjectNeeds } from '../../projects/project.ts';
import { repositoryFor } from '../../projects/project.ts';
import { worktreeConfig, wrongGlob } from '../config.ts';
import type { WorktreeNeeds } from '../needs.ts';
import type { TurnNotice } from '../turn/notices.ts';
import { openTurn } from '../turn/open.ts';
import { type CommandRun, runOrCopy, type SetupRun, type TellStep } from './setup-command.ts';
import { requireShareable } from './share.ts';

/** Copies the files of `copy_files` from the main checkout of the Work item's project. Throws if that fails. */
export const copyFiles = async (
  service: ProjectNeeds,
  record: WorktreeRecord,
  { tell, signal }: SetupRun,
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
  run: SetupRun,
): Promise<Pick<Setup, 'commands' | 'network' | 'share' | 'error'>> => {
  const { setup, share } = worktreeConfig(service.store);
  requireShareable(share);
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
  const { error, ...ran } = await running;
  return { ...ran, ...(network.length > 0 && { network }), error: error ?? blocked };
};

const tellRefs = (tell: TellStep, told: readonly TurnNotice[]): void => {
  const data = { tool_call_id: 'setup-git', title: 'git', kind: 'other' };
  const output = told.map(({ message }) => message).join('\n');
  if (output !== '') tell({ type: 'tool_call', data: { ...data, status: 'completed', output } });
};

interface Commands extends CommandRun {
  setup: readonly string[];
}

const runEach = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  { setup, ...run }: Commands,
): Promise<Pick<Setup, 'commands' | 'share' | 'error'>> => {
  const commands: Setup['commands'] = [];
  const share: string[] = [];
  const ended = (error: string | null) => ({
    ...{ commands, error },
    ...(share.length > 0 && { share }),
  });
  for (const [at, command] of setup.entries()) {
    if (run.signal.aborted) break;
    const step = { ...run, command, at, note: (told: string) => void share.push(told) };
    const { failure, ...ran } = await runOrCopy(service, record, step);
    commands.push({ command, ...ran });
    if (failure === undefined) continue;
    const which = `Setup command ${at + 1} of ${setup.length} (${command.split('\n', 1)[0]})`;
    return ended(`${which} ${failure}.${lastWords(ran.output)}`);
  }
  return ended(null);
};
