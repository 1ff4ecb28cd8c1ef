import { Type } from 'typebox';
import { created } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { listMessages, sayToSession } from '../lib/work/sessions/lifecycle/send-message.ts';
import { textOf } from '../store/records/fields.ts';
import { SessionMessage } from '../store/records/message.ts';
import { CREATING } from './problems.ts';

export const sessionMessageRoutes = [
  route('GET /cases/{id}/sessions/{sid}/messages', {
    operationId: 'listMessages',
    summary: "List the operator's messages to a session, oldest first",
    description: 'Includes the comment with which it was created.',
    response: Type.Array(SessionMessage),
    errors: ['unreadable_record'],
    handler: ({ params }, service) => listMessages(service, params.id, params.sid),
  }),
  route('POST /cases/{id}/sessions/{sid}/messages', {
    operationId: 'sendMessage',
    summary: 'Send a message to a session',
    description: `The agent reads it after the current tool call; with \`now\` the agent is interrupted, and its open requests are
cancelled. A message answers no permission request and does not leave Plan mode: a plan that is ready is sent back with it. In
Work mode the text of the message is approved, and nothing else. A paused session receives it when it is resumed. If the session
has ended, another one is created in the same worktree; \`session_id\` of the answer is its id. It plans with the message, or with
\`approve\` executes the message as its plan.`,
    body: Type.Object({
      text: textOf('notBlank', { minLength: 1, maxLength: 20_000 }),
      now: Type.Optional(Type.Boolean({ description: 'Interrupt the agent' })),
      approve: Type.Optional(
        Type.Boolean({
          description:
            'Only for a session that has ended: the text is the approved plan of the next one',
        }),
      ),
    }),
    response: SessionMessage,
    status: 201,
    errors: [
      'lock_held',
      'rebase_in_progress',
      'approved_elsewhere',
      'planning_gate_closed',
      'plan_hides_text',
      ...CREATING,
    ],
    handler: async ({ params, body, key }, service) => {
      const message = await sayToSession(service, params.id, params.sid, { ...body, key });
      return created(`/cases/${params.id}/sessions/${message.session_id}`, message);
    },
  }),
];
