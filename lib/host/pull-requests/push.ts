import type { PushedPull, WantedPull } from '../../../store/records/pull-call.ts';
import { invalidState, type ServiceError } from '../../errors.ts';
import { exclusively } from '../../work/conflicts/exclusively.ts';
import { standing } from '../../work/conflicts/preflight.ts';
import type { SessionNeeds } from '../../work/sessions/live/needs.ts';
import { commitChanges } from './commit-changes.ts';
import { getOpenPull, inPullTurn } from './current.ts';
import { notePushed, pushBranch } from './push-branch.ts';
import { basesOf, whereTo } from './where.ts';

/** Commits what the newest session left, and pushes the branch of the pull request: what a feedback session did is on the host then. */
export const pushPull = (
  service: SessionNeeds,
  caseId: string,
  { changes }: Pick<WantedPull, 'changes'>,
): Promise<PushedPull> =>
  inPullTurn(service.store, caseId, async () => {
    const kept = getOpenPull(service.store, caseId);
    const { matter } = kept;
    return exclusively(service, caseId, 'push of a pull request', async (worktree) => {
      const { now } = await standing(service, worktree);
      if (matter.head_ref !== worktree.branch) throw otherBranch(matter.head_ref, worktree.branch);
      const where = await whereTo(service, worktree, matter.repository);
      const { push } = where;
      const { main } = await basesOf(service, worktree, where);
      const title = `Work on #${matter.number}: ${matter.title}`;
      const committed = await commitChanges(service, worktree, { status: now, changes, title });
      const pushed = matter.pushed_commit ?? null;
      const done = await pushBranch(service, worktree, {
        push,
        base: matter.base_ref,
        main,
        pushed,
      });
      await notePushed(service.store, kept, { remote: push.remote, commit: done.commit });
      return {
        status: done.commit === done.replaced ? 'up_to_date' : 'pushed',
        remote: push.remote,
        ref: `refs/heads/${worktree.branch}`,
        ...done,
        committed: committed ?? null,
      };
    });
  });

const otherBranch = (proposed: string, here: string): ServiceError =>
  invalidState(
    `The pull request is of ${proposed}, and the worktree is of ${here}. Nothing was pushed. Remove the worktree, and make one with POST /api/worktrees {"branch": "${proposed}"}.`,
  );
