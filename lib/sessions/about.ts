import type { WorktreeRecord } from '../../store/records/worktree.ts';
import type { KeptSession } from '../../store/sessions/sessions.ts';
import type { PromptParts } from '../providers/provider.ts';
import { reviewWords } from '../reviews/feedback-session.ts';
import type { Service } from '../service.ts';
import { conflictOf } from './conflict.ts';

/** What a session of a type of its own is told besides: the conflict that it resolves, the reviews that it addresses. */
export const aboutOf = async (
  service: Service,
  kept: KeptSession,
  worktree: WorktreeRecord,
): Promise<Pick<PromptParts, 'conflict' | 'reviews'>> => {
  const reviews = reviewWords(service, kept);
  return {
    ...(await conflictOf(service, kept, worktree)),
    ...(reviews !== undefined && { reviews }),
  };
};
