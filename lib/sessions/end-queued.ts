import { listSessions } from '../../store/sessions/sessions.ts';
import type { Service } from '../service.ts';
import { decide } from './decide.ts';
import { abort } from './rules.ts';

/** Ends the sessions of this type that only wait: what they were to be about is no more. */
export const endQueued = async (service: Service, caseId: string, type: string): Promise<void> => {
  const at = service.clock().toISOString();
  for (const { session } of listSessions(service.store, caseId) ?? []) {
    if (session.type !== type || session.status !== 'queued' || session.elsewhere === true)
      continue;
    await decide(service, caseId, session.id, (current, matter) =>
      current.status === 'queued' ? abort(at)(current, matter) : undefined,
    );
  }
};
