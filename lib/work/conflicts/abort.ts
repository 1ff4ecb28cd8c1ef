import { counted } from '../../../base/counted.ts';
import { changeConflict } from '../../../store/conflicts.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { Restored } from '../../code/snapshots/restore.ts';
import type { SessionNeeds } from '../sessions/live/needs.ts';
import { ourRebase } from './current.ts';
import { exclusively } from './exclusively.ts';
import { letGo } from './proceed.ts';
import { dropKept, putBack } from './put-back.ts';

interface Aborted {
  status: 'aborted';
  branch: string;
  head: string;
  /** Keeps what was undone: resolutions, files that were added. Null when there was nothing. */
  undone_ref: string | null;
  /** Files that could not be put back, as where a repository stands in their place. */
  left: string[];
}

/** Ends the rebase and gives back the exact state before it. What was made since is kept under a ref. */
export const abortRebase = (service: SessionNeeds, caseId: string): Promise<Aborted> =>
  exclusively(service, caseId, 'abort of a rebase', async (worktree) => {
    const { store } = service;
    const { conflict: found } = await ourRebase(service, worktree);
    await changeConflict(store, found, { step: 'aborting', line: 'abort: putting all back' });
    const restored = await putBack(service, worktree, found);
    const left = whatIsLeft(restored);
    if (left.length === 0) await dropKept(service.git, worktree, found);
    await letGo(service, found);
    await changeConflict(store, found, {
      ...{ outcome: 'aborted', step: null, ended_at: service.store.clock().toISOString() },
      ...(left.length === 0 && { snapshot: null, conflicted: null, set_aside: null }),
      line: left.length === 0 ? 'aborted: all is as it was' : leftLine(left, worktree),
    });
    const { branch, orig_head: head } = found.matter;
    return { status: 'aborted', branch, head, undone_ref: restored?.kept_ref ?? null, left };
  });

const whatIsLeft = (restored: Restored | undefined): string[] => {
  if (restored?.left.changed !== true) return [];
  const files = restored.left.files.map(({ path }) => path);
  return files.length > 0 ? files : ['the state of git'];
};

const leftLine = (left: readonly string[], { path }: WorktreeRecord): string =>
  `aborted, but ${counted(left.length, 'thing')} in ${path} could not be put back: ${left.slice(0, 5).join(', ')}; the snapshot is kept`;
