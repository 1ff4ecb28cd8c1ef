import { Type } from 'typebox';
import { markdown, visibleMarkdown } from '../lib/http/answer.ts';
import { PageQuery, page } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import {
  answerPermission,
  answerQuestion,
  finishSession,
} from '../lib/work/sessions/lifecycle/answers.ts';
import { approvePlan, revisePlan } from '../lib/work/sessions/lifecycle/approve.ts';
import { getBoundary } from '../lib/work/sessions/lifecycle/boundary.ts';
import { createSession } from '../lib/work/sessions/lifecycle/create.ts';
import { getSession, listSessions, usageOf } from '../lib/work/sessions/lifecycle/read.ts';
import {
  getComments,
  getPlan,
  putComments,
  putPlan,
} from '../lib/work/sessions/lifecycle/session-texts.ts';
import { Boundary } from '../store/records/boundary.ts';
import { Sha256, textOf, Word } from '../store/records/fields.ts';
import { QuestionAnswer } from '../store/records/question.ts';
import { ProviderChoice, Session, Usage } from '../store/records/session.ts';
import { BASE, createdSession, GIVES_MARKDOWN, optionalBody, TAKES_MARKDOWN } from './fields.ts';
import { CREATING } from './problems.ts';

const ABOUT_A_PLAN = [
  'lock_held',
  'unreadable_record',
  'work_mode_active',
  'approved_elsewhere',
  'trust_needed',
  'invalid_state',
  'plan_not_ready',
] as const;

