import type { RunEvent } from '../../store/records/run-event.ts';
import { type LaunchDeps, type Placed, viewBefore } from './launch.ts';

/**
 * Adds a `sandbox_limit` event after a failed tool call for each limit of the sandbox that its output points to, once in a
 * turn.
 */
export const reportSandboxLimits = (
  spec: Placed,
  tell: (event: RunEvent) => void,
  deps: Pick<LaunchDeps, 'env' | 'network' | 'sandbox'>,
): ((event: RunEvent) => void) => {
  const told = new Set<string>();
  const view = viewBefore(spec, deps);
  return (event) => {
    tell(event);
    if (event.type !== 'tool_call' || !hasFailed(event.data)) return;
    const { tool_call_id, output = '' } = event.data;
    for (const limit of deps.sandbox.explain(output, view)) {
      if (told.has(limit)) continue;
      told.add(limit);
      tell({ type: 'sandbox_limit', data: { tool_call_id, message: sentence(limit) } });
    }
  };
};

type Call = Extract<RunEvent, { type: 'tool_call' }>['data'];

const hasFailed = ({ status, exit_code = 0 }: Call): boolean =>
  status === 'failed' || (status === 'completed' && exit_code !== 0);

const sentence = (clause: string): string =>
  `${clause.slice(0, 1).toUpperCase()}${clause.slice(1)}.`;
