import { readPull, type StoredPull } from '../../../store/codehost/pulls.ts';
import type { PushedRebase } from '../../../store/records/conflict.ts';
import type { PushedPull, WantedPull } from '../../../store/records/pull-call.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import {
  changeConflict,
  isOpenHere,
  isOurs,
  listConflicts,
  type StoredConflict,
} from '../../../store/sessions/conflicts.ts';
import type { Store } from '../../../store/store.ts';
import { withWorktreeLogin } from '../../code/projects/git-login.ts';
import type { HostedNeeds } from '../../code/projects/hosted-repository.ts';
import type { Pull } from '../../codehost/code-host.ts';
import { afterDone, invalidState, ServiceError } from '../../errors.ts';
import { commitOf, isAncestor } from '../../tools/git/read/repository.ts';
import { pushWithLease } from '../../tools/git/remote/push.ts';
import { pushRemote } from '../../tools/git/remote/remote.ts';
import type { Git } from '../../tools/git/run/git.ts';
import { headOnBranch } from '../../work/conflicts/preflight.ts';
import { exclusively } from '../../work/sessions/lifecycle/operation.ts';
import type { SessionNeeds } from '../../work/sessions/live/needs.ts';
import { commitChanges, committedText } from './commit-changes.ts';
import { hostedToWrite } from './own-pull.ts';
import { pushBranch, pushedText, recordPush, refuseBaseBranch, refuseGone } from './push-branch.ts';
import { getOpenPull, getPull, isOpen, recordPull, underPullLock } from './record.ts';
import { baseBranches, pullTarget } from './target.ts';

/** Commits what the newest session left and pushes the branch of the pull request. */
export const pushPull = (
  service: SessionNeeds,
  caseId: string,
  { changes }: Pick<WantedPull, 'changes'>,
): Promise<PushedPull> =>
  underPullLock(service.store, caseId, async () => {
    const kept = getOpenPull(service.store, caseId);
    const { matter } = kept;
    return exclusively(service, caseId, 'push of a pull request', async (worktree) => {
      const { now } = await headOnBranch(service, worktree);
      if (matter.head_ref !== worktree.branch) throw otherBranch(matter.head_ref, worktree.branch);
      const { base_ref: base } = await refuseEnded(service, kept);
      // It may have another name since: `refuseEnded` follows a rename.
      const { repository } = getPull(service.store, caseId).matter;
      const where = await pullTarget(service, worktree, repository);
      const { push } = where;
      const { main } = await baseBranches(service, worktree, where);
      const title = `Work on #${matter.number}: ${matter.title}`;
      const committed = await commitChanges(service, worktree, { status: now, changes, title });
      const pushed = matter.pushed_commit ?? null;
      const done = await afterDone(committedText(committed), async () => {
        const made = await pushBranch(service, worktree, { push, base, main, pushed });
        const { remote } = push;
        await afterDone(pushedText(worktree.branch, remote, made), () =>
          recordPush(service.store, kept, { remote, commit: made.commit }),
        );
        return made;
      });
      return {
        status: done.commit === done.replaced ? 'up_to_date' : 'pushed',
        remote: push.remote,
        ref: `refs/heads/${worktree.branch}`,
        ...done,
        ...committed,
      };
    });
  });

// Its branch is often deleted on the host with the end, so a push would only bring that branch back. Returns what was read.
const refuseEnded = async (service: HostedNeeds, kept: StoredPull): Promise<Pull> => {
  const { case_id, matter } = kept;
  const hosted = await hostedToWrite(service, kept);
  const pull = await hosted.pull(matter.number);
  if (isOpen(pull.state)) return pull;
  await recordPull(service.store, case_id, { name: hosted.name, pull });
  getOpenPull(service.store, case_id);
  return pull;
};

const otherBranch = (proposed: string, here: string): ServiceError =>
  invalidState(
    `The pull request is for the branch ${proposed}, but the worktree is on ${here}. Nothing was pushed. Remove the worktree, then create one with POST /api/worktrees {"branch": "${proposed}"}.`,
  );

