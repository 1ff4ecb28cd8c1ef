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
import { lockOf, releaseSessionLock, takeLock } from '../lib/work/sessions/lifecycle/lock.ts';
import {
  activeSessions,
  newestSessions,
  queuedSessions,
} from '../lib/work/sessions/lifecycle/read.ts';
import { Id, Word } from '../store/records/fields.ts';
import { Lock } from '../store/records/lock.ts';
import { ProviderInfo } from '../store/records/provider.ts';
import { ProviderChoice, Session } from '../store/records/session.ts';
import { createdSession, optionalBody } from './fields.ts';
import { CREATING } from './problems.ts';

/** Names the session, so that an outdated page does not affect another one. */
const sessionId = (description: string) =>
  Type.Optional(Type.String({ format: 'uuid', description }));

const Meant = sessionId('The session to act on: if another one is active, nothing is done');
const MeantToAbort = sessionId(
  'The session to abort, also one that is queued; default: the active one. Refused if it has ended',
);

export const sessionControlRoutes = [
  route('GET /api/sessions/queue', {
    operationId: 'listQueuedSessions',
    summary: 'List the queued sessions of all Work items, oldest first',
    query: Type.Object(PageQuery),
    response: Type.Array(Session),
    handler: async ({ query }, service) =>
      page(await queuedSessions(service), query, '/api/sessions/queue'),
  }),
  route('POST /api/sessions/queue', {
    operationId: 'queueSession',
    summary: 'Create a session, which is queued and then starts in Plan mode',
    description:
      'It starts at once if the session lock is free and fewer than `max_sessions` sessions run.',
    body: Type.Object({
      case_id: Id,
      type: Type.Optional(Word),
      ...ProviderChoice,
    }),
    response: Session,
    status: 201,
    errors: ['not_found', 'rebase_in_progress', 'file_busy', ...CREATING],
    handler: async ({ body: { case_id, type = 'implementing', ...body } }, service) =>
      createdSession(await createSession(service, case_id, { type, ...body })),
  }),
  route('GET /api/sessions/active', {
    operationId: 'listActiveSessions',
    summary: 'List the active sessions of all Work items, oldest first',
    query: Type.Object(PageQuery),
    response: Type.Array(Session),
    handler: async ({ query }, service) =>
      page(await activeSessions(service), query, '/api/sessions/active'),
  }),
  route('GET /api/sessions/newest', {
    operationId: 'listNewestSessions',
    summary: 'List the newest session of each given Work item',
    query: Type.Object({
      case_ids: Type.String({ maxLength: 10_000, description: 'Ids separated by commas' }),
    }),
    response: Type.Array(Session),
    handler: ({ query }, service) => newestSessions(service, query.case_ids.split(',')),
  }),
  route('GET /api/sessions/providers', {
    operationId: 'listSessionProviders',
    summary: 'List the providers for new sessions, the one in the settings first',
    query: Type.Object({
      probe: Type.Optional(
        Type.Boolean({
          description:
            'Whether to start each agent that is installed, to see whether it answers; default: true. The result is kept',
        }),
      ),
    }),
    response: Type.Array(ProviderInfo),
    handler: ({ query }, { providers }) => sessionProviders(providers(), query.probe),
  }),
  route('GET /api/worktrees/{case_id}/lock', {
    summary: 'Read the session lock of a Work item',
    response: Lock,
    handler: ({ params }, { store }) => lockOf(store, params.case_id),
  }),
  route('POST /api/worktrees/{case_id}/lock', {
    operationId: 'lockWorktree',
    summary: 'Acquire the session lock: no session of the Work item starts while it is held',
    description:
      'It is held until it is released, also across restarts. The `token` is returned only here; calls that present it may write what the lock guards.',
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
    summary: 'Release the session lock, so that the next queued session starts',
    description:
      'Returns 409 for the lock of an active session: abort the session, which releases it.',
    errors: ['lock_held', 'session_active', 'unreadable_record'],
    handler: ({ params }, service) => releaseSessionLock(service, params.case_id),
  }),
  route('POST /api/cases/{id}/session/pause', {
    summary: "Pause the Work item's active session",
    description:
      'Ends its processes. Changes stay in the worktree, and the session keeps its lock.',
    body: optionalBody({ session_id: Meant }),
    response: Session,
    errors: ['unreadable_record', 'other_session_active', 'invalid_state'],
    handler: ({ params, body }, service) => pauseSession(service, params.id, body?.session_id),
  }),
  route('POST /api/cases/{id}/session/resume', {
    summary: "Resume the Work item's paused session",
    description:
      'If a session of the runbook was killed inside a block, part of that block may have been executed. `from` says whether to run it `again` or to continue with the `next` one. Without `from` the answer is 422 `choice_needed` with the `block`.',
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
    summary: "Abort the Work item's active session, or a queued one; this cannot be undone",
    description:
      'Ends its processes. Changes stay in the worktree, and in diff.patch if the plan was approved.',
    body: optionalBody({ session_id: MeantToAbort }),
    response: Session,
    errors: ['unreadable_record', 'other_session_active', 'invalid_state'],
    handler: ({ params, body }, service) => abortSession(service, params.id, body?.session_id),
  }),
  route('POST /cases/{id}/sessions/{sid}/dismiss', {
    operationId: 'dismissSession',
    summary: 'Mark the work of a completed session as reviewed',
    description:
      'Until then `GET /attention` lists it as `done`. Verifies nothing and changes no state.',
    response: Session,
    errors: ['invalid_state', 'unreadable_record'],
    handler: ({ params }, service) => dismissSession(service, params.id, params.sid),
  }),
];
