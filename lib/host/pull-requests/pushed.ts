import { changePull, type StoredPull } from '../../../store/pulls/pulls.ts';
import type { Store } from '../../../store/store.ts';

/**
 * Notes that the branch of a pull request was pushed. Where its record tells of another commit it is stale, until the host
 * is asked. Within the pull request's turn.
 */
export const notePushed = async (
  store: Store,
  { case_id, matter }: StoredPull,
  { remote, commit }: { remote: string; commit: string },
): Promise<void> => {
  // What checks said was said of the commit before.
  const unknown = { stale: true, head_in_sync: null, checks: null };
  const behind = matter.head_sha === commit ? {} : unknown;
  await changePull(store, case_id, { changes: { remote, pushed_commit: commit, ...behind } });
};