/**
 * Pushes the rebased branch to its own name on the push remote, only while the remote has the commit from before the
 * rebase: another push is never overwritten (409 `remote_moved`). Never pushes to the base branch, nor for a pull request
 * that ended.
 */
export const pushRebased = (service: SessionNeeds, caseId: string): Promise<PushedRebase> =>
  underPullLock(service.store, caseId, () =>
    exclusively(service, caseId, 'push of a rebased branch', (worktree) => push(service, worktree)),
  );

const push = async (service: HostedNeeds, worktree: WorktreeRecord): Promise<PushedRebase> => {
  const { store, git } = service;
  const { conflict, remote } = rebased(store, worktree);
  await refuseOtherRemote(git, worktree, remote.name);
  await refuseBaseBranch(git, worktree, [], remote.name);
  const pull = readPull(store, worktree.case_id);
  const head = await headToPush(git, worktree, conflict);
  const expected = conflict.matter.pushed_commit ?? remote.commit;
  const { name, ref } = remote;
  const own =
    pull?.matter.head_ref === worktree.branch && isOpen(pull.matter.state) ? pull : undefined;
  if (own !== undefined) await refuseEnded(service, own);
  if (expected === null) refuseGone(worktree, own?.matter.pushed_commit);
  if (expected !== head)
    await withWorktreeLogin(service, worktree, { remote: name, direction: 'push' }, (asked) =>
      pushWithLease(git.at(worktree), { remote: asked, ref, commit: head, expected, name }),
    );
  const made = { commit: head, replaced: expected };
  await afterDone(pushedText(worktree.branch, name, made), async () => {
    await changeConflict(store, conflict, {
      pushed_at: store.clock().toISOString(),
      pushed_commit: head,
      line: `pushed ${head} to ${ref} on ${name}, where ${expected ?? 'nothing'} was`,
    });
    if (own !== undefined) await recordPush(store, own, { remote: name, commit: head });
  });
  return { status: 'pushed', remote: name, ref, head, replaced: expected };
};

const NOT_OURS =
  'This machine did not write the record of the rebase in conflicts/ as it is, so the push is left to you. Compare the branch with the one on the remote, then run git push --force-with-lease in the worktree.';

const rebased = (
  store: Store,
  { case_id, created_at, branch }: WorktreeRecord,
): { conflict: StoredConflict; remote: NonNullable<StoredConflict['matter']['remote']> } => {
  const all = listConflicts(store, case_id) ?? [];
  if (all.some((kept) => isOpenHere(store, kept)))
    throw new ServiceError(
      'rebase_in_progress',
      'The rebase is still in progress. Apply or abort it first.',
    );
  const ended = all.filter(
    ({ matter }) => matter.worktree_created_at === created_at && matter.head !== null,
  );
  const conflict = ended.findLast((kept) => isOurs(store, kept));
  if (conflict === undefined) {
    throw invalidState(
      ended.length > 0
        ? NOT_OURS
        : `Nothing was rebased in this worktree yet. Start a rebase with POST /api/cases/${case_id}/pr/rebase.`,
    );
  }
  const { remote } = conflict.matter;
  if (remote !== null && remote.ref === `refs/heads/${branch}`) return { conflict, remote };
  throw invalidState(
    'The repository had no remote to push to when the rebase began. Add one with git remote add, then rebase again.',
  );
};

// The record and the repository's configuration may have been edited.
const refuseOtherRemote = async (
  git: Git,
  worktree: WorktreeRecord,
  name: string,
): Promise<void> => {
  if ((await pushRemote(git.at(worktree), worktree.branch)) === name) return;
  throw invalidState(
    `The push remote has changed since the rebase, which used ${name}. Rebase again, or restore the push remote.`,
  );
};

const headToPush = async (
  git: Git,
  worktree: WorktreeRecord,
  { matter }: StoredConflict,
): Promise<string> => {
  const head = await commitOf(git.at(worktree), `refs/heads/${worktree.branch}`);
  const rebasedHead = matter.head ?? '';
  if (head !== undefined && (await isAncestor(git.at(worktree), rebasedHead, head))) return head;
  throw invalidState(
    `${worktree.branch} no longer contains the rebased commits (${rebasedHead.slice(0, 12)}). Rebase again, then push.`,
  );
};
