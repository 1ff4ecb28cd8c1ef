import { randomUUID } from 'node:crypto';
import { readCase } from '../../store/cases.ts';
import type { Session } from '../../store/records/session.ts';
import { createSession as keepSession, readSession } from '../../store/sessions/sessions.ts';
import { update } from '../cases/change.ts';
import { isClosed } from '../cases/moves.ts';
import { repositoryOf } from '../cases/project.ts';
import { refuseSession } from '../conflicts/under-way.ts';
import { notFound, ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { begin } from './launch.ts';

export interface NewSession {
  type: string;
  provider?: string;
  /** The id that it is to have. */
  id?: string;
  /** What the operator says to it. */
  comment?: string;
}

/** Makes a session. It starts in Plan mode at once when the lock is free, else it waits its turn. */
export const createSession = async (
  service: Service,
  caseId: string,
  { type, provider, id = randomUUID(), comment }: NewSession,
): Promise<Session> => {
  const item = await readCase(service.store, caseId);
  if (item === undefined) throw notFound('Work item', caseId);
  if (isClosed(item.state)) {
    throw new ServiceError(
      'invalid_state',
      `The Work item is ${item.state}. Set its state to OPEN first, then create a session.`,
    );
  }
  checkRepository(service, item.project);
  refuseSession(service, caseId, type);
  const matter = {
    id,
    type,
    mode: 'plan' as const,
    status: 'queued' as const,
    provider: checkProvider(service, provider),
    machine: service.store.machine,
    created_at: service.clock().toISOString(),
    ...(comment !== undefined && { comment }),
  };
  await checkFollows(service, caseId);
  const kept = await keepSession(service.store, caseId, matter);
  if (kept === undefined) throw notFound('Work item', caseId);
  await begin(service, caseId, matter.id);
  return readSession(service.store, caseId, matter.id)?.session ?? kept.session;
};

// A session takes its Work item along: 409 `unreadable_record` while that cannot be written.
const checkFollows = async (service: Service, caseId: string): Promise<void> => {
  await update(service, caseId, () => undefined);
};

const checkRepository = (service: Service, project: string): void => {
  if (repositoryOf(service, project) !== undefined) return;
  throw new ServiceError(
    'no_repository',
    `The project ${project} has no git repository. Start the daemon with --repo DIR, or name it under projects in workspace.md.`,
  );
};

/** The name of a provider that there is: the one wanted, or that of the settings. Throws `bad_request`. */
export const checkProvider = (service: Service, wanted: string | undefined): string => {
  const providers = service.providers();
  const name = wanted ?? providers.chosen;
  if (providers.get(name) !== undefined) return name;
  throw new ServiceError(
    'bad_request',
    `There is no provider ${name}. The providers are runbook, manual and those in workspace.md.`,
    {
      errors: [{ path: '/provider', message: 'is not known' }],
    },
  );
};
