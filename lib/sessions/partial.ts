import type { WorktreeRecord } from '../../store/records/worktree.ts';
import type { KeptSession } from '../../store/sessions/sessions.ts';
import type { TranscriptEvent } from '../../store/sessions/transcript.ts';
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
    done: doneCalls(service.engine.transcript(kept).soFar(0)),
  };
};

/** What was told since the plan was approved. */
export const workEvents = (events: readonly TranscriptEvent[]): TranscriptEvent[] => {
  const began = events.findIndex(({ event, data }) => event === 'status' && data.mode === 'work');
  return began === -1 ? [] : events.slice(began);
};

const doneCalls = (events: readonly TranscriptEvent[]): string[] => {
  const done = workEvents(events)
    .filter(({ event, data }) => event === 'tool_call' && data.status === 'completed')
    .map(({ data }) => String(data.tool_call_id));
  return [...new Set(done)];
};
