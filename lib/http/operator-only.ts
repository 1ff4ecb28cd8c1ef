import type { Socket } from 'node:net';
import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';

/** Refuses a decision that an agent's own process asks for: approving and verifying is the operator's. */
export const refuseAgents = async (
  { localPort, remotePort }: Pick<Socket, 'localPort' | 'remotePort'>,
  service: Service,
): Promise<void> => {
  if (localPort === undefined || remotePort === undefined) return;
  if (!(await service.comesFromAgent({ localPort, remotePort }))) return;
  throw new ServiceError(
    'not_operator',
    'This call comes from a process of a session that is running. Make it from a shell of your own: an agent decides nothing.',
  );
};
