import type { WorktreeRecord } from '../../store/records/worktree.ts';
import { awaitPlan } from '../../store/session-texts.ts';
import type { KeptSession } from '../../store/sessions.ts';
import { update } from '../cases/change.ts';
import { moveTo, unblock } from '../cases/moves.ts';
import { ServiceError } from '../errors.ts';
import type { Phase, PromptParts, RunEvent, RunResult } from '../providers/provider.ts';
import type { Service } from '../service.ts';

const IDLE_MS = 15 * 60_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;

export interface Turn {
  kept: KeptSession;
  phase: Phase;
  worktree: WorktreeRecord;
  prompt: PromptParts;
}

/** Runs the provider for one turn and writes what it tells into the transcript. Never rejects for what the agent does. */
export const runTurn = async (
  service: Service,
  { kept, phase, worktree, prompt }: Turn,
): Promise<RunResult> => {
  const { session, matter, dir } = kept;
  const provider = service.providers().get(session.provider);
  const live = service.engine.live.get(session.id);
  if (provider === undefined)
    throw new ServiceError(
      'provider_failed',
      `There is no provider ${session.provider} in the settings.`,
    );
  if (live === undefined || service.engine.closing) return { outcome: 'cancelled' };
  const { layout } = service.store;
  live.run = provider.start(
    {
      session_id: session.id,
      phase,
      cwd: worktree.path,
      session_dir: dir,
      prompt,
      run_marker: matter.run_marker ?? session.id,
      writable: phase === 'work' ? [worktree.common_dir] : [],
      kept: [`${worktree.common_dir}/hooks`, `${worktree.common_dir}/config`],
      hidden: [layout.dossier],
      limits: { idle_ms: IDLE_MS, output_bytes: OUTPUT_BYTES },
      awaitPlan: (signal) => awaitPlan(service.store, dir, signal),
      ...(matter.native_session_id !== undefined && {
        native_session_id: matter.native_session_id,
      }),
    },
    (event) => tell(service, kept, event),
  );
  return live.run.done;
};

const tell = (service: Service, { session, dir }: KeptSession, event: RunEvent): void => {
  service.engine.transcript(session.id, dir).append(event.type, { ...event.data });
  followPermission(service, session.case_id, event).catch((error: unknown) => {
    service.log.error(
      { err: error, session_id: session.id },
      'The Work item could not follow a permission request',
    );
  });
};

// An agent that asks the operator blocks the Work item, and the answer takes it back to where it was.
const followPermission = async (
  service: Service,
  caseId: string,
  event: RunEvent,
): Promise<void> => {
  if (event.type === 'permission_request')
    await update(service, caseId, (current) => moveTo(current, 'BLOCKED'));
  if (event.type === 'permission_resolved' && event.data.by === 'operator')
    await update(service, caseId, unblock);
};
