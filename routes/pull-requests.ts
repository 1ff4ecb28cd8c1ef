import { Type } from 'typebox';
import { patchPull } from '../lib/host/pull-requests/change.ts';
import { pullDraft } from '../lib/host/pull-requests/compose.ts';
import { createPull } from '../lib/host/pull-requests/create.ts';
import { markReady } from '../lib/host/pull-requests/mark-ready.ts';
import { commentProof } from '../lib/host/pull-requests/proof-comment.ts';
import { pushPull } from '../lib/host/pull-requests/push.ts';
import { readyCheck } from '../lib/host/pull-requests/ready-check.ts';
import { getPull, toPullRequest } from '../lib/host/pull-requests/record.ts';
import { pullStatus, syncPull } from '../lib/host/pull-requests/status.ts';
import { pullTimeline } from '../lib/host/pull-requests/timeline.ts';
import { created, tagged } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import {
  CreatedPull,
  MarkedReady,
  PullPatch,
  PushedPull,
  SyncedPull,
  WantedPull,
} from '../store/records/pull-call.ts';
import { PullDraft, PullRequest, PullTransition } from '../store/records/pull-request.ts';
import { PostedProof, PullStatus, ReadyCheck } from '../store/records/pull-status.ts';
import { AT_WORK, GIT, HOST_ERRORS, PULL_WRITE, READING } from './problems.ts';

/** The errors of a push. */
const PUSH = [
  'uncommitted_changes',
  'remote_moved',
  'push_refused',
  'codehost_repo_not_detected',
  'no_repository',
  ...HOST_ERRORS,
  ...AT_WORK,
] as const;

export const pullRequestRoutes = [
  route('GET /api/cases/{id}/pr', {
    summary: "Read the record of the Work item's pull request",
    description: 'As last read from the code host. `…/pr/status` reads it from there.',
    response: PullRequest,
    errors: ['unreadable_record'],
    handler: ({ params }, { store }) => {
      const kept = getPull(store, params.id);
      return tagged(toPullRequest(kept), kept.etag);
    },
  }),
  route('PATCH /api/cases/{id}/pr', {
    summary: 'Change title and labels of the pull request on the code host, and the notes here',
    description:
      'Changes only the given fields, first on the code host. A title or labels that others changed there since they were read are not replaced: `codehost_conflict` has them, and `…/pr/sync-state` reads them. State, branches and checks cannot be changed; the published body changes only by `…/pr-body/suggest-update` and its approval.',
    body: PullPatch,
    response: PullRequest,
    conditional: true,
    errors: ['codehost_conflict', 'unreadable_record', ...GIT, ...PULL_WRITE],
    handler: async ({ params, body, ifMatch }, service) => {
      const kept = await patchPull(service, params.id, body, ifMatch);
      return tagged(toPullRequest(kept), kept.etag);
    },
  }),
  route('POST /api/cases/{id}/pr/create', {
    operationId: 'createCasePr',
    summary: 'Push the branch of the Work item and create its pull request',
    description:
      'First commits the changes of the last completed session in the worktree, with the user that git is configured with. Pushes the branch to its own name, never to the base branch, and never overwrites commits that the worktree does not have. An open pull request of the branch is adopted unchanged, also one from an interrupted call. Nothing is ever merged.',
    body: Type.Optional(WantedPull),
    response: CreatedPull,
    status: 201,
    errors: ['already_exists', 'codehost_ambiguous', 'codehost_conflict', ...PUSH],
    handler: async ({ params, body }, service) =>
      created(`/api/cases/${params.id}/pr`, await createPull(service, params.id, body ?? {})),
  }),
  route('POST /api/cases/{id}/pr/push', {
    summary: "Push new commits of the Work item's branch to its pull request",
    description:
      'Works as `…/pr/create`, for later changes such as a feedback session or commits by hand. Reads the state of the pull request first: nothing is pushed once it is closed or merged, nor where the branch was deleted on the remote. After a rebase use `…/conflicts/push-rebased`.',
    body: Type.Optional(Type.Pick(WantedPull, ['changes'])),
    response: PushedPull,
    errors: ['pull_mismatch', ...PUSH],
    handler: ({ params, body }, service) => pushPull(service, params.id, body ?? {}),
  }),
  route('GET /api/cases/{id}/pr/draft', {
    summary: 'Read title, body and labels of the planned pull request',
    description:
      'The draft in pr/draft.md. Without one, it is composed for this answer from the description, the session summaries and the proof.',
    response: PullDraft,
    errors: ['unreadable_record'],
    handler: ({ params }, { store }) => pullDraft(store, params.id),
  }),
  route('GET /api/cases/{id}/pr/status', {
    summary: 'Read the status of the pull request from the code host, and record it',
    description:
      'Fails if the code host fails. The last recorded status is at `GET /api/cases/{id}/pr`.',
    response: PullStatus,
    errors: ['unreadable_record', 'file_busy', 'pull_mismatch', ...HOST_ERRORS],
    handler: ({ params }, service) => pullStatus(service, params.id),
  }),
  route('GET /api/cases/{id}/pr/state-timeline', {
    summary: 'List the state changes of the pull request, oldest first',
    description: 'Read from files; `…/pr/sync-state` adds the history of the code host.',
    response: Type.Array(PullTransition),
    handler: ({ params }, { store }) => pullTimeline(store, params.id),
  }),
  route('POST /api/cases/{id}/pr/sync-state', {
    summary: 'Read state and history of the pull request from the code host, and record both',
    description:
      'Records what people did there, including a merge. Does not change the state of the Work item.',
    response: SyncedPull,
    errors: ['unreadable_record', 'pull_mismatch', ...HOST_ERRORS],
    handler: ({ params }, service) => syncPull(service, params.id),
  }),
  route('GET /api/cases/{id}/pr/ready-check', {
    summary: 'Check whether the pull request can be marked as ready, and what prevents it',
    response: ReadyCheck,
    errors: [...READING, ...GIT, ...HOST_ERRORS],
    handler: ({ params }, service) => readyCheck(service, params.id),
  }),
  route('POST /api/cases/{id}/pr/mark-ready', {
    summary: 'Mark the pull request as ready for review, and post the proof as a comment',
    description:
      'Requires the proof gate and every check of `…/pr/ready-check`. If the pull request is ready already, only the comment is updated.',
    response: MarkedReady,
    errors: [
      'proof_gate_blocked',
      'verified_elsewhere',
      'codehost_conflict',
      ...READING,
      ...GIT,
      ...PULL_WRITE,
    ],
    handler: ({ params }, service) => markReady(service, params.id),
  }),
  route('POST /api/cases/{id}/pr/comment-proof', {
    summary: 'Post the verified proofs as a comment on the pull request',
    description:
      'Creates one comment and updates it later. Contents are in code blocks, so that they mention no users, and are shortened in the middle if they are too long for the code host.',
    response: PostedProof,
    errors: [
      'proof_gate_blocked',
      'verified_elsewhere',
      'codehost_conflict',
      'unreadable_record',
      ...GIT,
      ...PULL_WRITE,
    ],
    handler: ({ params }, service) => commentProof(service, params.id),
  }),
];
