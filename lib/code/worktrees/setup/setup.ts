import { randomUUID } from 'node:crypto';
import { messageOf } from '../../../../store/base/message-of.ts';
import type { Setup, WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import {
  inWorktreeTurn,
  replaceWorktree,
  worktreeRecords,
} from '../../../../store/worktrees/worktrees.ts';
import { needWorktree } from '../../../guard/trust/require.ts';
import type { WithLog } from '../../../log.ts';
import { killRun } from '../../../tools/process/process-tree.ts';
import { worktreeConfig } from '../config.ts';
import { checkState } from '../inspect/status.ts';
import type { RunningSetup, WorktreeNeeds } from '../needs.ts';
import { findWorktree, getWorktree, refuseHeld } from '../read.ts';
import { copyFiles, runCommands, type TellStep } from './setup-steps.ts';

/** What a new worktree's record says before anything is done; undefined where the settings want nothing done. */
export const newSetup = (store: Store): Setup | undefined => {
  const { setup, copy_files } = worktreeConfig(store);
  return setup.length + copy_files.length === 0 ? undefined : { ...NOTHING, status: 'pending' };
};

const NOTHING: Omit<Setup, 'status'> = {
  started_at: null,
  ended_at: null,
  copied: [],
  skipped: [],
  commands: [],
  error: null,
};

interface SetupOptions {
  /** In the environment of its processes; one of its own unless it belongs to a session. */
  marker?: string;
  tell?: TellStep;
}

/**
 * Sets a worktree up: copies files, then runs the commands, as the settings want them now. What fails is told in the
 * record that this answers; it never rejects for that. Whoever asks while it goes on is answered when it has ended.
 */
export const setUp = async (
  service: WorktreeNeeds,
  caseId: string,
  { marker = randomUUID(), tell = () => undefined }: SetupOptions = {},
): Promise<WorktreeRecord> => {
  const { running } = service.setups;
  const known = running.get(caseId) ?? begin(service, caseId, { marker, tell });
  return known.done;
};

/** The same again for a worktree that is there, by the operator: 409 while somebody is at work in it. */
export const setUpAgain = async (
  service: WorktreeNeeds,
  caseId: string,
): Promise<WorktreeRecord> => {
  getWorktree(service.store, caseId);
  refuseHeld(service, caseId);
  needWorktree(service.store);
  return setUp(service, caseId);
};

const begin = (
  service: WorktreeNeeds,
  caseId: string,
  { marker, tell }: Required<SetupOptions>,
): RunningSetup => {
  const { running } = service.setups;
  const stopper = new AbortController();
  const done = run(service, caseId, { marker, tell, signal: stopper.signal }).finally(() =>
    running.delete(caseId),
  );
  const settled = done.then(ignore, ignore);
  const stop = (): Promise<void> => {
    stopper.abort();
    return settled;
  };
  const setup = { marker, done, stop };
  running.set(caseId, setup);
  return setup;
};

const ignore = (): void => undefined;

interface Run extends Required<SetupOptions> {
  signal: AbortSignal;
}

const run = async (service: WorktreeNeeds, caseId: string, run: Run): Promise<WorktreeRecord> => {
  const { store } = service;
  const record = await inWorktreeTurn(service.store, caseId, async () => {
    const current = getWorktree(store, caseId);
    await checkState(current);
    const started_at = store.clock().toISOString();
    const setup = { ...NOTHING, status: 'running' as const, started_at };
    return replaceWorktree(service.store, { ...current, setup, setup_marker: run.marker });
  });
  const came = await perform(service, record, run);
  const ended_at = store.clock().toISOString();
  const { started_at = null } = record.setup ?? {};
  return keepEnd(store, record, { ...NOTHING, started_at, ended_at, ...came });
};

const perform = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  run: Run,
): Promise<Partial<Setup> & Pick<Setup, 'status'>> => {
  const done: Partial<Setup> = {};
  try {
    Object.assign(done, await copyFiles(service, record, run));
    Object.assign(done, await runCommands(service, record, run));
    if (run.signal.aborted) return { ...done, status: 'interrupted', error: INTERRUPTED };
    return { ...done, status: done.error == null ? 'completed' : 'failed' };
  } catch (error) {
    service.log.error({ err: error, case_id: record.case_id }, 'A worktree was not set up');
    return { ...done, status: 'failed', error: messageOf(error) };
  }
};

const INTERRUPTED =
  'The set-up was stopped before its end. The next session begins it anew, and so does POST /api/worktrees/…/setup.';

const keepEnd = (store: Store, record: WorktreeRecord, setup: Setup): Promise<WorktreeRecord> =>
  inWorktreeTurn(store, record.case_id, () => {
    const current = findWorktree(store, record.case_id) ?? record;
    const { setup_marker: _ended, ...kept } = current;
    return replaceWorktree(store, { ...kept, setup });
  });

/** Ends what set-ups of a former life of the daemon left running, and says in the record that they were interrupted. */
export const endInterruptedSetups = async ({ store, log }: WithLog & WithStore): Promise<void> => {
  for (const { case_id, record } of worktreeRecords(store)) {
    if (record?.setup?.status !== 'running') continue;
    try {
      const { setup_marker, path: dir } = record;
      if (setup_marker !== undefined) await killRun(setup_marker, { dir });
      const ended_at = store.clock().toISOString();
      const setup = { ...record.setup, status: 'interrupted' as const, ended_at };
      await keepEnd(store, record, { ...setup, error: INTERRUPTED });
    } catch (error) {
      log.error({ err: error, case_id }, 'An interrupted set-up could not be ended');
    }
  }
};

/** Whether a session has to set its worktree up before it begins: it was to be, and that did not come to its end. */
export const wantsSetup = ({ setup }: WorktreeRecord): boolean =>
  setup !== undefined && setup.status !== 'completed';
