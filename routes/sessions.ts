import { Type } from 'typebox';
import { created, markdown, visibleMarkdown } from '../lib/http/answer.ts';
import { PageQuery, page } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import {
  answerPermission,
  answerQuestion,
  finishSession,
} from '../lib/work/sessions/lifecycle/answers.ts';
import { approvePlan, revisePlan } from '../lib/work/sessions/lifecycle/approve.ts';
import { boundaryOfSession } from '../lib/work/sessions/lifecycle/boundary.ts';
import { createSession } from '../lib/work/sessions/lifecycle/create.ts';
import { getSession, listSessions, usageOf } from '../lib/work/sessions/lifecycle/read.ts';
import {
  getComments,
  getPlan,
  putComments,
  putPlan,
} from '../lib/work/sessions/lifecycle/session-texts.ts';
import { Boundary } from '../store/records/boundary.ts';
import { Sha256, Word } from '../store/records/id.ts';
import { QuestionAnswer } from '../store/records/question.ts';
import { ProviderChoice, Session, Usage } from '../store/records/session.ts';
import { BASE, GIVES_MARKDOWN, optionalBody, TAKES_MARKDOWN } from './fields.ts';
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
    summary: 'Create a session; it starts in Plan mode, or waits while another holds the lock',
    description:
      'The plan waits for the operator: nothing of it is executed before it is approved.',
    body: Type.Object({
      type: Word,
      ...ProviderChoice,
      comment: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 20_000,
          pattern: '\\S',
          description: 'What the operator says to it: feedback on what a former session did, say',
        }),
      ),
      base: BASE,
    }),
    response: Session,
    status: 201,
    errors: ['already_exists', 'rebase_in_progress', ...CREATING],
    handler: async ({ params, body }, service) => {
      const session = await createSession(service, params.id, body);
      return created(`/cases/${params.id}/sessions/${session.id}`, session);
    },
  }),
  route('GET /cases/{id}/usage', {
    summary: 'Add up what the sessions of a Work item used',
    description:
      'null where no agent told it; `at_least` where a turn was cut off before its agent told all.',
    response: Type.Object(
      { sessions: Type.Integer({ description: 'Those that told anything' }), ...Usage.properties },
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
    summary: 'Read what shuts a session in once its plan is approved, and what it may do unasked',
    description:
      'As the settings that hold want it now: sandbox, network, permissions; and the commands of the plan that run without asking, less those in `ask`. 404 too where the settings name its provider no more.',
    query: Type.Object({
      ask: Type.Optional(
        Type.String({
          maxLength: 100_000,
          description:
            'Commands of that list that are asked for all the same, each on its own line',
        }),
      ),
    }),
    response: Boundary,
    errors: ['unreadable_record', 'worktree_elsewhere'],
    handler: ({ params: { id, sid }, query }, service) =>
      boundaryOfSession(service, { caseId: id, id: sid, ask: query.ask?.split('\n') }),
  }),
  route('GET /cases/{id}/sessions/{sid}/plan', {
    summary: 'Read plan.md: the plan proposed, edited or approved',
    description:
      'With `which=approved` the text that was approved, and runs, as approved.md keeps it; with `which=sent_back` the plan that was sent back last. `plan_edited` of the session says whether plan.md is another one since. What nobody would see is shown, as `␛` or `⟦U+202E⟧`; ETag and `plan_sha256` are of the file as it is.',
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
    errors: ['unreadable_record', 'invalid_state', 'file_busy'],
    handler: async ({ params, body, ifMatch }, service) =>
      visibleMarkdown(
        await putPlan(service, params.id, params.sid, {
          content: body,
          ifMatch,
        }),
      ),
  }),
  route('GET /cases/{id}/sessions/{sid}/comments', {
    summary: 'Read comments.md: what the operator says of the plan',
    description:
      'A quote of the plan, and below it the comment; a line `*Sent …*` ends what was sent together. Empty, with an ETag, where there is none yet.',
    ...GIVES_MARKDOWN,
    errors: ['unreadable_record'],
    handler: async ({ params }, service) =>
      markdown(await getComments(service, params.id, params.sid)),
  }),
  route('PUT /cases/{id}/sessions/{sid}/comments', {
    summary: 'Replace comments.md, as an edit by hand would',
    description: 'It is outside of the hash of the plan, and told to the agent by `revise` alone.',
    ...TAKES_MARKDOWN,
    body: Type.String({ maxLength: 262_144 }),
    ...GIVES_MARKDOWN,
    conditional: true,
    errors: ['unreadable_record', 'file_busy'],
    handler: async ({ params, body, ifMatch }, service) =>
      markdown(await putComments(service, params.id, params.sid, { content: body, ifMatch })),
  }),
  route('POST /cases/{id}/sessions/{sid}/approve', {
    summary: 'Approve the plan and move the session to Work mode',
    description:
      'The operator gate. What runs is plan.md as it stands now, kept byte for byte as approved.md; with `plan_sha256` only if that is the plan that was read. `approval_sha256` of GET …/boundary approves the commands that it lists, too: they run without asking; `ask` names those that were taken out of the list. Without it each command is asked for, unless the settings allow it. The stream tells it as `approved`.',
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
      'file_busy',
    ],
    handler: ({ params, body: { plan_sha256: seen, ...unasked } = {}, key }, service) =>
      approvePlan(service, params.id, params.sid, { seen, ...unasked, key }),
  }),
  route('POST /cases/{id}/sessions/{sid}/revise', {
    summary: 'Send the plan back: the agent plans again, from its plan and from this comment',
    description:
      'Only a plan that waits is sent back; nothing of it was executed. Without `comment` what comments.md says that was not sent yet is sent, and noted there as sent; with it comments.md stays as it is.',
    body: optionalBody({
      comment: Type.Optional(Type.String({ minLength: 1, maxLength: 20_000, pattern: '\\S' })),
    }),
    response: Session,
    errors: ABOUT_A_PLAN,
    handler: ({ params, body }, service) =>
      revisePlan(service, params.id, params.sid, body?.comment),
  }),
  route('POST /cases/{id}/sessions/{sid}/finish', {
    summary: 'Say that manual work is done',
    description:
      'Only of a session of the manual provider, in Work mode: the answer comes once its diff is kept.',
    response: Session,
    errors: ['unreadable_record', 'invalid_state'],
    handler: ({ params }, service) => finishSession(service, params.id, params.sid),
  }),
  route('POST /cases/{id}/sessions/{sid}/permissions/{request_id}', {
    operationId: 'answerPermission',
    summary: 'Answer what the agent asks leave for',
    description:
      'With the option `allow_prefix`, which the daemon adds for a plain command, this command and all plain ones of the session that begin with `prefix` (default: the whole command) are allowed; one with an operator of the shell in it is asked for still. `allow_project` allows the same in all sessions of the project, until `DELETE /trusted/{key}`.',
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
    summary: 'Answer what the agent asks',
    description:
      'With `content` for the fields of the question, as its `question_request` in the stream and `GET /attention` have them. The first answer holds. It goes to the agent and into the files of the session, and approves nothing.',
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
