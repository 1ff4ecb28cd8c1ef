import { Type } from 'typebox';
import { created } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { listMessages, sayToSession } from '../lib/work/sessions/lifecycle/send-message.ts';
import { SessionMessage } from '../store/records/message.ts';
import { CREATING } from './problems.ts';

export const sessionMessageRoutes = [
  route('GET /cases/{id}/sessions/{sid}/messages', {
    operationId: 'listMessages',
    summary: 'List what the operator said to a session, oldest first',
    description: 'With the comment that it was created with.',
    response: Type.Array(SessionMessage),
    errors: ['unreadable_record'],
    handler: ({ params }, service) => listMessages(service, params.id, params.sid),
  }),
  route('POST /cases/{id}/sessions/{sid}/messages', {
    operationId: 'sendMessage',
    summary: 'Send a message to a session',
    description: `The agent reads it after the tool call that runs; with \`now\` what runs is interrupted, and what the agent asks is
cancelled. A message answers no permission and leaves no Plan mode: a plan that waits is sent back with it. In Work mode its own
text is approved, and nothing else. A paused session reads it when it is resumed. To a session that has ended it creates another
one in the same worktree, which plans with it, or, with \`approve\`, works from it as its plan; \`session_id\` of the answer says
which.`,
    body: Type.Object({
      text: Type.String({ minLength: 1, maxLength: 20_000, pattern: '\\S' }),
      now: Type.Optional(Type.Boolean({ description: 'Interrupt what the agent does' })),
      approve: Type.Optional(
        Type.Boolean({
          description:
            'Only to a session that has ended: the text is the plan of the next one, approved by its hash',
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
      'file_busy',
      ...CREATING,
    ],
    handler: async ({ params, body, key }, service) => {
      const message = await sayToSession(service, params.id, params.sid, { ...body, key });
      return created(`/cases/${params.id}/sessions/${message.session_id}`, message);
    },
  }),
];
