import { Type } from 'typebox';
import { route } from '../lib/http/route.ts';
import { attachedTerminal, detachTerminal } from '../lib/work/sessions/lifecycle/attach.ts';
import { Session } from '../store/records/session.ts';

const Launch = Type.Object(
  {
    argv: Type.Array(Type.String()),
    env: Type.Record(Type.String(), Type.String(), {
      description: 'Its whole environment, with the credentials of the agent',
    }),
    cwd: Type.String(),
  },
  { $id: 'TerminalLaunch', description: 'A program to start at a terminal' },
);

export const sessionAttachRoutes = [
  route('POST /cases/{id}/sessions/{sid}/attach', {
    operationId: 'attachTerminal',
    summary: "Attach the agent's own terminal interface to a waiting session",
    description:
      'For `dossier attach`, which starts the program of the first line at its terminal. The program is attached until the connection closes: then all its processes are ended. Only for a paused session or a plan that is ready, with an enforced sandbox, and an agent that can continue the conversation. Sandbox and network are those of the mode of the session. Until it ends, the session cannot be approved, resumed or revised.',
    response: Launch,
    produces: 'application/x-ndjson',
    errors: [
      'lock_held',
      'session_active',
      'terminal_attached',
      'approved_elsewhere',
      'approval_mismatch',
      'plan_changed',
      'unreadable_record',
      'worktree_busy',
      'worktree_elsewhere',
      'worktree_missing',
      'worktree_tampered',
      'trust_needed',
      'invalid_state',
      'attach_unsupported',
      'provider_failed',
    ],
    handler: ({ params: { id, sid } }, service) => attachedTerminal(service, id, sid),
  }),
  route('DELETE /cases/{id}/sessions/{sid}/attach', {
    operationId: 'detachTerminal',
    summary: "End the agent's terminal interface, and read the session with what was recorded",
    description: 'Ends all its processes. The status of the session stays.',
    response: Session,
    errors: ['unreadable_record', 'invalid_state'],
    handler: ({ params: { id, sid } }, service) => detachTerminal(service, id, sid),
  }),
];