export const sessionRoutes = [
  route('GET /cases/{id}/sessions', {
    summary: 'List the sessions of a Work item, oldest first',
    query: Type.Object(PageQuery),
    response: Type.Array(Session),
    handler: async ({ params, query }, service) =>
      page(await listSessions(service, params.id), query, `/cases/${params.id}/sessions`),
  }),
  route('POST /cases/{id}/sessions', {
    summary:
      'Create a session, which starts in Plan mode, or is queued while the session lock is held',
    description: 'Nothing of the plan is executed before the operator approves it.',
    body: Type.Object({
      type: Word,
      ...ProviderChoice,
      comment: Type.Optional(
        textOf('notBlank', {
          minLength: 1,
          maxLength: 20_000,
          description: 'A comment for the agent, such as feedback on an earlier session',
        }),
      ),
      base: BASE,
    }),
    response: Session,
    status: 201,
    errors: ['already_exists', 'rebase_in_progress', ...CREATING],
    handler: async ({ params, body }, service) =>
      createdSession(await createSession(service, params.id, body)),
  }),
  route('GET /cases/{id}/usage', {
    summary: 'Read the total usage of all sessions of a Work item',
    description:
      'A value is null if no agent reported it. `at_least` if a turn was interrupted before its agent reported everything.',
    response: Type.Object(
      {
        sessions: Type.Integer({ description: 'The number of sessions that reported usage' }),
        ...Usage.properties,
      },
      { $id: 'CaseUsage' },
    ),
    handler: ({ params }, service) => usageOf(service, params.id),
  }),
  route('GET /cases/{id}/sessions/{sid}', {
    summary: 'Read a session',
    response: Session,
    errors: ['unreadable_record'],
    handler: ({ params }, service) => getSession(service, params.id, params.sid),
  }),
  route('GET /cases/{id}/sessions/{sid}/boundary', {
    summary: 'Read the boundary of a session: its isolation, and what it may do without asking',
    description:
      'By the current settings: sandbox, network, permissions, and the commands of the plan that run without asking, except those in `ask`. 404 also if its provider is no longer configured.',
    query: Type.Object({
      ask: Type.Optional(
        Type.String({
          maxLength: 100_000,
          description: 'Listed commands that must ask first, one per line',
        }),
      ),
    }),
    response: Boundary,
    errors: ['unreadable_record', 'worktree_elsewhere'],
    handler: ({ params: { id, sid }, query }, service) =>
      getBoundary(service, { caseId: id, id: sid, ask: query.ask?.split('\n') }),
  }),
  route('GET /cases/{id}/sessions/{sid}/plan', {
    summary: 'Read plan.md: the plan proposed, edited or approved',
    description:
      'With `which=approved` the approved text, which is executed, in approved.md; with `which=sent_back` the last plan that was sent back. `plan_edited` of the session says whether plan.md has changed since. Control and invisible characters are shown as `␛` or `⟦U+202E⟧`; ETag and `plan_sha256` are hashes of the file on disk.',
    query: Type.Object({ which: Type.Optional(Type.Enum(['current', 'approved', 'sent_back'])) }),
    ...GIVES_MARKDOWN,
    errors: ['unreadable_record'],
    handler: async ({ params, query }, service) =>
      visibleMarkdown(await getPlan(service, params.id, params.sid, query.which)),
  }),
  route('PUT /cases/{id}/sessions/{sid}/plan', {
    summary: 'Replace plan.md before it is approved, as an edit by hand would',
    ...TAKES_MARKDOWN,
    ...GIVES_MARKDOWN,
    conditional: true,
    errors: ['unreadable_record', 'invalid_state'],
    handler: async ({ params, body, ifMatch }, service) =>
      visibleMarkdown(await putPlan(service, params.id, params.sid, { content: body, ifMatch })),
  }),
  route('GET /cases/{id}/sessions/{sid}/comments', {
    summary: "Read comments.md, the operator's comments on the plan",
    description:
      'Each comment is below a quote of the plan; a line `*Sent …*` follows comments that were sent. Empty, with an ETag, if there is no file yet.',
    ...GIVES_MARKDOWN,
    errors: ['unreadable_record'],
    handler: async ({ params }, service) =>
      markdown(await getComments(service, params.id, params.sid)),
  }),
  route('PUT /cases/{id}/sessions/{sid}/comments', {
    summary: 'Replace comments.md, as an edit by hand would',
    description:
      'Comments are not part of the hash of the plan. Only `revise` sends them to the agent.',
    ...TAKES_MARKDOWN,
    body: Type.String({ maxLength: 262_144 }),
    ...GIVES_MARKDOWN,
    conditional: true,
    errors: ['unreadable_record'],
    handler: async ({ params, body, ifMatch }, service) =>
      markdown(await putComments(service, params.id, params.sid, { content: body, ifMatch })),
  }),
  route('POST /cases/{id}/sessions/{sid}/approve', {
    summary: 'Approve the plan and move the session to Work mode',
    description:
      'The operator gate. Copies plan.md byte for byte to approved.md, which is executed. With `plan_sha256`, only if that is the hash of the plan, so that you approve what you read. `approval_sha256` of GET …/boundary also approves the listed commands, which then run without asking; `ask` names those to exclude. Without it every command asks, unless the settings allow it. The stream contains an `approved` event.',
    body: optionalBody({
      plan_sha256: Type.Optional(Sha256),
      approval_sha256: Type.Optional(Sha256),
      ask: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 100 })),
    }),
    response: Session,
    errors: [
      'planning_gate_closed',
      ...ABOUT_A_PLAN,
      'plan_empty',
      'plan_changed',
      'plan_hides_text',
      'approval_mismatch',
      'worktree_missing',
      'worktree_elsewhere',
      'choice_needed',
      'other_session_active',
    ],
    handler: ({ params, body: { plan_sha256: seen, ...unasked } = {}, key }, service) =>
      approvePlan(service, params.id, params.sid, { seen, ...unasked, key }),
  }),
  route('POST /cases/{id}/sessions/{sid}/revise', {
    summary: 'Request changes to the plan: the agent plans again, with this comment',
    description:
      'Only for a plan that is ready and not approved. Without `comment`, sends the unsent comments of comments.md and marks them as sent; with `comment`, comments.md is not used.',
    body: optionalBody({
      comment: Type.Optional(textOf('notBlank', { minLength: 1, maxLength: 20_000 })),
    }),
    response: Session,
    errors: ABOUT_A_PLAN,
    handler: ({ params, body }, service) =>
      revisePlan(service, params.id, params.sid, body?.comment),
  }),
  route('POST /cases/{id}/sessions/{sid}/finish', {
    summary: 'Finish manual work',
    description:
      'Only for a session of the manual provider in Work mode. Returns after its diff is saved.',
    response: Session,
    errors: ['unreadable_record', 'invalid_state'],
    handler: ({ params }, service) => finishSession(service, params.id, params.sid),
  }),
  route('POST /cases/{id}/sessions/{sid}/permissions/{request_id}', {
    operationId: 'answerPermission',
    summary: 'Answer a permission request of the agent',
    description:
      'The option `allow_prefix`, which the daemon adds for a simple command, allows this command and all simple commands of the session that begin with `prefix` (default: the whole command). Commands with shell operators, and those with `other_arguments`, still ask. `allow_project` allows the same in all sessions of the project, until `DELETE /trusted/{key}`.',
    params: { request_id: Type.String({ minLength: 1 }) },
    body: Type.Object({
      option_id: Type.String({ minLength: 1 }),
      prefix: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
    }),
    response: Session,
    errors: ['unreadable_record'],
    handler: ({ params, body }, service) =>
      answerPermission(service, params.id, params.sid, {
        request_id: params.request_id,
        ...body,
      }),
  }),
  route('POST /cases/{id}/sessions/{sid}/questions/{question_id}', {
    operationId: 'answerQuestion',
    summary: 'Answer a question of the agent',
    description:
      '`content` has the fields of the question, which are in the `question_request` event and in `GET /attention`. Only the first answer counts. It is sent to the agent and stored with the session, and approves nothing.',
    body: QuestionAnswer,
    response: Session,
    errors: ['unreadable_record', 'question_closed', 'answer_invalid'],
    handler: ({ params, body }, service) =>
      answerQuestion(service, params.id, params.sid, {
        question_id: params.question_id,
        ...body,
      }),
  }),
];
