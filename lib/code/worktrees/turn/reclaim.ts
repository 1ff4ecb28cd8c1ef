import type { WithStore } from '../../../../store/store.ts';
import {
  readTurn,
  removePartialTurns,
  turnOwners,
  turnPlaces,
} from '../../../../store/worktrees/turn-records.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import { ServiceError } from '../../../errors.ts';
import type { WithLog } from '../../../log.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { killRun } from '../../../tools/process/process-tree.ts';
import type { WithLive, WithSetups, WorktreeNeeds } from '../needs.ts';
import { closeTurn, closeTurnLocked } from './close.ts';
import type { TurnListener, TurnNotice } from './notices.ts';

/**
 * Imports a finished turn whose import failed before, so that the next turn can start. Throws 409 `worktree_busy` if it
 * fails again: the commits of that turn are on no branch of the operator's yet.
 */
export const reclaimTurn = (
  service: WithGit & WithLog & WithStore,
  caseId: string,
): Promise<void> => settle(service, caseId, (tell) => closeTurn(service, caseId, tell));

/** Like `reclaimTurn`, under the lock of the worktree. Throws 409 `session_active` while the turn is running. */
export const reclaimTurnLocked = async (service: WorktreeNeeds, caseId: string): Promise<void> => {
  const marker = readTurn(service.store.layout, caseId)?.marker;
  if (marker !== undefined && isTurnRunning(service, marker))
    throw new ServiceError('session_active', GOES_ON);
  await settle(service, caseId, (tell) => closeTurnLocked(service, caseId, tell));
};

const settle = async (
  { store: { layout }, log }: WithLog & WithStore,
  caseId: string,
  close: (tell: TurnListener) => Promise<unknown>,
): Promise<void> => {
  if (readTurn(layout, caseId) === undefined) return;
  const said: string[] = [];
  const tell: TurnListener = (told) => {
    for (const each of told) {
      log.warn({ case_id: caseId, ...each }, each.message);
      said.push(each.message);
    }
  };
  await close(tell);
  if (readTurn(layout, caseId) === undefined) return;
  const why = said.at(-1) ?? `It is kept at ${turnPlaces(layout, caseId).home}.`;
  throw new ServiceError('worktree_busy', `${why} No other change was made.`);
};

const isTurnRunning = ({ engine, setups }: WithLive & WithSetups, marker: string): boolean =>
  [...engine.live.values()].some(({ run_marker }) => run_marker === marker) ||
  [...setups.running.values()].some((setup) => setup.marker === marker);

const GOES_ON =
  'A turn is running in the worktree. Abort the session or wait until it ends, then try again: its commits are imported then.';

/**
 * Imports turns that a former daemon process left, after killing their processes. `tell` receives the notices of each
 * turn that belongs to a session.
 */
export const recoverTurns = async (
  service: WithGit & WithLog & WithStore,
  tell: (caseId: string, sessionId: string, told: readonly TurnNotice[]) => void,
): Promise<void> => {
  removePartialTurns(service.store.layout);
  for (const caseId of turnOwners(service.store.layout)) {
    try {
      const turn = readTurn(service.store.layout, caseId);
      if (turn === undefined) continue;
      const dir = readWorktree(service.store, caseId)?.path;
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

const NOT_RECOVERED = 'importing a turn failed; its repository is unchanged';
