import { Type } from 'typebox';
import { patchPull } from '../lib/host/pull-requests/change.ts';
import { pullDraft } from '../lib/host/pull-requests/compose.ts';
import { createPull } from '../lib/host/pull-requests/create.ts';
import { markReady } from '../lib/host/pull-requests/mark-ready.ts';
import { commentProof } from '../lib/host/pull-requests/proof-comment.ts';
import { pushPull } from '../lib/host/pull-requests/push.ts';
import { readyCheck } from '../lib/host/pull-requests/ready-check.ts';
import { getPull, servedPull } from '../lib/host/pull-requests/record.ts';
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
import { AT_WORK, GIT, HOST_ERRORS, READING } from './problems.ts';

/** What may keep the branch from being pushed. */
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
    description: 'As it was last read from the host, which is not asked: `…/pr/status` does.',
    response: PullRequest,
    errors: ['unreadable_record'],
    handler: ({ params }, { store }) => {
      const kept = getPull(store, params.id);
      return tagged(servedPull(kept), kept.etag);
    },
  }),
  route('PATCH /api/cases/{id}/pr', {
    summary: 'Change title and labels of the pull request on the host, and the notes here',
    description:
      "Only what is named is changed, first on the host. State, branches and checks are the host's; the published body changes by `…/pr-body/suggest-update` and its approval alone.",
    body: PullPatch,
    response: PullRequest,
    conditional: true,
    errors: ['unreadable_record', 'file_busy', ...HOST_ERRORS],
    handler: async ({ params, body, ifMatch }, service) => {
      const kept = await patchPull(service, params.id, body, ifMatch);
      return tagged(servedPull(kept), kept.etag);
    },
  }),
  route('POST /api/cases/{id}/pr/create', {
    operationId: 'createCasePr',
    summary: 'Push the branch of the Work item and open its pull request on the host',
    description:
      'What the last completed session left in the worktree is committed first, in the name that git is configured with. The branch is pushed to its own name, over no commit that the worktree does not have, and never to the base branch. An open pull request of the branch is adopted as it is, also one that an interrupted call left behind. Nothing is ever merged.',
    body: Type.Optional(WantedPull),
    response: CreatedPull,
    status: 201,
    errors: ['already_exists', 'codehost_ambiguous', 'file_busy', ...PUSH],
    handler: async ({ params, body }, service) =>
      created(`/api/cases/${params.id}/pr`, await createPull(service, params.id, body ?? {})),
  }),
  route('POST /api/cases/{id}/pr/push', {
    summary: "Push what the Work item's branch has now to its pull request",
    description:
      'As `…/pr/create` does, for what came after: a feedback session, commits by hand. After a rebase use `…/conflicts/push-rebased`.',
    body: Type.Optional(Type.Pick(WantedPull, ['changes'])),
    response: PushedPull,
    errors: ['file_busy', ...PUSH],
    handler: ({ params, body }, service) => pushPull(service, params.id, body ?? {}),
  }),
  route('GET /api/cases/{id}/pr/draft', {
    summary: 'Read title, body and labels of what is to be proposed',
    description:
      'The draft as it is kept in pr/draft.md. Where there is none, it is composed for this answer: what was asked, what sessions did, how it was proved.',
    response: PullDraft,
    errors: ['unreadable_record'],
    handler: ({ params }, { store }) => pullDraft(store, params.id),
  }),
  route('GET /api/cases/{id}/pr/status', {
    summary: 'Ask the host how the pull request is now, and record it',
    description:
      'An error of the host is the answer here; what was last known is at `GET /api/cases/{id}/pr`.',
    response: PullStatus,
    errors: ['unreadable_record', 'file_busy', ...HOST_ERRORS],
    handler: ({ params }, service) => pullStatus(service, params.id),
  }),
  route('GET /api/cases/{id}/pr/state-timeline', {
    summary: 'List what became of the pull request, oldest first',
    description: 'From the files alone; `…/pr/sync-state` adds what the host knows besides.',
    response: Type.Array(PullTransition),
    handler: ({ params }, { store }) => pullTimeline(store, params.id),
  }),
  route('POST /api/cases/{id}/pr/sync-state', {
    summary: 'Read state and history of the pull request from the host and record both',
    description:
      'What a human did there, a merge too, is taken over. The state of the Work item stays as it is.',
    response: SyncedPull,
    errors: ['unreadable_record', 'file_busy', ...HOST_ERRORS],
    handler: ({ params }, service) => syncPull(service, params.id),
  }),
  route('GET /api/cases/{id}/pr/ready-check', {
    summary: 'Say whether the pull request may be marked ready, and what is in the way',
    response: ReadyCheck,
    errors: [...READING, ...GIT, ...HOST_ERRORS],
    handler: ({ params }, service) => readyCheck(service, params.id),
  }),
  route('POST /api/cases/{id}/pr/mark-ready', {
    summary: 'Mark the pull request ready for review, and show the proof in a comment of it',
    description:
      'Behind the proof gate, and every check of `…/pr/ready-check`. One that is ready already stays so, and its proof comment is brought up to date.',
    response: MarkedReady,
    errors: [
      'proof_gate_blocked',
      'verified_elsewhere',
      ...READING,
      'file_busy',
      ...GIT,
      ...HOST_ERRORS,
    ],
    handler: ({ params }, service) => markReady(service, params.id),
  }),
  route('POST /api/cases/{id}/pr/comment-proof', {
    summary: 'Show the verified proofs in one comment of the pull request',
    description:
      'Made once, and brought up to date after. Contents stand in code blocks: they mention nobody and are cut in the middle where the host would not take them whole.',
    response: PostedProof,
    errors: ['proof_gate_blocked', 'unreadable_record', 'file_busy', ...HOST_ERRORS],
    handler: ({ params }, service) => commentProof(service, params.id),
  }),
];
