import { type Dossier, Problem } from '../../client/client.ts';
import { basedOn } from '../../text/wording.ts';

/** What a Work item's worktree began from, or is about to; undefined where that cannot be told: the call that needs it says why. */
export const baseLine = async (
  { call }: Dossier,
  case_id: string,
  base?: string,
): Promise<string | undefined> => {
  try {
    const query = base === undefined ? {} : { base };
    return basedOn(await call('GET /api/worktrees/{case_id}/base', { case_id, query }));
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
};
