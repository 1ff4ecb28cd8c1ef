import { Type } from 'typebox';
import { sessionProviders } from '../lib/agents/providers.ts';
import { created } from '../lib/http/answer.ts';
import { PageQuery, page } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import { dismissSession } from '../lib/work/sessions/lifecycle/answers.ts';
import {
  abortSession,
  pauseSession,
  resumeSession,
} from '../lib/work/sessions/lifecycle/control.ts';
import { createSession } from '../lib/work/sessions/lifecycle/create.ts';
import { freeLock, lockOf, takeLock } from '../lib/work/sessions/lifecycle/lock.ts';
import {
  activeSessions,
  newestSessions,
  queuedSessions,
} from '../lib/work/sessions/lifecycle/read.ts';
import { Id, Word } from '../store/records/id.ts';
import { Lock } from '../store/records/lock.ts';
import { ProviderInfo } from '../store/records/provider.ts';
import { ProviderChoice, Session } from '../store/records/session.ts';
import { optionalBody } from './fields.ts';
import { CREATING } from './problems.ts';

/** Of who looks at one session: a page that is old by now stops or goes on with no other. */
const Meant = Type.Optional(
  Type.String({
    format: 'uuid',
    description: 'The session that is meant: while another one is active, nothing is done',
  }),
);

export const sessionControlRoutes = [
  route('GET /api/sessions/queue', {
    operationId: 'listQueuedSessions',
    summary: 'List the sessions that wait for their turn, over all Work items, oldest first',
    query: Type.Object(PageQuery),
    response: Type.Array(Session),
    handler: async ({ query }, service) =>
      page(await queuedSessions(service), query, '/api/sessions/queue'),
  }),
  route('POST /api/sessions/queue', {
    operationId: 'queueSession',
    summary: 'Create a session that starts in Plan mode when it is its turn',
    description: 'At once, where the session lock is free and fewer than `max_sessions` run.',
    body: Type.Object({
      case_id: Id,
      type: Type.Optional(Word),
      ...ProviderChoice,
    }),
    response: Session,
    status: 201,
    errors: ['not_found', 'rebase_in_progress', ...CREATING],
    handler: async ({ body: { case_id, type = 'implementing', ...body } }, service) => {
      const session = await createSession(service, case_id, { type, ...body });
      return created(`/cases/${case_id}/sessions/${session.id}`, session);
    },
  }),
  route('GET /api/sessions/active', {
    operationId: 'listActiveSessions',
    summary: 'List the sessions that have begun and not ended, over all Work items, oldest first',
    query: Type.Object(PageQuery),
    response: Type.Array(Session),
    handler: async ({ query }, service) =>
      page(await activeSessions(service), query, '/api/sessions/active'),
  }),
  route('GET /api/sessions/newest', {
    operationId: 'listNewestSessions',
    summary: 'List the newest session of each of these Work items',
    query: Type.Object({
      case_ids: Type.String({ maxLength: 10_000, description: 'With commas between' }),
    }),
    response: Type.Array(Session),
    handler: ({ query }, service) => newestSessions(service, query.case_ids.split(',')),
  }),
  route('GET /api/sessions/providers', {
    operationId: 'listSessionProviders',
    summary: 'List what a session can be created with, that of the settings first',
    response: Type.Array(ProviderInfo),
    handler: (_input, { providers }) => sessionProviders(providers()),
  }),
  route('GET /api/worktrees/{case_id}/lock', {
    summary: 'Read who holds the session lock of a Work item',
    response: Lock,
    handler: ({ params }, { store }) => lockOf(store, params.case_id),
  }),
  route('POST /api/worktrees/{case_id}/lock', {
    operationId: 'lockWorktree',
    summary: 'Take the session lock: no session of the Work item starts while it is held',
    description:
      'It lasts until it is released, across restarts, by no clock. The `token` is shown this once; who presents it may write what the lock guards.',
    body: optionalBody({
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\r\\n]*$' })),
    }),
    response: Type.Object({ ...Lock.properties, token: Type.String() }),
    status: 201,
    errors: ['lock_held'],
    handler: async ({ params: { case_id }, body }, { store }) =>
      created(`/api/worktrees/${case_id}/lock`, await takeLock(store, case_id, body?.name)),
  }),
  route('DELETE /api/worktrees/{case_id}/lock', {
    operationId: 'unlockWorktree',
    summary: 'Release the session lock; the next session in the queue starts',
    description: 'A session that goes on is aborted instead: that releases its lock.',
    errors: ['session_active'],
    handler: ({ params }, service) => freeLock(service, params.case_id),
  }),
  route('POST /api/cases/{id}/session/pause', {
    summary: "Stop the Work item's active session so that it can go on later",
    description:
      'Its processes are ended; what they did stays in the worktree, and the session keeps its lock.',
    body: optionalBody({ session_id: Meant }),
    response: Session,
    errors: ['unreadable_record', 'other_session_active', 'invalid_state'],
    handler: ({ params, body }, service) => pauseSession(service, params.id, body?.session_id),
  }),
  route('POST /api/cases/{id}/session/resume', {
    summary: "Go on with the Work item's paused session",
    description:
      'A session of the runbook that was killed inside a block has done part of it, and nobody knows which: `from` says whether the block is run `again`, or left as it is for the `next`. Without it such a session is 422 `choice_needed`, with the `block`.',
    body: optionalBody({
      session_id: Meant,
      from: Type.Optional(Type.Enum(['again', 'next'])),
    }),
    response: Session,
    errors: [
      'lock_held',
      'unreadable_record',
      'other_session_active',
      'approved_elsewhere',
      'trust_needed',
      'invalid_state',
      'plan_changed',
      'approval_mismatch',
      'worktree_missing',
      'worktree_elsewhere',
      'choice_needed',
    ],
    handler: ({ params, body }, service) => resumeSession(service, params.id, body),
  }),
  route('POST /api/cases/{id}/session/abort', {
    summary: "Abort the Work item's active session; this cannot be undone",
    description:
      'Its processes are ended; what they did stays in the worktree, and in diff.patch where the plan was approved.',
    body: optionalBody({ session_id: Meant }),
    response: Session,
    errors: ['unreadable_record', 'other_session_active', 'invalid_state'],
    handler: ({ params, body }, service) => abortSession(service, params.id, body?.session_id),
  }),
  route('POST /cases/{id}/sessions/{sid}/dismiss', {
    operationId: 'dismissSession',
    summary: 'Mark the work of a completed session as reviewed',
    description:
      '`GET /attention` lists it as `done` until then. It verifies nothing and changes no state.',
    response: Session,
    errors: ['invalid_state', 'unreadable_record', 'file_busy'],
    handler: ({ params }, service) => dismissSession(service, params.id, params.sid),
  }),
];
