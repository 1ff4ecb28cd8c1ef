import { messageOf } from '../../../store/base/attempt.ts';
import { reportOncePerTarget } from '../../sandbox/egress/doors.ts';
import { askEnvironment } from '../ask-switches.ts';
import { isolationOf, lend, type ProviderDeps, whyUnavailable } from '../launch.ts';
import type { AcpAgent, TerminalProgram } from '../presets.ts';
import { withPrivateState } from '../private-state.ts';
import type { Run, RunEvent, RunResult, Terminal, TerminalSpec } from '../provider.ts';
import { plainRun } from '../run-end.ts';
import { openTranscript } from './transcript.ts';

/** The terminal interface of an agent, in the sandbox, with the network and the copy of the state of a turn. */
export const createTerminal = (
  agent: AcpAgent,
  program: TerminalProgram,
  deps: ProviderDeps,
): Terminal => ({
  missing: () => {
    if (isolationOf(deps) !== 'enforced') return notEnforced(deps);
    return whyUnavailable({ ...agent, ...program }, deps);
  },
  start: (spec, tell, ready) =>
    withPrivateState({ state: agent.state, spec, tell, deps }, (own) =>
      startAt({ agent, program, deps, tell, ready }, own),
    ),
});

// What the operator allows in the agent's own interface is limited by nothing but the sandbox.
const notEnforced = ({ sandbox, network }: ProviderDeps): string =>
  sandbox.kind === 'none'
    ? `The terminal interface of an agent needs an enforced sandbox, because you approve its actions there: ${sandbox.reason ?? 'there is none'} See sandbox in workspace.md.`
    : `The terminal interface of an agent needs an enforced sandbox, because you approve its actions there, and network: ${network.kind} lets a program get around it. Set network: proxy in workspace.md.`;

interface Context {
  agent: AcpAgent;
  program: TerminalProgram;
  deps: ProviderDeps;
  tell: (event: RunEvent) => void;
  ready: Parameters<Terminal['start']>[2];
}

const startAt = async (
  { agent, program, deps, tell, ready }: Context,
  spec: TerminalSpec,
): Promise<Run> => {
  const transcript = await openTranscript(agent, spec);
  const onNetwork = reportOncePerTarget((data) => tell({ type: 'network', data }));
  const argv = argvFor(program, spec);
  const env = {
    ...agent.env,
    ...(spec.phase === 'work' && askEnvironment(agent.asking, agent.env)),
  };
  const lent = lend(spec, { argv, env, onNetwork }, deps);
  const done = lent.ended.then(async (): Promise<RunResult> => {
    const said = await transcript.said().catch((error: unknown) => {
      tell({ type: 'agent_event', data: { kind: 'transcript_not_read', raw: messageOf(error) } });
      return [];
    });
    return { outcome: 'completed', said };
  });
  ready({ argv: lent.argv, env: lent.env, cwd: spec.cwd });
  const stop = async (): Promise<void> => {
    await lent.end();
    await done;
  };
  return plainRun(done, stop);
};

const argvFor = (
  { argv, plan = [] }: TerminalProgram,
  { phase, native_session_id }: TerminalSpec,
): string[] => [
  ...argv.map((word) => (word === PLACE ? native_session_id : word)),
  ...(phase === 'plan' ? plan : []),
];

const PLACE = '{session}';
