import { signal } from '../../../../store/base/async.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import { plainRun } from '../../../agents/run-end.ts';
import { ensureWorktree } from '../../../code/worktrees/create/create.ts';
import { setUp, wantsSetup } from '../../../code/worktrees/setup/setup.ts';
import { type LiveRun, mustStop } from '../live/engine.ts';
import type { SessionNeeds } from '../live/needs.ts';
import { failSession } from './end.ts';

/**
 * The session's worktree, created and set up if needed, with the output of the setup in the session's stream. Undefined
 * where the setup failed, which fails the session, or the session is being ended.
 */
export const prepareWorktree = async (
  service: SessionNeeds,
  kept: StoredSession,
): Promise<WorktreeRecord | undefined> => {
  const { case_id, id } = kept.session;
  const { base } = kept.matter;
  const worktree = await ensureWorktree(service, case_id, typeof base === 'string' ? { base } : {});
  const live = service.engine.live.get(id);
  if (live === undefined || live.stopping || !wantsSetup(worktree)) return worktree;
  const ready = await setUpFor(service, kept, live);
  if (ready === undefined || mustStop(service.engine, live)) return undefined;
  const { status, error } = ready.setup ?? {};
  if (status === 'completed') return ready;
  await failSession(service, kept, `Setting up the worktree failed. ${error ?? ''}`);
  return undefined;
};

// Ending the session ends its setup; a setup that the operator started continues and is no longer awaited.
const setUpFor = async (
  service: SessionNeeds,
  kept: StoredSession,
  live: LiveRun,
): Promise<WorktreeRecord | undefined> => {
  const { case_id, run_marker: marker } = live;
  const { running } = service.setups;
  const transcript = service.engine.transcript(kept);
  const setting = setUp(service, case_id, {
    marker,
    tell: ({ type, data }) => transcript.append(type, { ...data }),
  });
  const left = signal();
  const stop = async (): Promise<void> => {
    left.raise();
    const current = running.get(case_id);
    if (current?.marker === marker) await current.stop();
  };
  // The engine can only end runs, so the setup is presented as one.
  live.run = plainRun(Promise.resolve({ outcome: 'cancelled' }), stop);
  try {
    await Promise.race([setting, left.raised]);
    return left.isRaised ? undefined : await setting;
  } finally {
    live.run = undefined;
  }
};
