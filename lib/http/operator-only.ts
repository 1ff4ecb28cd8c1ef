import type { Socket } from 'node:net';
import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import type { Credential } from './local-only.ts';

/** Refuses what an agent's own process asks for, unless it shows a credential: the API is the operator's. */
export const refuseAgents = async (
  { localPort, remotePort }: Pick<Socket, 'localPort' | 'remotePort'>,
  credential: Credential | undefined,
  service: Service,
): Promise<void> => {
  if (credential !== undefined) return;
  if (localPort === undefined || remotePort === undefined) return;
  if (!(await service.comesFromAgent({ localPort, remotePort }))) return;
  throw new ServiceError(
    'not_operator',
    'This call comes from a process of a session that is running. Make it from a shell of your own: an agent decides nothing.',
  );
};
