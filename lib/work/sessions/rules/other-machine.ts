import type { Session } from '../../../../store/records/session.ts';
import { ServiceError } from '../../../errors.ts';

/** Throws 422 for a session that another machine runs: its agent, its worktree and its lock are there. */
export const refuseElsewhere = ({ id, status, elsewhere }: Session): void => {
  if (elsewhere !== true) return;
  throw new ServiceError(
    'invalid_state',
    `Session ${id} (${status}) was started on another machine, and goes on only there. If that machine, or its .dossier/, is gone for good, write status: aborted into its session.md.`,
  );
};
