import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import { ServiceError } from '../../../errors.ts';
import type { Engine } from '../live/engine.ts';
import { digestOf, type ToldCall } from '../live/transcript-summary.ts';

/** Where a session goes on whose block was interrupted: with that block, or with the one after it. */
export type From = 'again' | 'next';

/**
 * The block that is not to be run again, if the operator said so. 422 `choice_needed` for a runbook that was killed inside
 * a block, where nobody says from where to go on: what the block had done by then, nobody knows.
 */
export const blockToSkip = async (
  engine: Engine,
  kept: StoredSession,
  from: From | undefined,
): Promise<ToldCall | undefined> => {
  const block = await interruptedBlock(engine, kept);
  if (block === undefined && from !== undefined)
    throw new ServiceError(
      'invalid_state',
      'No block of this session was interrupted: resume it without `from`.',
    );
  if (block?.untold === true && from === undefined) throw choiceNeeded(block);
  return from === 'next' ? block : undefined;
};

// The last one that was begun, unless it ended by itself: blocks run one by one.
const interruptedBlock = async (
  engine: Engine,
  kept: StoredSession,
): Promise<ToldCall | undefined> => {
  const { mode, provider, status } = kept.session;
  if (mode !== 'work' || provider !== 'runbook' || status !== 'paused') return undefined;
  const last = (await digestOf(engine, kept)).calls.at(-1);
  return last?.status === 'killed' || last?.status === 'failed' ? last : undefined;
};

const choiceNeeded = ({ id, title }: ToldCall): ServiceError =>
  new ServiceError(
    'choice_needed',
    `The daemon was killed while ${id} ran (${title}): part of it may be done. Look at the worktree, then resume with {"from": "again"} to run it again, or {"from": "next"} to go on with the block after it.`,
    { members: { block: { tool_call_id: id, title }, choices: ['again', 'next'] } },
  );

/** Tells that the operator leaves a block as it is: whoever goes on with the session does, too. */
export const tellSkipped = (engine: Engine, kept: StoredSession, block: ToldCall): void => {
  const transcript = engine.transcript(kept);
  transcript.append('block_skipped', { tool_call_id: block.id, title: block.title });
  transcript.sync();
};
