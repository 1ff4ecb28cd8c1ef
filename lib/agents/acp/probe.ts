import { randomUUID } from 'node:crypto';
import { settlesWithin } from '../../../store/base/async.ts';
import { inStateScratch, openRunState } from '../../sandbox/state/open.ts';
import { ANSWER_LIMITS, type Launchable, launch } from '../launch.ts';
import type { AcpAgent } from '../presets.ts';
import { connectAgent } from './connection.ts';
import { describeFailure } from './failure.ts';
import type { AcpDeps } from './run.ts';
import { type AgentHello, initialize } from './session.ts';

// An agent that takes 3 s on an idle machine takes ten times as long on a busy one.
const PROBE_MS = 30_000;

/**
 * Starts the agent only for the `initialize` request: no prompt, no session, no access to the workspace. Returns its answer,
 * or why it cannot be used.
 */
export const probeAgent = (agent: AcpAgent, deps: AcpDeps): Promise<AgentHello | string> =>
  inStateScratch(deps.states, async (cwd, name) => {
    const own =
      deps.sandbox.kind === 'none'
        ? undefined
        : await openRunState(
            agent.state,
            { within: deps.states, name, keepAside: deps.keepAside },
            { cwd },
          );
    try {
      return await shakeHands(agent, { cwd, binds: own?.binds ?? [] }, deps);
    } finally {
      // Returns a refreshed login; the old one may no longer be valid.
      await own?.close();
    }
  });

const shakeHands = async (
  agent: AcpAgent,
  { cwd, binds }: Pick<Launchable, 'cwd' | 'binds'>,
  deps: AcpDeps,
): Promise<AgentHello | string> => {
  const view = { cwd, phase: 'plan' as const, writable: [], kept: [], hidden: [deps.states] };
  const program = launch(
    { ...view, binds: binds ?? [], run_marker: randomUUID(), limits: ANSWER_LIMITS },
    { argv: agent.argv, env: agent.env },
    deps,
  );
  const connection = connectAgent(program, {
    onNotification: () => undefined,
    onPermission: async () => ({ outcome: { outcome: 'cancelled' } }),
    onQuestion: async () => ({ action: 'cancel' }),
    onUnknownRequest: () => undefined,
  });
  const hello = initialize(connection);
  const failure = hello.then(
    () => undefined,
    (error: unknown) => describeFailure(error, connection, program),
  );
  try {
    if (!(await settlesWithin(failure, PROBE_MS)))
      return `${agent.argv[0]} did not answer within ${PROBE_MS / 1000} s.`;
    return (await failure) ?? (await hello);
  } finally {
    await program.end();
  }
};
