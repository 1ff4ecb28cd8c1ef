import type { WithStore } from '../../../../store/store.ts';
import { dropHalfTurns, readTurn, turnOwners } from '../../../../store/worktrees/turn-records.ts';
import type { WithLog } from '../../../log.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { killRun } from '../../../tools/process/process-tree.ts';
import { findWorktree } from '../read.ts';
import { closeTurn } from './close.ts';
import type { TurnTold } from './told.ts';

/**
 * Takes in the turns that ended with a former life of the daemon, once none of their processes is alive. `tell` is given
 * what each of a session came to.
 */
export const recoverTurns = async (
  service: WithGit & WithLog & WithStore,
  tell: (caseId: string, sessionId: string, told: readonly TurnTold[]) => void,
): Promise<void> => {
  dropHalfTurns(service.store.layout);
  for (const caseId of turnOwners(service.store.layout)) {
    try {
      const turn = readTurn(service.store.layout, caseId);
      if (turn === undefined) continue;
      const dir = findWorktree(service.store, caseId)?.path;
      await killRun(turn.marker, dir === undefined ? {} : { dir });
      const { session_id: id } = turn;
      await closeTurn(service, caseId, (told) => {
        for (const each of told) service.log.warn({ case_id: caseId, ...each }, each.message);
        if (id !== null) tell(caseId, id, told);
      });
    } catch (error) {
      service.log.error({ err: error, case_id: caseId }, NOT_RECOVERED);
    }
  }
};

const NOT_RECOVERED = 'The repository of a turn could not be taken in; it stays as it is';
