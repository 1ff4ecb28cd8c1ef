import { isEnded } from '../../../store/records/session.ts';
import { sessionsOf } from '../../../store/sessions/sessions.ts';
import type { WithStore } from '../../../store/store.ts';
import type { WithLive } from '../worktrees/live.ts';

/** What the operator did to a file of the worktree. */
interface Edit {
  action: 'created' | 'written' | 'deleted' | 'renamed' | 'directory_created';
  path: string;
  /** The former path, of what was renamed. */
  from?: string;
}

/** Tells who follows the session that goes on in the worktree: what changes there need not be its agent's doing. */
export const tellEdit = (
  { store, engine }: WithLive & WithStore,
  caseId: string,
  edit: Edit,
): void => {
  const open = (sessionsOf(store, caseId) ?? []).find(
    ({ session }) =>
      session.elsewhere !== true && session.status !== 'queued' && !isEnded(session.status),
  );
  if (open === undefined) return;
  const transcript = engine.transcript(open);
  if (!transcript.complete) transcript.append('operator_edit', { ...edit });
};
