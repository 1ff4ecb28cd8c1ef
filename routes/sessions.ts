import { Type } from 'typebox';
import { SESSION_STREAM } from '../lib/daemon/events.ts';
import { created, patchAnswer, visibleMarkdown } from '../lib/http/answer.ts';
import { PageQuery, page } from '../lib/http/page.ts';
import { route } from '../lib/http/route.ts';
import { answerQuestion } from '../lib/work/sessions/lifecycle/answer-question.ts';
import { approvePlan, revisePlan } from '../lib/work/sessions/lifecycle/approve.ts';
import { answerPermission, finishSession } from '../lib/work/sessions/lifecycle/control.ts';
import { createSession } from '../lib/work/sessions/lifecycle/create.ts';
import {
  getDiff,
  getPlan,
  getSession,
  getStream,
  listSessions,
  putPlan,
  usageOf,
} from '../lib/work/sessions/lifecycle/read.ts';
import { Id, Sha256, Word } from '../store/records/id.ts';
import { QuestionAnswer } from '../store/records/question.ts';
import { ProviderChoice, Session, Usage } from '../store/records/session.ts';
import { CasePath } from './cases.ts';
import { CREATING } from './git-errors.ts';

const SessionPath = Type.Object({ id: Id, sid: Id });

export const sessionRoutes = [
  route({
    method: 'GET',
    path: '/cases/{id}/sessions',
    summary: 'List the sessions of a Work item, oldest first',
    params: CasePath,
    query: Type.Object(PageQuery),
    response: Type.Array(Session),
    errors: ['not_found'],
    handler: async ({ params, query }, service) =>
      page(await listSessions(service, params.id), query, `/cases/${params.id}/sessions`),
  }),
  route({
    method: 'POST',
    path: '/cases/{id}/sessions',
    summary: 'Create a session; it starts in Plan mode, or waits while another holds the lock',
    description:
      'The plan waits for the operator: nothing of it is executed before it is approved.',
    params: CasePath,
    body: Type.Object({
      type: Word,
      ...ProviderChoice,
    }),
    response: Session,
    status: 201,
    errors: CREATING,
    handler: async ({ params, body }, service) => {
      const session = await createSession(service, params.id, body);
      return created(`/cases/${params.id}/sessions/${session.id}`, session);
    },
  }),
  route({
    method: 'GET',
    path: '/cases/{id}/usage',
    summary: 'Add up what the sessions of a Work item used',
    description:
      'null where no agent told it; `at_least` where a turn was cut off before its agent told all.',
    params: CasePath,
    response: Type.Object(
      { sessions: Type.Integer({ description: 'Those that told anything' }), ...Usage.properties },
      { $id: 'CaseUsage' },
    ),
    errors: ['not_found'],
    handler: ({ params }, service) => usageOf(service, params.id),
  }),
  route({
    method: 'GET',
    path: '/cases/{id}/sessions/{sid}',
    summary: 'Read a session',
    params: SessionPath,
    response: Session,
    errors: ['not_found', 'unreadable_record'],
    handler: ({ params }, service) => getSession(service, params.id, params.sid),
  }),
  route({
    method: 'GET',
    path: '/cases/{id}/sessions/{sid}/plan',
    summary: 'Read plan.md: the plan proposed, edited or approved',
    description:
      'With `which=approved` the text that was approved, and runs, as approved.md keeps it. `plan_edited` of the session says whether plan.md is another one since. What nobody would see is shown, as `␛` or `⟦U+202E⟧`; ETag and `plan_sha256` are of the file as it is.',
    params: SessionPath,
    query: Type.Object({ which: Type.Optional(Type.Enum(['current', 'approved'])) }),
    response: Type.String(),
    produces: 'text/markdown',
    errors: ['not_found', 'unreadable_record'],
    handler: async ({ params, query }, service) => {
      return visibleMarkdown(await getPlan(service, params.id, params.sid, query.which));
    },
  }),
  route({
    method: 'PUT',
    path: '/cases/{id}/sessions/{sid}/plan',
    summary: 'Replace plan.md before it is approved, as an edit by hand would',
    params: SessionPath,
    body: Type.String(),
    consumes: 'text/markdown',
    response: Type.String(),
    produces: 'text/markdown',
    conditional: true,
    errors: ['not_found', 'unreadable_record', 'invalid_state', 'precondition_failed', 'file_busy'],
    handler: async ({ params, body, ifMatch }, service) => {
      return visibleMarkdown(
        await putPlan(service, params.id, params.sid, {
          content: body,
          ifMatch,
        }),
      );
    },
  }),
  route({
    method: 'POST',
    path: '/cases/{id}/sessions/{sid}/approve',
    summary: 'Approve the plan and move the session to Work mode',
    description:
      'The operator gate. What runs is plan.md as it stands now, kept byte for byte as approved.md; with `plan_sha256` only if that is the plan that was read. The stream tells it as `approved`.',
    params: SessionPath,
    body: Type.Optional(Type.Object({ plan_sha256: Type.Optional(Sha256) })),
    response: Session,
    errors: [
      'planning_gate_closed',
      'not_found',
      'lock_held',
      'unreadable_record',
      'work_mode_active',
      'trust_needed',
      'invalid_state',
      'plan_not_ready',
      'plan_empty',
      'plan_changed',
      'plan_hides_text',
      'file_busy',
    ],
    handler: ({ params, body, key }, service) =>
      approvePlan(service, params.id, params.sid, { seen: body?.plan_sha256, key }),
  }),
  route({
    method: 'POST',
    path: '/cases/{id}/sessions/{sid}/revise',
    summary: 'Send the plan back: the agent plans again, from its plan and from this comment',
    description: 'Only a plan that waits is sent back; nothing of it was executed.',
    params: SessionPath,
    body: Type.Object({
      comment: Type.String({ minLength: 1, maxLength: 20_000, pattern: '\\S' }),
    }),
    response: Session,
    errors: [
      'not_found',
      'lock_held',
      'unreadable_record',
      'work_mode_active',
      'trust_needed',
      'invalid_state',
      'plan_not_ready',
    ],
    handler: ({ params, body }, service) =>
      revisePlan(service, params.id, params.sid, body.comment),
  }),
  route({
    method: 'POST',
    path: '/cases/{id}/sessions/{sid}/finish',
    summary: 'Say that manual work is done',
    description:
      'Only of a session of the manual provider, in Work mode: the answer comes once its diff is kept.',
    params: SessionPath,
    response: Session,
    errors: ['not_found', 'unreadable_record', 'invalid_state'],
    handler: ({ params }, service) => finishSession(service, params.id, params.sid),
  }),
  route({
    method: 'POST',
    path: '/cases/{id}/sessions/{sid}/permissions/{request_id}',
    operationId: 'answerPermission',
    summary: 'Answer what the agent asks leave for',
    description:
      'With the option `allow_prefix`, which the daemon adds for a plain command, this command and all plain ones of the session that begin with `prefix` (default: the whole command) are allowed; one with an operator of the shell in it is asked for still.',
    params: Type.Object({ id: Id, sid: Id, request_id: Type.String({ minLength: 1 }) }),
    body: Type.Object({
      option_id: Type.String({ minLength: 1 }),
      prefix: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
    }),
    response: Session,
    errors: ['not_found', 'unreadable_record'],
    handler: ({ params, body }, service) =>
      answerPermission(service, params.id, params.sid, {
        request_id: params.request_id,
        ...body,
      }),
  }),
  route({
    method: 'POST',
    path: '/cases/{id}/sessions/{sid}/questions/{question_id}',
    operationId: 'answerQuestion',
    summary: 'Answer what the agent asks',
    description:
      'With `content` for the fields of the question, as its `question_request` in the stream and `GET /attention` have them. The first answer holds. It goes to the agent and into the files of the session, and approves nothing.',
    params: Type.Object({ id: Id, sid: Id, question_id: Id }),
    body: QuestionAnswer,
    response: Session,
    errors: ['not_found', 'unreadable_record', 'question_closed', 'answer_invalid'],
    handler: ({ params, body }, service) =>
      answerQuestion(service, params.id, params.sid, {
        question_id: params.question_id,
        ...body,
      }),
  }),
  route({
    method: 'GET',
    path: '/cases/{id}/sessions/{sid}/diff',
    summary: 'Read what the session changed, as a patch',
    description: 'diff.patch as it was kept when the work was over, or was stopped; 404 before.',
    params: SessionPath,
    response: Type.String(),
    produces: 'text/x-diff',
    errors: ['not_found', 'unreadable_record'],
    handler: async ({ params }, service) =>
      patchAnswer(await getDiff(service, params.id, params.sid)),
  }),
  route({
    method: 'GET',
    path: '/cases/{id}/sessions/{sid}/stream',
    summary: "Follow a session's execution events; the stream ends after `complete`",
    description: 'Server-sent events, or those so far as JSON where Accept prefers it.',
    params: SessionPath,
    produces: 'text/event-stream',
    stream: SESSION_STREAM,
    errors: ['not_found', 'unreadable_record'],
    handler: ({ params }, service) => getStream(service, params.id, params.sid),
  }),
];
