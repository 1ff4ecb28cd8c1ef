import type { WorktreeRecord } from '../../store/records/worktree.ts';
import type { KeptSession } from '../../store/sessions/sessions.ts';
import type { PartialWork } from '../providers/provider.ts';
import type { Service } from '../service.ts';
import { status } from '../tools/git/status.ts';

/** What a Work run that was stopped has done so far, so that the next goes on where it stopped. */
export const partialWork = async (
  service: Service,
  kept: KeptSession,
  worktree: WorktreeRecord,
): Promise<PartialWork> => {
  const { files } = await status(service.git, worktree);
  return {
    files: files.map(({ code, path }) => `${code} ${path}`),
    done: (await workCalls(service, kept))
      .filter(({ status }) => status === 'completed')
      .map(({ id }) => id),
  };
};

/** A tool call of Work mode, as it was told last. */
export interface WorkCall {
  id: string;
  title: string;
  kind: string;
  status: string;
}

/** The tool calls since the plan was approved, each once, in the order in which they began. */
export const workCalls = async (
  { engine }: Service,
  kept: KeptSession,
): Promise<readonly WorkCall[]> => {
  const calls = new Map<string, WorkCall>();
  let working = false;
  for await (const events of engine.transcript(kept).soFar(0)) {
    for (const { event, data } of events) {
      working ||= event === 'status' && data.mode === 'work';
      if (working && event === 'tool_call') calls.set(String(data.tool_call_id), callOf(data));
    }
  }
  return [...calls.values()];
};

const callOf = ({ tool_call_id, title, kind, status }: Record<string, unknown>): WorkCall => ({
  id: String(tool_call_id),
  title: String(title),
  kind: String(kind),
  status: String(status),
});
