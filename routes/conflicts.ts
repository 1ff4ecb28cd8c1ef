import { Type } from 'typebox';
import { pushRebased } from '../lib/host/pull-requests/push.ts';
import { created } from '../lib/http/answer.ts';
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
import { AT_WORK, CREATING, GIT, READING } from './problems.ts';

const REMOTE = [
  'codehost_auth_missing',
  'codehost_auth_invalid',
  'codehost_forbidden',
  'codehost_not_found',
  'codehost_rate_limited',
  'codehost_upstream',
  'codehost_unreachable',
  'codehost_timeout',
] as const;

export const conflictRoutes = [
  route('POST /api/cases/{id}/pr/rebase', {
    summary: "Rebase the Work item's branch in its worktree",
    description:
      'The exact state before, untracked files too, is kept under `refs/dossier/snapshots/` first. At a conflict the Work item is BLOCKED until `…/conflicts/apply` ends the rebase or `…/conflicts/abort` takes it back. A base of the form `<remote>/<branch>` is fetched first. Files that the rebase would write over, ignored ones too, are a 409.',
    body: Type.Optional(RebaseWish),
    response: RebaseStep,
    errors: ['uncommitted_changes', 'remote_moved', ...AT_WORK],
    handler: ({ params, body }, service) => startRebase(service, params.id, body ?? {}),
  }),
  route('GET /api/cases/{id}/conflicts/preview', {
    summary: 'Show the files in conflict, and the raw conflict diff of all of them',
    description:
      'Of a file that only one side still has, the diff is of what that side made of it. Read anew at each call.',
    response: ConflictPreview,
    errors: [...READING, ...GIT],
    handler: ({ params }, service) => previewConflicts(service, params.id),
  }),
  route('POST /api/cases/{id}/conflicts/resolve-with-agent', {
    operationId: 'resolveConflictsWithAgent',
    summary: 'Start a session in which an agent proposes how to resolve the conflicts',
    description:
      'A session of type `conflict`: it plans, and changes files only after the operator has approved the plan. Nothing is staged; what the agent stages is put back.',
    body: Type.Optional(Type.Object(ProviderChoice)),
    response: Session,
    status: 202,
    errors: ['session_active', 'lock_held', ...READING, ...CREATING],
    handler: async ({ params, body }, service) => {
      const session = await resolveWithAgent(service, params.id, body ?? {});
      return created(`/cases/${params.id}/sessions/${session.id}`, session);
    },
  }),
  route('POST /api/cases/{id}/conflicts/apply', {
    summary: 'Stage the resolved files and go on with the rebase',
    description:
      'Stages the files in conflict as they are, and no others. 422 with the files while one is not resolved: it has markers (`lines`), or is exactly as git left it, which of a binary file, a deletion, a rename, a mode or a link is one side alone. Resolved is what was changed or deleted since, staged by hand, or named in `resolved`; a submodule is chosen by staging it, or by name when it is checked out. Answers as the rebase does when the next commit conflicts.',
    body: Type.Optional(ResolvedFiles),
    response: RebaseStep,
    errors: ['markers_remain', 'uncommitted_changes', ...AT_WORK],
    handler: ({ params, body }, service) => applyResolution(service, params.id, body ?? {}),
  }),
  route('POST /api/cases/{id}/conflicts/push-rebased', {
    operationId: 'pushRebasedBranch',
    summary: 'Push the rebased branch, if the remote still has what it had before the rebase',
    description:
      "Pushes to the branch's own name on the push remote, never to the base branch, with a lease on the commit that the remote had when the rebase began. A push that came in between is a 409, and nothing is overwritten.",
    response: PushedRebase,
    errors: ['remote_moved', 'push_refused', ...REMOTE, ...AT_WORK],
    handler: ({ params }, service) => pushRebased(service, params.id),
  }),
  route('POST /api/cases/{id}/conflicts/abort', {
    summary: 'Abort the rebase and give back the exact state before it',
    description:
      'HEAD, branch, index, changed and untracked files with their modes are as they were. What was made since is kept under `undone_ref`. Ignored files stay as they are.',
    response: AbortedRebase,
    errors: [...AT_WORK],
    handler: ({ params }, service) => abortRebase(service, params.id),
  }),
  route('GET /api/cases/{id}/conflicts/history', {
    summary: 'List the rebases of a Work item with what came of them, oldest first',
    query: Type.Object(PageQuery),
    response: Type.Array(Conflict),
    errors: ['unreadable_record'],
    handler: ({ params, query }, { store }) =>
      page(conflictHistory(store, params.id), query, `/api/cases/${params.id}/conflicts/history`),
  }),
  route('GET /api/cases/{id}/conflicts/metrics', {
    summary: 'Say how often rebases conflict and how long it takes to resolve them',
    description: 'Of the Work item, and under `workspace` of all, read from their records.',
    response: ConflictMetrics,
    errors: ['unreadable_record'],
    handler: ({ params }, { store }) => conflictMetrics(store, params.id),
  }),
];
