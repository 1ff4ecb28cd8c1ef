import { isAbsolute } from 'node:path';
import { cleanEnvironment } from '../tools/environment.ts';
import { findProgram } from '../tools/find-program.ts';
import type { AcpDeps } from './acp-run.ts';
import type { AcpAgent } from './presets.ts';
import type { Provider, ProviderInfo } from './provider.ts';
import { failedRun, lateRun } from './run-end.ts';

const UNAVAILABLE_MS = 30_000;

/**
 * Any agent that speaks the Agent Client Protocol on standard input and output, one process for each turn. An agent
 * that answered once is taken to be there; that it is not is asked again after 30 s. The protocol's code is loaded when
 * the first agent is needed: most starts of the daemon do without.
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
      const loading = import('./acp-run.ts');
      return lateRun(loading.then(({ startAcpRun }) => startAcpRun(agent, spec, tell, deps)));
    },
  };
};

const probe = async (agent: AcpAgent, deps: AcpDeps): Promise<ProviderInfo> => {
  const isolation = deps.sandbox.kind === 'none' ? 'checked' : 'enforced';
  const base = { id: agent.id, kind: 'acp', isolation } as const;
  const missing = whatIsMissing(agent, deps);
  if (missing !== undefined) return { ...base, available: false, reason: missing };
  const { greet } = await import('./acp-greet.ts');
  const hello = await greet(agent, deps);
  if (typeof hello === 'string') return { ...base, available: false, reason: hello };
  return {
    ...base,
    available: true,
    ...(hello.version !== undefined && { version: hello.version }),
  };
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
