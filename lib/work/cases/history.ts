import { readHistory } from '../../../store/git/history.ts';
import { caseOf } from '../../../store/items/item.ts';
import type { HistoryEntry } from '../../../store/records/history.ts';
import type { Store } from '../../../store/store.ts';
import { orNotFound, ServiceError } from '../../errors.ts';

/**
 * The commits of the workspace's own repository that changed a Work item, newest first; none without a repository.
 * Paths are those inside the item's directory.
 */
export const getHistory = async (
  store: Store,
  caseId: string,
  limit = 100,
): Promise<HistoryEntry[]> => {
  const item = orNotFound(store.items.byId.get(caseId), 'Work item', caseId);
  const since = new Date(caseOf(item).matter.created_at);
  try {
    return await readHistory(store.layout.root, { dir: item.dir, since, limit });
  } catch (cause) {
    throw new ServiceError(
      'git_failed',
      "The workspace's history cannot be read here. At a terminal, git log on the same directory shows it.",
      { cause },
    );
  }
};
