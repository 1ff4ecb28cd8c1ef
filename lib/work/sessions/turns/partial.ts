import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { KeptSession } from '../../../../store/sessions/sessions.ts';
import type { PartialWork } from '../../../agents/provider.ts';
import { status } from '../../../tools/git/read/status.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import type { WithEngine } from '../live/engine.ts';
import { toldBy } from '../live/told.ts';

/** What a Work run that was stopped has done so far, so that the next goes on where it stopped. */
export const partialWork = async (
  { git, engine }: WithEngine & WithGit,
  kept: KeptSession,
  worktree: WorktreeRecord,
): Promise<PartialWork> => {
  const { files } = await status(git, worktree);
  return {
    files: files.map(({ code, path }) => `${code} ${path}`),
    done: (await toldBy(engine, kept)).calls
      .filter(({ status }) => status === 'completed' || status === 'skipped')
      .map(({ id }) => id),
  };
};
