import { isEnded } from '../../store/records/session.ts';
import { type KeptSession, listSessions } from '../../store/sessions.ts';
import { getCase } from '../cases/read.ts';
import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { decided } from './decide.ts';

/** The session that holds the lock, or the oldest that has not ended. 422 when there is none. */
export const activeSession = async (service: Service, caseId: string): Promise<KeptSession> => {
  await getCase(service, caseId);
  await decided(service, caseId);
  const open = (listSessions(service.store, caseId) ?? []).filter(
    ({ session }) => !isEnded(session.status),
  );
  const active = open.find(({ session }) => session.status !== 'queued') ?? open[0];
  if (active === undefined)
    throw new ServiceError('invalid_state', 'The Work item has no active session.');
  return active;
};
