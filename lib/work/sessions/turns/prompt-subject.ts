import { StoreError } from '../../../../store/errors.ts';
import { lastLink } from '../../../../store/links/link-index.ts';
import type { IssueLinkMatter } from '../../../../store/records/link.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';
import type { PromptParts } from '../../../agents/provider.ts';
import type { SessionNeeds } from '../live/needs.ts';
import { conflictOf } from './conflict.ts';
import { issueParts } from './issue-parts.ts';

/**
 * What a session is told besides its Work item: the issue that it came from; of its own type, the conflict that it resolves
 * or the reviews that it addresses.
 */
export const aboutOf = async (
  service: SessionNeeds,
  kept: StoredSession,
  worktree: WorktreeRecord,
): Promise<Pick<PromptParts, 'issue' | 'images' | 'links' | 'conflict' | 'reviews'>> => {
  const reviews = service.engine.words.get(kept.session.type)?.(kept);
  const issue = issueOf(service.store, kept.session.case_id);
  return {
    ...(await conflictOf(service, kept, worktree)),
    ...(issue !== undefined && {
      issue: `${issue.repository}#${issue.number}`,
      ...(await issueParts(service, kept, issue)),
    }),
    ...(reviews !== undefined && { reviews }),
  };
};

// A link that cannot be read keeps no session from its work.
const issueOf = (store: Store, caseId: string): IssueLinkMatter | undefined => {
  try {
    return lastLink(store, caseId).issue;
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
};
