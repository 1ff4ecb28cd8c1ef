import { randomUUID } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { cleanEnvironment } from '../tools/environment.ts';
import { findProgram } from '../tools/find-program.ts';
import { startProgram } from '../tools/spawn.ts';
import { within } from '../tools/within.ts';
import { connectAgent } from './acp-connection.ts';
import { describeFailure } from './acp-failure.ts';
import { type AcpDeps, startAcpRun } from './acp-run.ts';
import { type AgentHello, initialize } from './acp-session.ts';
import { UNATTENDED } from './launch.ts';
import type { AcpAgent } from './presets.ts';
import type { Provider, ProviderInfo } from './provider.ts';
import { failedRun, messageOf } from './run-end.ts';

const PROBE_MS = 10_000;
const UNAVAILABLE_MS = 30_000;

/**
 * Any agent that speaks the Agent Client Protocol on standard input and output, one process for each turn. An agent
 * that answered once is taken to be there; that it is not is asked again after 30 s.
 */
export const createAcpProvider = (agent: AcpAgent, deps: AcpDeps): Provider => {
  let known: { info: Promise<ProviderInfo>; until: number } | undefined;
  return {
    probe: () => {
      if (known !== undefined && performance.now() < known.until) return known.info;
      const info = probe(agent, deps);
      const latest = { info, until: Number.POSITIVE_INFINITY };
      known = latest;
      return info.then((found) => {
        if (!found.available) latest.until = performance.now() + UNAVAILABLE_MS;
        return found;
      });
    },
    start: (spec, tell) => {
      const missing = whatIsMissing(agent, deps);
      if (missing !== undefined) return failedRun(missing);
      try {
        return startAcpRun(agent, spec, tell, deps);
      } catch (error) {
        return failedRun(`The agent could not be started: ${messageOf(error)}`);
      }
    },
  };
};

const probe = async (agent: AcpAgent, deps: AcpDeps): Promise<ProviderInfo> => {
  const isolation = deps.sandbox.kind === 'none' ? 'checked' : 'enforced';
  const base = { id: agent.id, kind: 'acp', isolation } as const;
  const missing = whatIsMissing(agent, deps);
  if (missing !== undefined) return { ...base, available: false, reason: missing };
  const hello = await greet(agent, deps);
  if (typeof hello === 'string') return { ...base, available: false, reason: hello };
  return {
    ...base,
    available: true,
    ...(hello.version !== undefined && { version: hello.version }),
  };
};

// Starts the agent only to shake hands; no prompt, no session, nothing of the workspace.
const greet = async (agent: AcpAgent, { env }: AcpDeps): Promise<AgentHello | string> => {
  const clean = cleanEnvironment(env, { ...UNATTENDED, ...agent.env });
  const marker = randomUUID();
  const program = startProgram({ argv: agent.argv, cwd: clean.HOME ?? '/', env: clean, marker });
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
    if (!(await within(failure, PROBE_MS))) return `${agent.argv[0]} did not answer within 10 s.`;
    return (await failure) ?? (await hello);
  } finally {
    await program.end();
  }
};

const whatIsMissing = (agent: AcpAgent, { env }: AcpDeps): string | undefined => {
  const [command = ''] = agent.argv;
  if (isAbsolute(command)) return undefined;
  // A path from here would be a file of the worktree, which is nobody's choice of agent.
  if (command.includes('/'))
    return `The command ${command} must be a name on the PATH or an absolute path.`;
  if (findProgram(command, cleanEnvironment(env, agent.env)) !== undefined) return undefined;
  return `${command} is not installed. ${agent.hint}`;
};
