import { randomUUID } from 'node:crypto';
import { newId } from '../../../store/base/new-id.ts';
import type { ConflictMatter, RebaseStep, RebaseWish } from '../../../store/records/conflict.ts';
import type { Session } from '../../../store/records/session.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import {
  changeConflict,
  createConflict,
  type StoredConflict,
} from '../../../store/sessions/conflicts.ts';
import { readSession } from '../../../store/sessions/sessions.ts';
import type { Store } from '../../../store/store.ts';
import { withWorktreeLock } from '../../../store/worktrees/worktrees.ts';
import type { ModelChoice } from '../../agents/model-choice.ts';
import { getItem } from '../../code/projects/project.ts';
import { setAside } from '../../code/snapshots/set-aside.ts';
import { snapshot } from '../../code/snapshots/snapshot.ts';
import { checkState } from '../../code/worktrees/inspect/status.ts';
import { getWorktree, requireUnlocked } from '../../code/worktrees/read.ts';
import { CONFLICT, noRebase, rebaseUnderWay } from '../../code/worktrees/rebase/rebase-state.ts';
import { unmergedFiles } from '../../code/worktrees/rebase/unmerged.ts';
import { invalidState, orNotFound, ServiceError } from '../../errors.ts';
import { rebase } from '../../tools/git/write/rebase.ts';
import { queuedOf } from '../sessions/lifecycle/control.ts';
import { createSession, type NewSession } from '../sessions/lifecycle/create.ts';
import { exclusively } from '../sessions/lifecycle/operation.ts';
import type { SessionNeeds, TurnNeeds } from '../sessions/live/needs.ts';
import { undoFailedStart } from './abort.ts';
import { proceed } from './finish.ts';
import { type Preflight, preflight } from './preflight.ts';

/**
 * Rebases the Work item's branch in its worktree. The exact state before is kept under a ref; when git fails it is
 * restored, and the record has the reason. At a conflict the Work item is BLOCKED until …/apply or …/abort.
 */
export const startRebase = (
  service: SessionNeeds,
  caseId: string,
  wanted: RebaseWish,
): Promise<RebaseStep> =>
  exclusively(service, caseId, 'rebase', async (worktree) => {
    const known = await preflight(service, worktree, wanted);
    const conflict = await begin(service.store, worktree, known);
    const answer = await attempt(service, worktree, { conflict, known }).catch((error: unknown) =>
      undoFailedStart(service, worktree, error),
    );
    return known.notes.length === 0 ? answer : { ...answer, notes: known.notes };
  });

const begin = async (
  store: Store,
  worktree: WorktreeRecord,
  { onto, onto_commit, orig_head, remote, notes }: Preflight,
): Promise<StoredConflict> => {
  const item = await getItem(store, worktree.case_id);
  const matter: ConflictMatter = {
    id: randomUUID(),
    machine: store.machine,
    outcome: null,
    step: 'starting',
    worktree_created_at: worktree.created_at,
    branch: worktree.branch,
    onto,
    onto_commit,
    orig_head,
    head: null,
    snapshot: null,
    conflicted: null,
    stopped: null,
    set_aside: null,
    remote,
    case_state_before: item.state,
    file_count: 0,
    files: [],
    began_at: store.clock().toISOString(),
    conflicted_at: null,
    ended_at: null,
    pushed_at: null,
    pushed_commit: null,
  };
  const words = [
    `began: ${worktree.branch} at ${orig_head} onto ${onto} (${onto_commit})`,
    ...notes,
  ];
  const made = await createConflict(store, item.id, { matter, line: words.join('; ') });
  return orNotFound(made, 'Work item', item.id);
};

const attempt = async (
  service: TurnNeeds,
  worktree: WorktreeRecord,
  { conflict, known }: { conflict: StoredConflict; known: Preflight },
): Promise<RebaseStep> => {
  const { git } = service;
  const { id } = conflict.matter;
  const { ref, commit } = await snapshot(git, worktree);
  const step = { step: 'rebasing' as const, snapshot: { ref, commit } };
  let kept = await changed(service.store, conflict, {
    ...step,
    line: `the state before is kept under ${ref}`,
  });
  if (known.hasChanges) {
    const set_aside = await setAside(git, worktree, id);
    const line = `uncommitted changes are set aside under ${set_aside.ref}`;
    kept = await changed(service.store, kept, { set_aside, line });
  }
  const { onto_commit: onto, upstream } = known;
  const answer = await rebase(git.at(worktree), { onto, upstream, marker: id });
  return proceed(service, worktree, kept, answer);
};

const changed = async (
  store: Store,
  conflict: StoredConflict,
  change: Parameters<typeof changeConflict>[2],
): Promise<StoredConflict> =>
  orNotFound(await changeConflict(store, conflict, change), 'rebase', conflict.matter.id);

/**
 * Creates a session that proposes a resolution, in Plan mode like any other: nothing changes before the operator
 * approves, and nothing is staged. Throws 409 `session_active` while another one is queued.
 */
export const resolveWithAgent = (
  service: SessionNeeds,
  caseId: string,
  wanted: Pick<NewSession, 'provider' | keyof ModelChoice>,
): Promise<Session> =>
  withWorktreeLock(service.store, caseId, async () => {
    const id = newId();
    const known = readSession(service.store, caseId, id);
    if (known !== undefined) return known.session;
    const worktree = getWorktree(service.store, caseId);
    await checkState(worktree);
    if (rebaseUnderWay(service.store, caseId) === undefined) throw noRebase();
    requireUnlocked(service, caseId);
    refuseSecond(service.store, caseId);
    if ((await unmergedFiles(service.git.at(worktree))).length === 0) {
      throw invalidState(
        'No file is in conflict. Send …/conflicts/apply to continue, or …/conflicts/abort.',
      );
    }
    return createSession(service, caseId, { ...wanted, id, type: CONFLICT });
  });

const refuseSecond = (store: Store, caseId: string): void => {
  if (queuedOf(store, caseId, CONFLICT).length === 0) return;
  throw new ServiceError(
    'session_active',
    'A session for these conflicts is already queued. Abort it, or wait for it to start.',
  );
};
