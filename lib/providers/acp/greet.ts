import { randomUUID } from 'node:crypto';
import { cleanEnvironment } from '../../tools/environment.ts';
import { startProgram } from '../../tools/spawn.ts';
import { within } from '../../tools/within.ts';
import { UNATTENDED } from '../launch.ts';
import type { AcpAgent } from '../presets.ts';
import { connectAgent } from './connection.ts';
import { describeFailure } from './failure.ts';
import type { AcpDeps } from './run.ts';
import { type AgentHello, initialize } from './session.ts';

// An agent that is ready after 3 s on an idle machine takes ten times as long on a busy one.
const PROBE_MS = 30_000;

/**
 * Starts the agent only to shake hands: no prompt, no session, nothing of the workspace. Answers what it is, or why it
 * cannot be used.
 */
export const greet = async (
  agent: AcpAgent,
  { env, runs }: AcpDeps,
): Promise<AgentHello | string> => {
  const clean = cleanEnvironment(env, { ...UNATTENDED, ...agent.env });
  const marker = randomUUID();
  const program = startProgram({
    ...{ argv: agent.argv, cwd: clean.HOME ?? '/', env: clean },
    ...{ marker, runs, loopback: true },
  });
  const connection = connectAgent(program, {
    onNotification: () => undefined,
    onPermission: async () => ({ outcome: { outcome: 'cancelled' } }),
    onUnknownRequest: () => undefined,
  });
  const hello = initialize(connection);
  const failure = hello.then(
    () => undefined,
    (error: unknown) => describeFailure(error, connection, program),
  );
  try {
    if (!(await within(failure, PROBE_MS)))
      return `${agent.argv[0]} did not answer within ${PROBE_MS / 1000} s.`;
    return (await failure) ?? (await hello);
  } finally {
    await program.end();
  }
};
