import { route } from '../lib/http/route.ts';
import { abortSession, resumeSession } from '../lib/sessions/control.ts';
import { Session } from '../store/records/session.ts';
import { CasePath } from './cases.ts';

export const sessionControlRoutes = [
  route({
    method: 'POST',
    path: '/api/cases/{id}/session/resume',
    operatorOnly: true,
    summary: "Go on with the Work item's paused session",
    params: CasePath,
    response: Session,
    errors: ['not_found', 'lock_held', 'unreadable_record', 'invalid_state', 'plan_changed'],
    handler: ({ params }, service) => resumeSession(service, params.id),
  }),
  route({
    method: 'POST',
    path: '/api/cases/{id}/session/abort',
    operatorOnly: true,
    summary: "Abort the Work item's active session; this cannot be undone",
    params: CasePath,
    response: Session,
    errors: ['not_found', 'unreadable_record', 'invalid_state'],
    handler: ({ params }, service) => abortSession(service, params.id),
  }),
];
