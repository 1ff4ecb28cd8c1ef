import { Type } from 'typebox';
import { pushRebased } from '../lib/host/pull-requests/push.ts';
import { PageQuery, page } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import { abortRebase } from '../lib/work/conflicts/abort.ts';
import { applyResolution } from '../lib/work/conflicts/apply.ts';
import { previewConflicts } from '../lib/work/conflicts/current.ts';
import { conflictHistory, conflictMetrics } from '../lib/work/conflicts/history.ts';
import { resolveWithAgent, startRebase } from '../lib/work/conflicts/rebase.ts';
import {
  AbortedRebase,
  Conflict,
  ConflictMetrics,
  ConflictPreview,
  PushedRebase,
  RebaseStep,
  RebaseWish,
  ResolvedFiles,
} from '../store/records/conflict.ts';
import { ProviderChoice, Session } from '../store/records/session.ts';
import { createdSession } from './fields.ts';
import { AT_WORK, CREATING, GIT, PULL_WRITE, READING } from './problems.ts';

export const conflictRoutes = [
  route('POST /api/cases/{id}/pr/rebase', {
    summary: "Rebase the Work item's branch in its worktree",
    description:
      'First saves the exact state, including untracked files, under `refs/dossier/snapshots/`. At a conflict, of a commit or of uncommitted changes, the Work item is BLOCKED until `…/conflicts/apply` completes the rebase or `…/conflicts/abort` undoes it. A base of the form `<remote>/<branch>` is fetched first. Returns 409 with the names of untracked files, ignored ones too, that the rebase would overwrite, or that are in the place of a changed tracked file.',
    body: Type.Optional(RebaseWish),
    response: RebaseStep,
    errors: ['uncommitted_changes', 'remote_moved', ...AT_WORK],
    handler: ({ params, body }, service) => startRebase(service, params.id, body ?? {}),
  }),
  route('GET /api/cases/{id}/conflicts/preview', {
    summary: 'List the files in conflict, with the raw conflict diff',
    description:
      "If only one side still has a file, the diff shows that side's changes. Read again at each call.",
    response: ConflictPreview,
    errors: [...READING, ...GIT],
    handler: ({ params }, service) => previewConflicts(service, params.id),
  }),
  route('POST /api/cases/{id}/conflicts/resolve-with-agent', {
    operationId: 'resolveConflictsWithAgent',
    summary: 'Start a session in which an agent proposes a resolution',
    description:
      'Creates a session of type `conflict`, which plans and changes files only after the approval of the plan. The index is not changed: what the agent stages is unstaged.',
    body: Type.Optional(Type.Object(ProviderChoice)),
    response: Session,
    status: 202,
    errors: ['session_active', 'lock_held', ...READING, ...CREATING],
    handler: async ({ params, body }, service) =>
      createdSession(await resolveWithAgent(service, params.id, body ?? {})),
  }),
  route('POST /api/cases/{id}/conflicts/apply', {
    summary: 'Stage the resolved files and continue the rebase',
    description:
      'Stages only the files in conflict. Returns 422 with the unresolved files: those with conflict markers (`lines`), and those that are exactly as git left them, which keeps only one side of a binary file, a deletion, a rename, a mode or a link. A file is resolved if it was changed or deleted since, was staged by hand, or is named in `resolved`. A submodule is resolved by staging it, or by name if it is checked out. If the next commit conflicts, the answer is that of the rebase.',
    body: Type.Optional(ResolvedFiles),
    response: RebaseStep,
    errors: ['markers_remain', 'uncommitted_changes', ...AT_WORK],
    handler: ({ params, body }, service) => applyResolution(service, params.id, body ?? {}),
  }),
  route('POST /api/cases/{id}/conflicts/push-rebased', {
    operationId: 'pushRebasedBranch',
    summary: 'Push the rebased branch, if the remote branch has not moved since',
    description:
      "Pushes to the branch's own name on the push remote, never to the base branch, with a lease (`--force-with-lease`) on the remote commit at the start of the rebase. If the remote branch has moved, the answer is 409 and nothing is overwritten. With a pull request, reads its state first, as `…/pr/push` does: nothing is pushed once it is closed or merged.",
    response: PushedRebase,
    errors: ['remote_moved', 'push_refused', ...PULL_WRITE, ...AT_WORK],
    handler: ({ params }, service) => pushRebased(service, params.id),
  }),
  route('POST /api/cases/{id}/conflicts/abort', {
    summary: 'Abort the rebase and restore the exact state before it',
    description:
      'Restores HEAD, the branch, the index, and changed and untracked files with their modes. Changes made since are saved under `undone_ref`. Ignored files are not changed.',
    response: AbortedRebase,
    errors: AT_WORK,
    handler: ({ params }, service) => abortRebase(service, params.id),
  }),
  route('GET /api/cases/{id}/conflicts/history', {
    summary: 'List the rebases of a Work item with their outcomes, oldest first',
    query: Type.Object(PageQuery),
    response: Type.Array(Conflict),
    errors: ['unreadable_record'],
    handler: ({ params, query }, { store }) =>
      page(conflictHistory(store, params.id), query, `/api/cases/${params.id}/conflicts/history`),
  }),
  route('GET /api/cases/{id}/conflicts/metrics', {
    summary: 'Read how often rebases conflict, and how long it takes to resolve them',
    description: 'For the Work item, and under `workspace` for all Work items.',
    response: ConflictMetrics,
    errors: ['unreadable_record'],
    handler: ({ params }, { store }) => conflictMetrics(store, params.id),
  }),
];
