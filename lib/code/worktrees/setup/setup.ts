import { randomUUID } from 'node:crypto';
import { messageOf } from '../../../../store/base/attempt.ts';
import type { Setup, WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import {
  readWorktree,
  replaceWorktree,
  withWorktreeLock,
  worktreeRecords,
} from '../../../../store/worktrees/worktrees.ts';
import type { WithConfig } from '../../../config.ts';
import { requireTrustedWorktreeSettings } from '../../../guard/trust/require.ts';
import type { WithLog } from '../../../log.ts';
import { cleanEnvironment } from '../../../tools/process/environment.ts';
import { killRun } from '../../../tools/process/process-tree.ts';
import { worktreeConfig } from '../config.ts';
import { checkState } from '../inspect/status.ts';
import type { RunningSetup, WorktreeNeeds } from '../needs.ts';
import { getWorktree, requireUnlocked } from '../read.ts';
import type { SetupRun, TellStep } from './setup-command.ts';
import { copyFiles, runCommands } from './setup-steps.ts';
import { removePartialCopies } from './share.ts';

/** The setup field of a new worktree's record; undefined if the settings define no setup. */
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
  /** Set in the environment of its processes. Default: a new one; a session passes its own. */
  marker?: string;
  tell?: TellStep;
}

/**
 * Sets a worktree up by the current settings: copies files, then runs the commands. A failed step is noted in the
 * returned record and does not reject. Concurrent calls share one setup.
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

/** Runs the setup again for an existing worktree, on request of the operator. 409 while the worktree is in use. */
export const setUpAgain = async (
  service: WorktreeNeeds,
  caseId: string,
): Promise<WorktreeRecord> => {
  getWorktree(service.store, caseId);
  requireUnlocked(service, caseId);
  requireTrustedWorktreeSettings(service.store);
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

const run = async (
  service: WorktreeNeeds,
  caseId: string,
  run: Omit<SetupRun, 'isFirst'>,
): Promise<WorktreeRecord> => {
  const { store } = service;
  let isFirst = false;
  const record = await withWorktreeLock(service.store, caseId, async () => {
    const current = getWorktree(store, caseId);
    await checkState(current);
    isFirst = current.setup?.status === 'pending';
    const started_at = store.clock().toISOString();
    const { copied = [] } = current.setup ?? {};
    const setup = { ...NOTHING, copied, status: 'running' as const, started_at };
    return replaceWorktree(service.store, { ...current, setup, setup_marker: run.marker });
  });
  const came = await perform(service, record, { ...run, isFirst });
  const ended_at = store.clock().toISOString();
  const { started_at = null, copied = [] } = record.setup ?? {};
  return keepEnd(store, record, { ...NOTHING, copied, started_at, ended_at, ...came });
};

const perform = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  run: SetupRun,
): Promise<Partial<Setup> & Pick<Setup, 'status'>> => {
  const done: Partial<Setup> = {};
  try {
    Object.assign(done, await copyAndNote(service, record, run));
    Object.assign(done, await runCommands(service, record, run));
    if (run.signal.aborted) return { ...done, status: 'interrupted', error: INTERRUPTED };
    return { ...done, status: done.error == null ? 'completed' : 'failed' };
  } catch (error) {
    service.log.error({ err: error, case_id: record.case_id }, 'worktree setup failed');
    return { ...done, status: 'failed', error: messageOf(error) };
  }
};

// Noted before the commands run, which a restart may interrupt: what was copied is not committed (`whyLeftOut`), and a later
// run finds it there and does not copy it.
const copyAndNote = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  run: SetupRun,
): Promise<Pick<Setup, 'copied' | 'skipped'>> => {
  const { store } = service;
  const brought = await copyFiles(service, record, run);
  const copied = [...new Set([...(record.setup?.copied ?? []), ...brought.copied])];
  if (brought.copied.length > 0)
    await withWorktreeLock(store, record.case_id, () => {
      const current = readWorktree(store, record.case_id) ?? record;
      const { setup = { ...NOTHING, status: 'running' } } = current;
      return replaceWorktree(store, { ...current, setup: { ...setup, copied } });
    });
  return { ...brought, copied };
};

const INTERRUPTED =
  'The setup was interrupted. The next session runs it again, and so does POST /api/worktrees/…/setup.';

const keepEnd = (store: Store, record: WorktreeRecord, setup: Setup): Promise<WorktreeRecord> =>
  withWorktreeLock(store, record.case_id, () => {
    const current = readWorktree(store, record.case_id) ?? record;
    const { setup_marker: _ended, ...kept } = current;
    return replaceWorktree(store, { ...kept, setup });
  });

/** Kills processes of setups of a former daemon process, and marks those setups as interrupted. */
export const endInterruptedSetups = async ({
  store,
  log,
  config,
}: WithConfig & WithLog & WithStore): Promise<void> => {
  for (const { case_id, record } of worktreeRecords(store)) {
    if (record?.setup?.status !== 'running') continue;
    try {
      const { setup_marker, path: dir } = record;
      if (setup_marker !== undefined) await killRun(setup_marker, { dir });
      await removePartialCopies(dir, { env: cleanEnvironment(config.env) });
      const ended_at = store.clock().toISOString();
      const setup = { ...record.setup, status: 'interrupted' as const, ended_at };
      await keepEnd(store, record, { ...setup, error: INTERRUPTED });
    } catch (error) {
      log.error({ err: error, case_id }, 'ending an interrupted setup failed');
    }
  }
};

/** Whether a session must run the setup before it begins, because it has not completed. */
export const wantsSetup = ({ setup }: WorktreeRecord): boolean =>
  setup !== undefined && setup.status !== 'completed';
