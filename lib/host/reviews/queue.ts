import { changeReview } from '../../../store/pulls/reviews.ts';
import type { Review } from '../../../store/records/review.ts';
import { notFound } from '../../errors.ts';
import type { PullNeeds } from '../pull-requests/needs.ts';
import { getReview } from './read.ts';
import { feedbackOf } from './served.ts';

/**
 * Queues a review for the next feedback session. One that is queued, or that a session has right now, stays as it is; one
 * that was addressed is queued anew.
 */
export const addToFeedback = async (
  service: PullNeeds,
  caseId: string,
  id: string,
): Promise<Review> => {
  await getReview(service, caseId, id);
  const queued_at = service.store.clock().toISOString();
  const kept = await changeReview(service.store, caseId, id, (current) => {
    const feedback = feedbackOf(service.store, caseId, current);
    if (feedback === 'queued' || feedback === 'in_session') return undefined;
    return { queued_at, session_id: null };
  });
  if (kept === undefined) throw notFound('review', id);
  return getReview(service, caseId, id);
};
