import { Type } from 'typebox';
import { forgetRecovery, listRecoveries } from '../lib/code/worktrees/recovery/recoveries.ts';
import { restoreWorktree } from '../lib/code/worktrees/recovery/restore.ts';
import { route } from '../lib/http/route.ts';
import { Recovery } from '../store/records/recovery.ts';
import { Worktree } from '../store/records/worktree.ts';
import { GIT, TAKING } from './problems.ts';
import { made } from './worktrees.ts';

export const worktreeRecoveryRoutes = [
  route('GET /api/worktrees/{case_id}/recoveries', {
    summary: 'List the saved work of the worktree, oldest first',
    description:
      'Saved by forced removals, before rebases, and when an abort or the end of a Plan turn undid changes. It is never removed automatically. What an active rebase or Plan turn still needs is not listed.',
    response: Type.Array(Recovery),
    errors: ['no_repository', 'trust_needed', 'unreadable_record', 'worktree_elsewhere', ...GIT],
    handler: ({ params }, service) => listRecoveries(service, params.case_id),
  }),
  route('POST /api/worktrees/{case_id}/recoveries/{recovery_id}/restore', {
    operationId: 'restoreWorktreeRecovery',
    summary: 'Restore the worktree from saved work',
    description:
      'Restores commits, the index, and changed and untracked files, byte for byte. If the branch has moved since, a new branch is created. Runs no setup commands, and keeps the saved work.',
    params: { recovery_id: Type.String() },
    response: Worktree,
    status: 201,
    errors: TAKING,
    handler: async ({ params }, service) =>
      made(await restoreWorktree(service, params.case_id, params.recovery_id)),
  }),
  route('DELETE /api/worktrees/{case_id}/recoveries/{recovery_id}', {
    summary: 'Delete saved work: its ref and its patch',
    description: 'git removes its objects later, unless another ref contains them.',
    params: { recovery_id: Type.String() },
    errors: ['no_repository', 'trust_needed', 'unreadable_record', 'worktree_elsewhere', ...GIT],
    handler: ({ params }, service) => forgetRecovery(service, params.case_id, params.recovery_id),
  }),
];
